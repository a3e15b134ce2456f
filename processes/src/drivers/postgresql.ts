/**
 * The driver for PostgreSQL. The tables and the function that stands for the script are in ../postgres/schema.sql.
 *
 * A connection runs one statement at a time. Calls that are made meanwhile wait, and then go in one statement: they are
 * committed together, so many calls cost one write to the disk. Only a sign of life goes before calls that wait.
 *
 *     opening --> greeted: which backend is it, does it run our settings --> ready: statements, one at a time
 *                                            a statement --> its rows: the replies
 *                                                        --> nothing was done, and it may run again: it does, later
 *                                                        --> refused: `SpaceError`
 *                                                        --> the connection is of no use any more: `lost`
 *
 * All statements are unnamed and carry their values as literals. So they take one round trip with each client library,
 * and run behind a pooler that gives each transaction another backend.
 *
 *     sql.ts                 what a client library provides: pg.ts, postgres-js.ts
 *     sql-text.ts            how a call becomes a statement
 *     sql-errors.ts          what comes of an error
 *     postgres-channels.ts   when a connection listens
 *     schema.ts              how the tables and functions are made
 *     old-rows.ts            who keeps the server from removing old rows
 */

import { SpaceError } from '../errors.js';
import { clock, type Timer } from '../runtime/clock.js';
import { Connections, type Role } from './connections.js';
import type { Driver, Leftovers, Script } from './driver.js';
import type { Connection, Events } from './link.js';
import { LEFTOVERS, leftoversIn } from './old-rows.js';
import { CHANNEL, Channels, LOOK } from './postgres-channels.js';
import { makeSchema } from './schema.js';
import type { Rows, Sql, SqlEvents, SqlLibrary } from './sql.js';
import { troubleOf } from './sql-errors.js';
import { callOf, literal, replyIn, type TurnCall, unescaped } from './sql-text.js';

/** The most calls, and about the most arguments, in one statement. Others wait for its commit. */
const MOST_CALLS = 32;
const MOST_ARGUMENTS = 640;

/** Whether a call is a sign of life, as script/wire.ts writes it. */
const isBeat = ({ args: [, , , operation] }: TurnCall): boolean => operation === 'B';

/** The pauses before a statement runs again that has done nothing, in milliseconds. */
const AGAIN = { first: 1, most: 500 };

/** To greet: TLS and SCRAM-SHA-256 take five round trips, and the first two statements one each. */
const GREETING = 7;

/** The options of `Space.connect` that are for PostgreSQL alone. */
export interface PostgresOptions {
  readonly durable: boolean;
  readonly createSchema: boolean;
  /**
   * What opens the connections for messages; false: nobody listens. Undefined: the same as for commands, which must lead
   * to the server directly.
   */
  readonly listen: SqlLibrary | false | undefined;
}

/** Returns a driver on connections that a client library opens. */
export function postgresql(library: SqlLibrary, options: PostgresOptions): Driver {
  const listening = options.listen || library;
  const place = {
    name: '',
    open(events: Events, most: number, role: Role) {
      const { open } = role === 'commands' ? library : listening;
      return new PostgresConnection((own) => open(own, most), events, options, role);
    },
  };
  return new PostgresDriver({
    cluster: false,
    locate: async () => () => place,
    strategy: undefined,
    connectTimeout: library.connectTimeout,
    addresses: 1,
    greeting: GREETING,
  });
}

class PostgresDriver extends Connections {
  leftovers(): Promise<Leftovers> {
    return this.at('', 'commands', (link) => link.ask((server) => (server as PostgresConnection).leftovers()));
  }
}

/** A call of the function. */
interface Call extends TurnCall {
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

/** Another statement. */
interface Statement {
  readonly text: string;
  resolve(rows: Rows): void;
  reject(error: Error): void;
}

class PostgresConnection implements Connection {
  readonly #sql: Sql;
  readonly #events: Events;
  readonly #options: PostgresOptions;
  readonly #channels: Channels;
  /** The calls and the statements that wait. */
  #calls: Call[] = [];
  #statements: Statement[] = [];
  #isReady = false;
  #isDirect = false;
  /** The statement that runs. */
  #running: string | undefined;
  #isOver = false;
  /** How many of the next calls run alone, because a statement with them was refused. */
  #alone = 0;
  /** Whether the next call is to send no messages, because the server has no room for them. */
  #isSilent = false;
  #pause = AGAIN.first;
  #pausing: Timer;
  #isAlive = true;

  constructor(open: (events: SqlEvents) => Sql, events: Events, options: PostgresOptions, role: Role) {
    this.#events = events;
    this.#options = options;
    this.#channels = new Channels({
      listens: options.listen !== false,
      run: (statement) => this.#run(statement),
      missed: events.missed,
    });
    this.#sql = open({
      connected: events.connected,
      lost: (error) => this.#lost(error),
      notified: (name, text) => events.message(this.#channels.named(name) ?? '', unescaped(text)),
    });
    this.#open(role).then(
      () => {
        this.#isReady = true;
        events.ready();
        this.#next();
      },
      (error) => this.#lost(error),
    );
  }

  /** Asks who has answered, and sets what a call needs. */
  async #open(role: Role): Promise<void> {
    const sql = this.#sql;
    await sql.opened;
    const [[backend, isReplica, encoding] = []] = await sql.query(
      `select pg_catalog.pg_backend_pid()::pg_catalog.text, pg_catalog.pg_is_in_recovery()::pg_catalog.text,
        pg_catalog.current_setting('server_encoding')`,
    );
    if (isReplica === 'true') throw new Error('READONLY the server is a replica');
    if (encoding !== 'UTF8') {
      throw new SpaceError('ENCODING', `the database has the encoding ${encoding}: use a database with UTF8`);
    }
    const isDirect = Number(backend) === sql.backend();
    this.#isDirect = isDirect;
    const { listen, createSchema } = this.#options;
    if (!isDirect && listen === undefined) {
      throw new SpaceError(
        'POOLER',
        'a pooler stands between this process and PostgreSQL, so messages may not arrive: give Space.connect ' +
          '{ listen: client } with a client that connects to PostgreSQL directly (or by a pooler in session mode), or ' +
          `{ listen: false } to look for news every ${LOOK} ms`,
      );
    }
    // What a pooler gives to others must stay as it is.
    if (isDirect) await sql.query(SETTINGS);
    if (createSchema && role === 'commands') await makeSchema(sql);
  }

  run(_script: Script, [key = '']: readonly string[], args: readonly string[]): Promise<unknown> {
    const [, space = '', partition = ''] = /^tt:\{(.*)\.(\d+)\}:/s.exec(key) ?? [];
    const [sid = '', conn = '', , ...operations] = args;
    return new Promise((resolve, reject) => {
      const call = { space, partition: Number(partition), args: [sid, conn, CHANNEL, ...operations], resolve, reject };
      // A sign of life goes before the other calls that wait: else a process that asks for much loses what it holds.
      const others = isBeat(call) ? this.#calls.findIndex((each) => !isBeat(each)) : -1;
      this.#calls.splice(others < 0 ? this.#calls.length : others, 0, call);
      this.#next();
    });
  }

  ping(): Promise<unknown> {
    return this.#run('select 1');
  }

  /** A call waits for other calls of its partition, and for replicas. Behind a pooler nobody knows which backend has it. */
  async worksOn(other: PostgresConnection): Promise<boolean> {
    const [backend, statement] = [other.#sql.backend(), other.#running];
    if (!other.#isDirect || !backend || !statement) return false;
    // The server shows how a long statement begins.
    const isRunning = `pid = ${backend} and state = 'active' and query <> '' and starts_with(${literal(statement)}, query)`;
    return (await this.#run(`select 1 from pg_stat_activity where ${isRunning}`)).length > 0;
  }

  /** The driver asks of memory and of clusters, and PostgreSQL evicts nothing and is no cluster. */
  async info(): Promise<string> {
    return '';
  }

  async leftovers(): Promise<Leftovers> {
    return leftoversIn(await this.#run(LEFTOVERS));
  }

  async wait(): Promise<never> {
    throw new SpaceError('UNCONFIRMED', 'PostgreSQL itself waits for replicas: see synchronous_standby_names');
  }

  subscribe(channel: string): Promise<void> {
    return this.#channels.subscribe(channel);
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#channels.unsubscribe(channel);
  }

  keepAlive(alive: boolean): void {
    this.#isAlive = alive;
    this.#sql.keepAlive(alive);
    this.#channels.keepAlive(alive);
  }

  #run(text: string): Promise<Rows> {
    return new Promise((resolve, reject) => {
      this.#statements.push({ text, resolve, reject });
      this.#next();
    });
  }

  /** Runs what waits, if nothing runs. */
  #next(): void {
    if (!this.#isReady || this.#running !== undefined || this.#isOver) return;
    const statement = this.#statements.shift();
    if (statement)
      this.#send(statement.text, statement.resolve, statement.reject, () => this.#statements.unshift(statement));
    else if (this.#calls.length > 0) this.#call(this.#take());
  }

  /** The calls that go in the next statement. */
  #take(): Call[] {
    let [count, left] = [0, MOST_ARGUMENTS];
    const most = this.#alone > 0 ? 1 : MOST_CALLS;
    for (const { args } of this.#calls) {
      left -= args.length;
      if (count === most || (count > 0 && left < 0)) break;
      count++;
    }
    this.#alone = Math.max(0, this.#alone - 1);
    return this.#calls.splice(0, count);
  }

  #call(calls: readonly Call[]): void {
    // Each call locks its partition until the commit. In this order no two processes wait for each other. The calls of
    // one partition keep their order, but for beats, which depend on no other call.
    const ordered = calls.toSorted((one, other) => one.partition - other.partition);
    const { durable } = this.#options;
    const tells = !this.#isSilent;
    this.#isSilent = false;
    const text = `select ${ordered.map((call) => callOf(call, durable, tells)).join(', ')}`;
    this.#send(
      text,
      ([row = []]) => {
        for (const [at, { resolve }] of ordered.entries()) resolve(replyIn(row[at] ?? 'null'));
      },
      (error) => {
        const [only] = calls;
        if (calls.length === 1) return only?.reject(error);
        // One of the calls is at fault, and the others are not to fail with it.
        this.#alone = calls.length;
        this.#calls.unshift(...calls);
      },
      () => this.#calls.unshift(...calls),
    );
  }

  /** Runs a statement. again: puts it back to be run again, because it has done nothing. */
  #send(text: string, resolve: (rows: Rows) => void, reject: (error: Error) => void, again: () => void): void {
    this.#running = text;
    const over = (): void => {
      this.#running = undefined;
      this.#next();
    };
    this.#sql.query(text).then(
      (rows) => {
        this.#pause = AGAIN.first;
        resolve(rows);
        over();
      },
      (failure) => {
        const { is, error } = troubleOf(failure);
        if (is === 'lost') {
          reject(error);
          this.#lost(failure);
        } else if (is === 'refused') {
          reject(error);
          over();
        } else {
          again();
          this.#isSilent = is === 'silently';
          this.#pausing = clock.after(this.#pause * (0.5 + Math.random() / 2), over, this.#isAlive);
          this.#pause = Math.min(AGAIN.most, 2 * this.#pause);
        }
      },
    );
  }

  #lost(failure: unknown): void {
    if (!this.#isOver) this.#events.lost(troubleOf(failure).error);
  }

  close(): void {
    this.#isOver = true;
    clock.stop(this.#pausing);
    this.#channels.close();
    this.#sql.close();
    // The link has rejected what waits.
    this.#calls = [];
    this.#statements = [];
  }
}

/**
 * The settings of a connection: names of PostgreSQL mean what is PostgreSQL's own; no statement has a time limit, because
 * the driver has its own; and each statement of the function sees what was committed before. All searches of the function
 * are for few rows of an index, and a plan that was made for a small table must not read a large one whole. Not each
 * version of PostgreSQL knows all time limits.
 */
const SETTINGS = `set search_path = pg_catalog;
  select set_config('default_transaction_isolation', 'read committed', false),
  set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false), set_config('jit', 'off', false),
  (select count(set_config(name, '0', false)) from pg_settings where name in ('statement_timeout', 'lock_timeout',
    'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout'))::text`;
