/**
 * The driver for PostgreSQL. The tables and the function that stands for the script are in ../postgres/schema.sql.
 *
 * A connection runs one statement at a time. Calls that are made meanwhile wait, and then go in one statement: they are
 * committed together, so many calls cost one write to the disk.
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
 * The server wakes every connection that listens in the database for each message, whomever it is for. So a connection
 * listens only while this process holds or awaits something, and a moment longer. When it listens again, it tells that
 * messages may have been missed.
 */

import { SpaceError } from '../errors.js';
import { clock, type Timer } from '../runtime/clock.js';
import { Connections, type Role } from './connections.js';
import type { Driver, Leftovers, Script } from './driver.js';
import type { Connection, Events } from './link.js';
import { notMade, troubleOf } from './sql-errors.js';

/** The function that a call runs. Its name has the version of the tables and functions. */
export const TURN_FUNCTION = 'turn_1';

/** The prefix of the channels. A name of a channel has at most 63 bytes, so it has no name of a space. */
const CHANNEL = 'tt_';

/** For how long a connection listens after the process has neither held nor awaited anything, in milliseconds. */
const REST = 2000;

/** How often a process that holds or awaits something looks for news if it cannot listen, in milliseconds. */
const LOOK = 250;

/** The most calls, and about the most arguments, in one statement. Others wait for its commit. */
const MOST_CALLS = 32;
const MOST_ARGUMENTS = 640;

/** The pauses before a statement runs again that has done nothing, in milliseconds. */
const AGAIN = { first: 1, most: 500 };

/** To greet: TLS and SCRAM-SHA-256 take five round trips, and the first two statements one each. */
const GREETING = 7;

export type Rows = readonly (readonly (string | null)[])[];

/** A connection as a client library provides it. */
export interface Sql {
  /** Resolves when statements can be run. Rejects if the connection cannot be opened. */
  readonly opened: Promise<unknown>;
  /** Runs a statement without parameters. Resolves to its rows, whose values are texts. */
  query(text: string): Promise<Rows>;
  /** The number of the backend that the server has told when it greeted. It is known after the first statement. */
  backend(): number | undefined;
  keepAlive(alive: boolean): void;
  /** Closes the connection at once. It may be lost already. */
  close(): void;
}

/** What a connection of a client library reports. */
export interface SqlEvents {
  connected(): void;
  lost(error: unknown): void;
  notified(channel: string, text: string): void;
}

/** What a client library provides. */
export interface SqlLibrary {
  open(events: SqlEvents, most: number): Sql;
  /** How long the user's client may take to connect, in milliseconds. */
  readonly connectTimeout: number | undefined;
}

/** The options of `Space.connect` that are for PostgreSQL alone. */
export interface PostgresOptions {
  readonly durable: boolean;
  readonly createSchema: boolean;
  /**
   * What opens the connections for messages; false: nobody listens. Undefined: the same as for commands, which must lead
   * to the server directly.
   */
  readonly listen: SqlLibrary | false | undefined;
  /** The text of the tables and functions. */
  schema(): Promise<string>;
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

/** The section of `info` that tells of old rows. */
const ROWS = 'rows';

const OWN_DATABASE = 'or give the spaces a database of their own on the same server';
const ON_REPLICA = 'End it there, or set hot_standby_feedback = off there';

/** What may hold a snapshot, by the kinds of `LEFTOVERS`: in words, the view that has it, and what to do. */
const HOLDERS = {
  transaction: (pid: string) => ({
    who: `a transaction of process ${pid}`,
    view: `pg_stat_activity, pid ${pid}`,
    advice: `End it (SELECT pg_terminate_backend(${pid})), ${OWN_DATABASE}`,
  }),
  prepared: (gid: string) => ({
    who: `the prepared transaction ${gid}`,
    view: 'pg_prepared_xacts',
    advice: `End it (ROLLBACK PREPARED ${literal(gid)}), ${OWN_DATABASE}`,
  }),
  replica: (pid: string) => ({
    who: 'a transaction on a replica',
    view: `pg_stat_replication, pid ${pid}`,
    advice: ON_REPLICA,
  }),
  slot: (name: string) => ({
    who: `a transaction on the replica that uses the replication slot ${name}`,
    view: `pg_replication_slots, slot_name ${name}`,
    advice: ON_REPLICA,
  }),
  'unused slot': (name: string) => ({
    who: `the replication slot ${name}, which no replica uses,`,
    view: `pg_replication_slots, slot_name ${name}`,
    advice: `Start its replica, or drop it (SELECT pg_drop_replication_slot('${name}'))`,
  }),
};

class PostgresDriver extends Connections {
  async leftovers(): Promise<Leftovers> {
    const told = await this.info('', ROWS);
    const [kind, name = '', since] = ['kind', 'name', 'since'].map((field) => told?.get(field));
    const oldRows = Number(told?.get('old'));
    if (!kind) return { oldRows };
    const { who, view, advice } = HOLDERS[kind as keyof typeof HOLDERS](name);
    const warning =
      `${who} holds a snapshot${since && ` since ${since}`}, so PostgreSQL removes no old rows, and the tables grow. See ` +
      `${view}. ${advice}`;
    return { oldRows, warning };
  }
}

/** A call of the function. */
interface Call {
  readonly space: string;
  readonly partition: number;
  readonly args: readonly string[];
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
  /** The channels that somebody has subscribed, by their names here, and those to which the connection listens. */
  readonly #channels = new Map<string, string>();
  readonly #listens = new Set<string>();
  #resting: Timer;
  #looking: Timer;

  constructor(open: (events: SqlEvents) => Sql, events: Events, options: PostgresOptions, role: Role) {
    this.#events = events;
    this.#options = options;
    this.#sql = open({
      connected: events.connected,
      lost: (error) => this.#lost(error),
      notified: (name, text) => events.message(this.#channels.get(name) ?? '', unescaped(text)),
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
    if (createSchema && role === 'commands') await this.#makeSchema();
  }

  /** Makes the tables and functions if the database does not have them. */
  async #makeSchema(): Promise<void> {
    const sql = this.#sql;
    const isMade = async (): Promise<boolean> => (await sql.query(IS_MADE)).length > 0;
    if (await isMade()) return;
    const schema = await this.#options.schema();
    // Of processes that come at once, one makes them, and the others wait for it. After an error the connection ends.
    try {
      await sql.query('begin isolation level read committed');
      await sql.query(`select pg_advisory_xact_lock(${MAKING})`);
      if (!(await isMade())) await sql.query(schema);
      await sql.query('commit');
    } catch (error) {
      throw notMade(error);
    }
  }

  run(_script: Script, [key = '']: readonly string[], args: readonly string[]): Promise<unknown> {
    const [, space = '', partition = ''] = /^tt:\{(.*)\.(\d+)\}:/s.exec(key) ?? [];
    const [sid = '', conn = '', , ...operations] = args;
    return new Promise((resolve, reject) => {
      const call = { space, partition: Number(partition), args: [sid, conn, CHANNEL, ...operations], resolve, reject };
      this.#calls.push(call);
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

  /** PostgreSQL evicts nothing, and is no cluster. So there is one section, and each other is empty. */
  async info(section: string): Promise<string> {
    if (section !== ROWS) return '';
    const [[old, kind, name, since] = []] = await this.#run(LEFTOVERS);
    return `old:${old}\nkind:${kind ?? ''}\nname:${name ?? ''}\nsince:${since ?? ''}`;
  }

  async wait(): Promise<never> {
    throw new SpaceError('UNCONFIRMED', 'PostgreSQL itself waits for replicas: see synchronous_standby_names');
  }

  // Messages --------------------------------------------------------------------------------------------------------

  async subscribe(channel: string): Promise<void> {
    this.#channels.set(nameOf(channel), channel);
    if (this.#isAlive) await this.#listen();
  }

  async unsubscribe(channel: string): Promise<void> {
    const name = nameOf(channel);
    this.#channels.delete(name);
    if (this.#listens.delete(name)) await this.#run(`unlisten ${name}`);
  }

  keepAlive(alive: boolean): void {
    this.#sql.keepAlive(alive);
    this.#isAlive = alive;
    clock.stop(this.#resting);
    clock.stop(this.#looking);
    if (this.#channels.size === 0) return;
    if (alive) {
      const isBehind = this.#listens.size < this.#channels.size;
      if (isBehind) this.#listen().then(this.#events.missed, () => {});
      this.#look();
    } else {
      this.#resting = clock.after(REST, () => this.#rest(), false);
    }
  }

  /** Listens to all channels. */
  async #listen(): Promise<void> {
    if (this.#options.listen === false) return this.#look();
    const names = [...this.#channels.keys()].filter((name) => !this.#listens.has(name));
    for (const name of names) this.#listens.add(name);
    await Promise.all(names.map((name) => this.#run(`listen ${name}`)));
  }

  #rest(): void {
    if (this.#listens.size === 0) return;
    this.#listens.clear();
    this.#run('unlisten *').catch(() => {});
  }

  /** Looks for news from time to time, if this connection cannot listen. */
  #look(): void {
    if (this.#options.listen !== false) return;
    clock.stop(this.#looking);
    const look = (): void => {
      if (this.#isOver || !this.#isAlive) return;
      this.#events.missed();
      this.#look();
    };
    this.#looking = clock.after(LOOK, look, false);
  }

  // Statements ------------------------------------------------------------------------------------------------------

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
    // one partition keep their order.
    const ordered = calls.toSorted((one, other) => one.partition - other.partition);
    const { durable } = this.#options;
    const tells = !this.#isSilent;
    this.#isSilent = false;
    const text = `select ${ordered.map((call) => callOf(call, durable, tells)).join(', ')}`;
    this.#send(
      text,
      ([row = []]) => {
        for (const [at, { resolve }] of ordered.entries()) resolve(JSON.parse(row[at] ?? 'null', unescapedValue));
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
    for (const timer of [this.#pausing, this.#resting, this.#looking]) clock.stop(timer);
    this.#sql.close();
    // The link has rejected what waits.
    this.#calls = [];
    this.#statements = [];
  }
}

/**
 * How many old rows there are, and which snapshot that is held is the eldest, if many transactions have begun since. Only
 * a member of pg_read_all_stats sees since when a transaction of another role lasts. A replica tells of its snapshots every
 * ten seconds, so it counts later. A vacuum holds a snapshot that keeps no rows.
 */
const LEFTOVERS = `select old.count::text, eldest.kind, eldest.name,
    to_char(eldest.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
  from (select coalesce(sum(n_dead_tup), 0) as count from pg_stat_all_tables where schemaname = 'taketurns') old
  left join (
    select * from (
      select 'transaction' as kind, pid::text as name, xact_start as since,
          greatest(age(backend_xmin), age(backend_xid)) as age, 10000 as most
        from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and pid not in (select pid from pg_stat_progress_vacuum)
      union all
      select 'prepared', gid, prepared, age(transaction), 10000 from pg_prepared_xacts where database = current_database()
      union all
      select 'replica', pid::text, null, age(backend_xmin), 100000
        from pg_stat_activity where datid is null and pid in (select pid from pg_stat_replication)
      union all
      select case when active then 'slot' else 'unused slot' end, slot_name, null, age(xmin), 100000
        from pg_replication_slots
    ) holder where age > most order by age desc limit 1
  ) eldest on true`;

/** Has a row if the database has the tables and functions: this function is made last. */
const IS_MADE = `select 1 from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'taketurns' and p.proname = '${TURN_FUNCTION}'`;

/** The number of the lock that who makes the tables and functions has. */
const MAKING = 0x74_61_6b_65;

/**
 * The settings of a connection: names of PostgreSQL mean what is PostgreSQL's own; no statement has a time limit, because
 * the driver has its own; and each statement of the function sees what was committed before. All searches of the function
 * are for few rows of an index, and a plan that was made for a small table must not read a large one whole. A call that
 * need not wait for the disk says so itself. Not each version of PostgreSQL knows all time limits.
 */
const SETTINGS = `set search_path = pg_catalog;
  select set_config('default_transaction_isolation', 'read committed', false),
  set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false), set_config('jit', 'off', false),
  (select count(set_config(name, '0', false)) from pg_settings where name in ('statement_timeout', 'lock_timeout',
    'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout'))::text,
  (select set_config(name, 'on', false) from pg_settings where name = 'synchronous_commit' and setting = 'off')`;

/** The name of a channel of PostgreSQL: the last 16 characters of a channel name the session. */
const nameOf = (channel: string): string => CHANNEL + channel.slice(-16);

/** A text in a statement, whatever the server's settings say of backslashes. */
const literal = (text: string): string => `e'${text.replace(/[\\']/g, '$&$&')}'`;

const callOf = ({ space, partition, args }: Call, durable: boolean, tells: boolean): string => {
  const array = `{${args.map((each) => `"${escaped(each).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
  return `taketurns.${TURN_FUNCTION}(${literal(space)}, ${partition}, ${literal(array)}, ${durable}, ${tells})`;
};

/** No text of PostgreSQL has a NUL. So U+0001 n stands for NUL, and U+0001 s for U+0001. */
const escaped = (text: string): string => text.replaceAll('\x01', '\x01s').replaceAll('\0', '\x01n');

const unescaped = (text: string): string => text.replaceAll('\x01n', '\0').replaceAll('\x01s', '\x01');

const unescapedValue = (_: string, value: unknown): unknown => (typeof value === 'string' ? unescaped(value) : value);
