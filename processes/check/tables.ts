/**
 * The function of PostgreSQL (src/postgres/schema.sql) on a real server, in a database of its own: `Tables` runs its calls
 * at a given time and in a given history. The function under test has this clock, and other constants if the caller
 * wishes; nothing else of it is changed.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { escaped, unescaped } from '../src/drivers/sql-text.js';
import { SIDS } from './calls.js';
import type { Constants } from './comparing.js';
import type { Surroundings } from './data-model.js';
import { bytes, linesOfRows, type Rows } from './tables-lines.js';

/** The text of the schema. */
export function schemaText(): string {
  // The compiled program lies in build/processes/check/.
  for (const path of ['../src/postgres/schema.sql', '../../../src/postgres/schema.sql'])
    try {
      return readFileSync(new URL(path, import.meta.url), 'utf8');
    } catch {}
  throw new Error('schema.sql is not found');
}

/** All tables. */
export const TABLES = ['partition', 'history', 'session', 'object', 'request', 'unfinished', 'rate', 'dated'];

/** A session that only watches. */
export const WATCHER = 'b000000000000000';

/** What the function asks for the time, for the name of a history, and for the identity of its row. */
const NAME = 'gen_random_uuid()::text';
const IDENTITY = "concat_ws('-', writer, of_table, split_part(pg_relation_filepath(of_table), '/', -2), name)";
const CLOCK = 'extract(epoch from clock_timestamp()) * 1000000';

const constantOf = (constant: string): RegExp =>
  new RegExp(`\\b(${constant.toLowerCase()} constant [a-z ]+ := )\\d+`, 'g');

/** The schema under a name of its own, with other constants, and with the clock and the history that `Tables` sets. */
function underTest(schema: string, name: string, constants: Constants): string {
  for (const asked of [CLOCK, NAME, IDENTITY])
    if (!schema.includes(asked)) throw new Error(`the schema does not ask for ${asked}`);
  for (const constant of Object.keys(constants))
    if (!constantOf(constant).test(schema)) throw new Error(`the schema has no constant ${constant}`);
  return partUnderTest(schema, name, constants);
}

/** The same of a part of the schema, which need not have all that is changed. */
export function partUnderTest(part: string, name: string, constants: Constants): string {
  let text = part
    .replace(CLOCK, "current_setting('check.now')::bigint")
    .replace(NAME, "current_setting('check.history')")
    .replace(IDENTITY, 'name');
  for (const [constant, value] of Object.entries(constants)) text = text.replace(constantOf(constant), `$1${value}`);
  return text
    .replace(/\btaketurns\./g, `${name}.`)
    .replace('create schema if not exists taketurns', `create schema ${name}`);
}

/**
 * `rows` tells all rows; `begin` sets the clock of this connection and the history; `run` also runs a call, and tells its
 * reply and all rows.
 */
const RUNNER = (name: string): string => `
create function ${name}.rows() returns json language sql as $$
  select json_build_object(
    'partition', (select to_json(x) from ${name}.partition x),
    'sessions', (select json_agg(x order by sid) from ${name}.session x),
    'objects', (select json_agg(x order by name) from ${name}.object x),
    'requests', (select json_agg(x order by sid, rid) from ${name}.request x),
    'unfinished', (select json_agg(x order by name) from ${name}.unfinished x),
    'rates', (select json_agg(x order by name) from ${name}.rate x),
    'dated', (select json_agg(x order by sid, date, given, n, epoch, name) from ${name}.dated x));
$$;

create function ${name}.begin(micros text, history_name text) returns void language plpgsql as $$
begin
  perform set_config('check.now', micros, false), set_config('check.history', history_name, false);
  delete from ${name}.history h where h.name <> history_name;
end $$;

create function ${name}.run(args text[], micros text, history_name text) returns json language plpgsql as $$
declare
  answer text;
begin
  perform ${name}.begin(micros, history_name);
  answer := ${name}.turn_1('test', 0, args);
  return json_build_object('reply', answer, 'rows', ${name}.rows());
end $$;
`;

/** The model has texts as their bytes, one character each. */
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');
export const encoded = (args: readonly string[]): string[] => args.map((each) => escaped(utf8(each)));
const decoded = (value: unknown): unknown =>
  typeof value === 'string' ? bytes(unescaped(value)) : Array.isArray(value) ? value.map(decoded) : value;

/** A database of its own on a server, because all of a database hear its messages, and calls of its function at a given time. */
export class Tables {
  readonly #client: pg.Client;
  readonly #name: string;
  #heard: string[] = [];

  private constructor(client: pg.Client, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** A connection to a database that is made. sids: the sessions whose messages it hears. */
  static async join(url: string, name: string, sids: readonly string[]): Promise<Tables> {
    const client = new pg.Client(`${url.slice(0, url.lastIndexOf('/'))}/${name}`);
    client.on('error', () => {});
    await client.connect();
    const made = new Tables(client, name);
    client.on('notification', ({ channel, payload }) => made.#heard.push(`${channel} ${payload}`));
    for (const sid of sids) await client.query(`listen "c:${sid}"`);
    return made;
  }

  static async make(url: string, name: string, schema: string, constants: Constants): Promise<Tables> {
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(`drop database if exists ${name}`);
    await admin.query(`create database ${name}`);
    await admin.end();
    const made = await Tables.join(url, name, [...SIDS, WATCHER]);
    await made.query('set client_min_messages = warning');
    await made.query(underTest(schema, name, constants) + RUNNER(name));
    return made;
  }

  /** A connection to a copy of a database, which has the same schema. */
  static async copy(url: string, name: string, copy: string): Promise<Tables> {
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(`drop database if exists ${copy}`);
    await admin.query(`create database ${copy} template ${name}`);
    await admin.end();
    const made = await Tables.join(url, copy, []);
    return new Tables(made.#client, name);
  }

  async query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]> {
    const result = await this.#client.query(text, values as unknown[]);
    return result.rows;
  }

  /** Forgets all rows. */
  async clear(): Promise<void> {
    await this.query(`truncate ${TABLES.map((table) => `${this.#name}.${table}`).join()} restart identity`);
  }

  /** What has come since the last time. */
  messages(): string[] {
    return this.#heard.splice(0);
  }

  /** Sets the clock and the history, and runs a call. */
  async call(args: readonly string[], { time, history }: Surroundings): Promise<{ reply: unknown; rows: Rows }> {
    const text = `select ${this.#name}.run($1, $2, $3) as did`;
    const [row] = await this.query(text, [encoded(args), `${time}`, history]);
    const { reply, rows } = (row as { did: { reply: string; rows: Rows } }).did;
    return { reply: decoded(JSON.parse(reply)), rows };
  }

  /** Sets the clock and the history for this connection. */
  async begin({ time, history }: Surroundings): Promise<void> {
    await this.query(`select ${this.#name}.begin($1, $2)`, [`${time}`, history]);
  }

  /** Runs a call alone, as a process does. */
  async turn(args: readonly string[]): Promise<unknown> {
    const [row] = await this.query(`select ${this.#name}.turn_1('test', 0, $1)`, [encoded(args)]);
    return decoded(JSON.parse(row?.turn_1 as string));
  }

  async lines({ time }: Surroundings): Promise<string[]> {
    const [row] = await this.query(`select ${this.#name}.rows()`);
    return linesOfRows(row?.rows as Rows, time);
  }

  /** Closes the connection. */
  async end(): Promise<void> {
    await this.#client.end();
  }
}
