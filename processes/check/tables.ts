/**
 * Compares the function of PostgreSQL (src/postgres/schema.sql) with the script on the model of a server: replies, messages,
 * and the data after each call. The function under test has the clock and the constants of the comparison; nothing else
 * of it is changed.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { operations } from '../src/local/grammar.js';
import * as wire from '../src/script/wire.js';
import { CallWriter, SIDS, scriptedCalls, ticketIn } from './calls.js';
import { type Constants, HISTORY, START } from './comparing.js';
import { Data, type Published, type Surroundings } from './data-model.js';
import { fixedRateCalls, RateWriter } from './rate-calls.js';
import { KEYS, Server, type Turn, turnChunk } from './server.js';
import { mulberry, type Random } from './simulation.js';

/** The text of the schema. */
export function schemaText(): string {
  // The compiled program lies in build/processes/check/.
  for (const path of ['../src/postgres/schema.sql', '../../../src/postgres/schema.sql'])
    try {
      return readFileSync(new URL(path, import.meta.url), 'utf8');
    } catch {}
  throw new Error('schema.sql is not found');
}

/** Recordings of rates in which all dates that lie ahead are listed, and there may be few runs and holes. */
export const FEW_OF_RATES: Constants = { FAR: 0, BEATS: 3600, MOST_RUNS: 8, MOST_HOLES: 2 };

/** All tables. */
export const TABLES = ['partition', 'history', 'session', 'object', 'request', 'unfinished', 'rate', 'dated'];

/** A session that only watches. */
export const WATCHER = 'b000000000000000';

/** What the function asks for the time, and for the name of a history. */
const NAME = 'gen_random_uuid()::text';
const CLOCK = 'extract(epoch from clock_timestamp()) * 1000000';

const constantOf = (constant: string): RegExp =>
  new RegExp(`\\b(${constant.toLowerCase()} constant [a-z ]+ := )\\d+`, 'g');

/** The schema under a name of its own, with other constants, and with the clock and the history that `Tables` sets. */
export function underTest(schema: string, name: string, constants: Constants): string {
  for (const asked of [CLOCK, NAME])
    if (!schema.includes(asked)) throw new Error(`the schema does not ask for ${asked}`);
  for (const constant of Object.keys(constants))
    if (!constantOf(constant).test(schema)) throw new Error(`the schema has no constant ${constant}`);
  return partUnderTest(schema, name, constants);
}

/** The same of a part of the schema, which need not have all that is changed. */
export function partUnderTest(part: string, name: string, constants: Constants): string {
  let text = part
    .replace(CLOCK, "current_setting('check.now')::bigint")
    .replace(NAME, "current_setting('check.history')");
  for (const [constant, value] of Object.entries(constants)) text = text.replace(constantOf(constant), `$1${value}`);
  return text
    .replace(/\btaketurns\./g, `${name}.`)
    .replace('create schema if not exists taketurns', `create schema ${name}`);
}

/**
 * `rows` tells all rows; `begin` sets the clock of this connection and the history; `run` also runs a call, and tells its
 * reply and all rows.
 */
export const RUNNER = (name: string): string => `
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

// Texts ---------------------------------------------------------------------------------------------------------------

export const hex = (value: number, digits = 14): string => value.toString(16).padStart(digits, '0');
/** The model has texts as their bytes, one character each. */
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');
const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
/** A text in PostgreSQL has no NUL. */
export const written = (text: string): string => text.replaceAll('\x01', '\x01s').replaceAll('\0', '\x01n');
export const read = (text: string): string => text.replaceAll('\x01n', '\0').replaceAll('\x01s', '\x01');
export const encoded = (args: readonly string[]): string[] => args.map((each) => written(utf8(each)));
const decoded = (value: unknown): unknown =>
  typeof value === 'string' ? bytes(read(value)) : Array.isArray(value) ? value.map(decoded) : value;

const seven = (value: number): string => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64BE(BigInt(value));
  return buffer.toString('latin1', 1);
};
const four = (value: number): string => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer.toString('latin1');
};

export interface ObjectRow {
  readonly name: string;
  readonly kind: string;
  readonly max: number;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly born: number;
  readonly free: number;
  readonly waiting: number;
  readonly deaths: number;
  readonly bypass: number;
  readonly passes: number;
  readonly lent: number;
  readonly noticed: boolean;
  readonly holder: string | null;
}

export interface RequestRow {
  readonly sid: string;
  readonly rid: string;
  readonly name: string;
  readonly ticket: number;
  readonly n: number;
  readonly base: number;
  readonly waits: boolean;
  readonly deaths: number;
}

interface RateRow {
  readonly name: string;
  readonly numbers: string;
  readonly given: number;
  readonly following: number;
  readonly latest: number;
  readonly taken: number;
  readonly epoch: number;
  readonly run_dates: number[];
  readonly run_counts: number[];
  readonly hole_dates: number[];
  readonly hole_counts: number[];
  readonly is_rare: boolean;
  readonly resized: number;
  readonly repaired: number;
  readonly paused: number;
  readonly moved: number;
  readonly stopped: number;
  readonly cancelled: number;
  readonly needed: number;
  readonly until: number;
}

interface Rows {
  readonly partition: {
    readonly v: number | null;
    readonly p: string | null;
    readonly lease: string | null;
    readonly ticket: number;
    readonly history: string | null;
    readonly epoch: number;
    readonly leapt: number;
    readonly late: number;
    readonly began: number | null;
    readonly noticed: string | null;
    readonly beaten: number;
    readonly first: string | null;
    readonly since: number | null;
    readonly shift: number | null;
    readonly seen: number | null;
    readonly timer: string | null;
  };
  readonly sessions:
    | {
        readonly sid: string;
        readonly conn: number | null;
        readonly reads: number;
        label: string;
        seq: number;
        sign: number;
      }[]
    | null;
  readonly objects: ObjectRow[] | null;
  readonly requests: RequestRow[] | null;
  readonly unfinished: { readonly name: string }[] | null;
  readonly rates: RateRow[] | null;
  readonly dated: { sid: string; date: number; given: number; n: number; epoch: number; name: string }[] | null;
}

export const objectText = (o: ObjectRow): string =>
  [
    ...[o.kind, o.max, +o.robust, +o.ephemeral, hex(o.born), o.free, o.waiting, o.deaths],
    ...(o.kind === 'm' ? [o.bypass, o.passes, o.lent, +o.noticed, o.holder ?? '-'] : []),
  ].join(' ');

/** The state of a rate as the script keeps it (rates.lua). */
function rateText(r: RateRow): string {
  const list = (dates: number[], counts: number[]) =>
    dates.map((date, i) => seven(date) + four(counts[i] as number)).join('');
  const head = [r.given, r.following, r.latest, r.taken, r.epoch].map(seven).join('');
  const counts = four(r.run_dates.length) + four(r.hole_dates.length);
  const rare = four(r.resized) + [r.repaired, r.paused, r.moved, r.stopped, r.cancelled, r.needed].map(seven).join('');
  const lists = list(r.run_dates, r.run_counts) + list(r.hole_dates, r.hole_counts);
  return r.numbers + head + counts + lists + (r.is_rare ? rare : '');
}

/** What the tables say, as lines. */
function linesOfRows(
  { partition: p, sessions, objects, requests, unfinished, rates, dated }: Rows,
  micros: number,
): string[] {
  const lines = [
    `v ${p.v} p ${p.p} lease ${p.lease} ticket ${p.ticket} history ${p.history} epoch ${p.epoch} leapt ${hex(p.leapt)} late ${p.late}`,
    `began ${p.began} lost ${p.noticed} beaten ${hex(p.beaten, 11)} first ${p.first} since ${p.since}`,
    `offset ${p.shift ?? 0} seen ${p.seen} timer ${p.timer}`,
  ];
  for (const s of sessions ?? []) {
    if (s.conn !== null) lines.push(`session ${s.sid} ${s.conn} ${s.reads} ${s.label}`);
    lines.push(`lease ${s.sid} ${s.sign}`, `seq ${s.sid} ${s.seq}`);
  }
  for (const o of objects ?? []) lines.push(`object ${bytes(o.name)} ${objectText(o)}`);
  for (const { sid, rid, name, ticket, n, base, waits, deaths } of requests ?? []) {
    lines.push(`record ${sid}${rid}${hex(ticket)}${hex(n, 8)}${bytes(name)}`);
    if (waits) lines.push(`queue ${bytes(name)}\0${hex(ticket)}${sid}${rid}${hex(n, 8)}${hex(base)}`);
    if (deaths > 0) lines.push(`deaths ${bytes(name)}\0${hex(ticket)} ${deaths}`);
  }
  for (const { name } of unfinished ?? []) lines.push(`queue \0${bytes(name)}`);
  for (const r of rates ?? [])
    if (r.until * 1000 >= micros) lines.push(`rate ${bytes(read(r.name))} ${r.until} ${rateText(r)}`);
  for (const { sid, date, given, n, epoch, name } of dated ?? [])
    lines.push(`record ${sid}r${hex(date)}${hex(given, 9)}${hex(n, 8)}${hex(epoch)}\0${bytes(read(name))}`);
  return lines.sort();
}

/** What the keys of the model say, as the same lines. */
function linesOfKeys(data: Data, micros: number): string[] {
  const meta = data.hash('meta');
  const at = (field: string, otherwise: unknown = null): unknown => meta.get(field) ?? otherwise;
  const members = (key: string): string[] => data.sorted(key).map(({ member }) => member);
  const lines = [
    `v ${at('v')} p ${at('p')} lease ${at('lease')} ticket ${at('ticket', 0)} history ${at('history')} epoch ${at('epoch', 0)} leapt ${at('leapt', hex(0))} late ${at('late', 0)}`,
    `began ${at('began')} lost ${at('lost')} beaten ${at('beaten', hex(0, 11))} first ${at('first')} since ${at('since')}`,
    `offset ${at('offset', 0)} seen ${at('seen')} timer ${at('timer')}`,
  ];
  for (const [sid, text] of data.hash('sessions')) lines.push(`session ${sid} ${text}`);
  for (const { member, score } of data.sorted('leases')) lines.push(`lease ${member} ${score}`);
  for (const [sid, seq] of data.hash('seqs')) lines.push(`seq ${sid} ${seq}`);
  const records = members('records');
  // A holder that says that it was told of no deaths leaves the note of those of which it was told.
  const held = new Set(records.map((record) => `${record.slice(48)}\0${record.slice(26, 40)}`));
  for (const [name, text] of data.hash('objects'))
    if (!name.includes('\0')) lines.push(`object ${name} ${text}`);
    else if (held.has(name)) lines.push(`deaths ${name} ${text}`);
  for (const record of records) lines.push(`record ${record}`);
  // The tables have the time of each request instead of that of the last beat.
  for (const entry of members('queue')) lines.push(`queue ${entry.startsWith('\0') ? entry : entry.slice(0, -11)}`);
  for (const [key, { text, until }] of data.texts())
    if (until * 1000 >= micros) lines.push(`rate ${key.slice('rate:'.length)} ${until} ${text}`);
  return lines.sort();
}

/** The reply without what only one side knows: times in `I`; and with the objects of `P` in one order. */
function comparable(reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply;
  return reply.map((answer) => {
    if (!Array.isArray(answer)) return answer;
    if (`${answer[0]}`.startsWith('I ')) {
      const [text, queue, holders, behind, sessions, times, now] = answer as [string, string[], ...unknown[]];
      const { length } = times as unknown[];
      return [text, queue.map((entry) => entry.slice(0, -11)), holders, behind, sessions, length, now];
    }
    return answer[0] === '0' ? answer.slice(1).sort() : answer;
  });
}

// The comparison ------------------------------------------------------------------------------------------------------

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

/** What runs the calls that the functions below write. */
export interface Caller {
  /** The data of the model. */
  readonly data: Data;
  /** Set: no more calls need come. */
  readonly difference: string | undefined;
  /** Forgets all. */
  begin(): Promise<void>;
  /** Resolves to the reply. */
  call(args: readonly string[], where: Surroundings): Promise<unknown>;
}

/** Runs calls on both sides. */
export class ComparingTables implements Caller {
  readonly tables: Tables;
  readonly #server: Server;
  data = new Data();
  compared = 0;
  readonly #letters = new Set<string>();
  difference: string | undefined;

  constructor(tables: Tables, constants: Constants) {
    this.tables = tables;
    this.#server = new Server(turnChunk(constants));
  }

  /** The letters of the operations that have come. */
  get letters(): string {
    return [...this.#letters].sort().join('');
  }

  async begin(): Promise<void> {
    this.data = new Data();
    await this.tables.clear();
  }

  /** Runs a call on the model alone. */
  onModel(args: readonly string[], where: Surroundings): Turn {
    const turn = this.#server.turn(this.data, args, where);
    this.data = turn.data;
    return turn;
  }

  async call(args: readonly string[], where: Surroundings): Promise<unknown> {
    const turn = this.onModel(args, where);
    this.compared++;
    for (const at of operations(args)) this.#letters.add(args[at] as string);
    const what = `call ${this.compared}, ${JSON.stringify(args.slice(0, 60))}`;
    try {
      const { reply, rows } = await this.tables.call(args, where);
      const messages = this.tables.messages();
      this.compare(`${what}: replies`, [comparable(turn.reply)], [comparable(reply)]);
      const told = turn.published.map(({ channel, text }: Published) => `${channel} ${text}`);
      this.compare(`${what}: messages`, told, messages);
      this.compare(`${what}: data`, linesOfKeys(this.data, where.time), linesOfRows(rows, where.time));
    } catch (error) {
      this.difference ??= `${what}: ${(error as Error).stack} ${(error as { where?: string }).where}; the script: ${JSON.stringify(turn.reply)}`;
    }
    return turn.reply;
  }

  /** Notes a difference. */
  compare(what: string, script: readonly unknown[], tables: readonly unknown[]): void {
    const [ones, others] = [script, tables].map((all) => all.map((each) => JSON.stringify(each))) as [
      string[],
      string[],
    ];
    if (ones.join() === others.join()) return;
    const only = (these: string[], those: string[]) => these.filter((each) => !those.includes(each)).join('\n    ');
    this.difference ??= `${what}\n  only the script:\n    ${only(ones, others)}\n  only the tables:\n    ${only(others, ones)}`;
  }
}

/** Whether the tables need not answer a call as the script does. */
function isOutside(args: readonly string[], data: Data, history: string, constants: Constants): boolean {
  const waiting = new Set(data.sorted('queue').map(({ member }) => member.slice(-73, -59)));
  for (const at of operations(args)) {
    const letter = args[at] as string;
    // No process knows the ticket of a request that waits.
    if (letter === 'D' && waiting.has(args[at + 3] as string)) return true;
    // The model of a server tells all objects at once, as they were before the call.
    if (letter === 'P' && ('MOST_FOUND' in constants || args.length > 5)) return true;
    // The tables need not ask what a beat names, so it does not show them another history.
    if (letter === 'U' && data.hash('meta').get('history') !== history) return true;
  }
  return false;
}

/** The call as a process makes it that says which holds a beat has named, and reads the same formats always. */
function asProcess(args: readonly string[], data: Data): string[] {
  const all = [...args];
  const [sid] = args;
  const reads = data
    .hash('sessions')
    .get(sid as string)
    ?.split(' ')[1];
  for (const at of operations(args)) {
    if (args[at] === 'O' && reads) {
      const writes = Number.parseInt(args[at + 1] as string, 10);
      all[at + 1] = writes < Number(reads) ? `${writes}-${reads}` : reads;
    }
    if (args[at] === 'D' && data.hash('meta').has(`${sid}${args[at + 2]}`))
      all[at + 6] = `${(args[at + 6] as string)[0]}s`;
  }
  return all;
}

/** Random calls, with clocks that jump, histories that end, and sessions that die. */
export async function compareRandom(on: Caller, seed: number, calls: number, constants: Constants): Promise<void> {
  await on.begin();
  const writer = new CallWriter(seed);
  let time = START * 1000;
  let history = 1;
  for (let call = 0; call < calls && !on.difference; call++) {
    if (writer.chance(1)) history++;
    time += (writer.chance(3) ? -1 : 1) * 1000 * (1 + (call % 17)) + 37;
    const name = hex(history, 40);
    let args: readonly string[];
    do args = writer.call(on.data);
    while (isOutside(args, on.data, name, constants));
    await on.call(asProcess(args, on.data), { time, history: name });
    const [session] = on.data.hash('sessions');
    if (session && call % 40 === 0 && constants.MOST_FOUND === undefined)
      await on.call([session[0], session[1].split(' ')[0] as string, 'c:', 'P', '0'], { time, history: name });
  }
}

/** Random calls on rates, while the clock jumps. */
export async function compareRandomRates(on: Caller, seed: number, calls: number): Promise<void> {
  await on.begin();
  const writer = new RateWriter(seed, KEYS);
  let [time, offset, history] = [0, 0, 1];
  for (let call = 0; call < calls && !on.difference; call++) {
    time += writer.rest();
    offset = writer.jumped(offset);
    if (writer.chance(1)) history++;
    const args = writer.call(on.data, time * 1000);
    const reply = await on.call(args, { time: (START + time + offset) * 1000, history: hex(history, 40) });
    writer.heard(reply, time * 1000);
  }
}

/** The fixed sequence, but for what only a server of Redis has: a full memory, and commands that are forbidden. */
export async function compareFixed(on: Caller): Promise<void> {
  await on.begin();
  let isBegun = false;
  for (const next of scriptedCalls('c:')) {
    if (on.difference) return;
    const { args, isFull, forbidden, time } = next(ticketIn(on.data));
    // The tables have never had the format 1, with which the sequence begins.
    isBegun ||= args[0] === SIDS[0] && args[4] === '2';
    if (isFull || forbidden || !isBegun) continue;
    await on.call(asProcess(args, on.data), { time: time ?? START * 1000, history: HISTORY });
  }
}

/** Fixed sequences for what the other calls seldom hit. */
export async function compareMore(on: Caller): Promise<void> {
  const [one, two, three] = SIDS as [string, string, string];
  let where: Surroundings = { time: START * 1000, history: HISTORY };
  const late = (START - 1_577_836_800_000) * 1024;
  const rid = (number: number): string => hex(number, 10);
  const call = async (sid: string, ...args: readonly string[]): Promise<void> => {
    if (!on.difference) await on.call([sid, '0', 'c:', ...args], where);
  };
  const enter = (sid: string, topmost = 0, seen = '-') =>
    call(sid, ...wire.enter(1, 3_600_000, 'l', seen, hex(topmost)));
  const begin = async (...sids: readonly string[]): Promise<void> => {
    where = { time: START * 1000, history: HISTORY };
    await on.begin();
    for (const sid of sids) await enter(sid);
  };
  const make = (name: string, kind: string, max: number, isRobust = '0') => [
    'N',
    name,
    kind,
    `${max}`,
    isRobust,
    '0',
    '0',
  ];
  const ask = (name: string, number: number, n = 1): string[] => ['A', name, '-', rid(number), hex(n, 8)];
  const asks = (name: string, first: number, count: number): string[] =>
    Array.from({ length: count }, (_, at) => ask(name, first + at)).flat();
  const give = (sid: string, name: string, number: number, n: number, passes: number) => {
    const ticket = ticketIn(on.data)(sid, rid(number));
    return call(sid, 'D', name, rid(number), ticket, hex(n, 8), `${n}`, '-', `${passes}`, '0');
  };
  const ticket = (): number => Number(on.data.hash('meta').get('ticket'));
  const seen = (): string => `${hex(ticket())} ${on.data.hash('meta').get('epoch')}.${HISTORY}`;

  // A process that enters first knows tickets: few, as many as the time gives, and one more or less.
  for (const topmost of [1, late - 1, late, late + 1]) {
    await begin();
    await enter(one, topmost);
    await enter(two, topmost + 1);
    // The last ticket, and one that nobody has.
    await enter(three, ticket());
    await call(three, 'X');
    await enter(three, ticket() + 1);
  }
  // Grants are left while the tickets leap.
  await call(two, 'N', 'left', 's', '200', '0', '0', '0', ...ask('left', 1, 200));
  await call(two, ...asks('left', 2, 132));
  await give(two, 'left', 1, 200, 0);
  await enter(one, 2 * late);
  for (let i = 0; i < 2; i++) await call(one, 'B', '-');
  // Three processes wait for a mutex: who gets it hears at once whether another one waits.
  for (const bypass of [600, 3, 0]) {
    await begin(one, two, three);
    await call(one, 'N', 'm', 'm', '1', '0', '0', `${bypass}`, ...ask('m', 1));
    for (const [at, sid] of [two, two, three, one, two].entries()) await call(sid, ...ask('m', 2 + at));
    for (const [at, sid] of [one, two, two, three, one, two].entries()) await give(sid, 'm', 1 + at, 1, at);
  }
  // The first call of another history.
  const held = (number: number): string => ticketIn(on.data)(one, rid(number));
  for (const first of [
    () => call(one, 'C', rid(1)),
    () => call(one, 'C', rid(3)),
    () => call(two, 'C', rid(5)),
    () => call(one, 'S', '', rid(9), '0'),
    () => call(one, 'S', '', rid(9), '2', rid(1), rid(3)),
    () => give(one, 'm', 1, 1, 0),
    () => give(one, 's', 4, 1, 0),
    () => give(one, 'wide', 7, 1, 0),
    () => give(one, 'alone', 11, 1, 0),
    () => call(one, 'X'),
    () => call(three, 'F', 's', rid(4), held(4), one),
    () => call(three, 'R', 's', '-', '5'),
    () => call(three, 'L', 's', '-', '-'),
    () => call(three, 'L', 's', '-', ticketIn(on.data)(two, rid(5))),
    () => call(three, 'K', 's', '-'),
    () => call(three, ...ask('m', 9)),
    () => call(three, 'T', 'free', '-', rid(9), hex(1, 8)),
    () => call(one, ...ask('m', 1)),
    () => call(three, ...make('new', 's', 1)),
    () => call(three, 'B', seen()),
    () => enter(two),
  ]) {
    await begin(one, two, three);
    await call(one, ...make('m', 'm', 1), ...ask('m', 1), ...make('s', 's', 3), ...ask('s', 3), ...ask('s', 4));
    await call(two, ...ask('m', 2), ...ask('s', 5, 2), ...ask('s', 6), ...make('free', 's', 1));
    await call(one, ...make('wide', 's', 3), ...ask('wide', 7), ...ask('wide', 10));
    await call(one, ...make('alone', 's', 1), ...ask('alone', 11));
    await call(two, ...ask('wide', 8, 3));
    where = { ...where, history: hex(2, 40) };
    await first();
    await call(three, 'B', '-');
  }
  // What holds permits of an object that there is no more, or of the one before.
  for (const kind of ['s', 'm']) {
    await begin(one, two);
    await call(one, ...make('o', kind, 1), ...ask('o', 1), 'K', 'o', '-', 'C', rid(1), 'S', '', rid(9), '1', rid(1));
    await call(one, ...make('o', kind, 1), ...ask('o', 2), 'K', 'o', '-', ...make('o', kind, 1), ...ask('o', 3));
    await call(two, ...ask('o', 4));
    for (const letter of ['V', 'F'])
      for (const number of [1, 2]) await call(two, letter, 'o', rid(number), held(number), one);
    for (const number of [1, 2, 3]) await call(one, 'C', rid(number));
    await call(one, 'S', '', rid(9), '2', rid(1), rid(3));
    await call(one, 'X');
  }
  // As many requests as go in one call, and one more; and dates that are listed.
  const rate = { permits: 1, per: 2 ** 33, burst: 1, slack: 1000 };
  const untold = { seen: 0, low: 0, high: 0 };
  const onRate = (numbers: wire.RateNumbers, demand: wire.RateDemand, told = untold, name = 'r'): string[] =>
    wire.rate(name, numbers, { epoch: 0, given: 0, last: 0 }, told, demand).map(String);
  const dates = (count: number): string[] => Array.from({ length: count }, () => onRate(rate, ['T', 1, -1])).flat();
  for (const [requests, listed] of [
    [100, 0],
    [127, 0],
    [128, 0],
    [129, 0],
    [0, 127],
    [0, 128],
    [0, 129],
    [100, 27],
    [100, 28],
    [100, 130],
  ] as const) {
    await begin(one, two);
    await call(one, ...make('s', 's', 200), ...asks('s', 1, requests), ...dates(listed === 0 ? 0 : listed + 1));
    for (let i = 0; i < 3 && on.data.hash('sessions').has(one); i++) await call(one, 'X', ...make('next', 's', 1));
  }
  // Sessions have died: as many as a beat takes back, and more. One that is told of a grant has died too.
  for (const count of [3, 4, 5]) {
    await begin(...SIDS.slice(0, count), WATCHER);
    await call(one, ...make('m', 'm', 1, '1'), ...ask('m', 1));
    for (const [at, sid] of [two, SIDS[count - 1] as string, WATCHER].entries()) await call(sid, ...ask('m', 2 + at));
    for (let i = 0; i < 2; i++) await call(WATCHER, 'B', seen());
  }
  // Grants of two objects are left at once.
  await begin(one, two);
  for (const [at, name] of ['a', 'b'].entries()) {
    await call(one, ...make(name, 's', 130), ...ask(name, 1 + at, 130));
    await call(two, ...asks(name, 200 * (at + 1), 130));
  }
  const gives = ['a', 'b'].flatMap((name, at) => {
    return ['D', name, rid(1 + at), held(1 + at), hex(130, 8), '130', '-', '0', '0'];
  });
  await call(one, ...gives);
  // Who waits hears of its grants in the answer to its own beat, but not to a beat aside.
  for (const letter of ['B', 'W', 'B', 'W']) await call(two, letter, '-');
  // The last request that is cancelled is the first one that a call has no time for.
  await begin(one);
  await call(one, ...make('s', 's', 1), ...asks('s', 1, 130));
  for (let i = 0; i < 2; i++) await call(one, 'L', 's', '-', '-');
  // Whoever tells no time may bring it on by a beat, as long as another session lives that tells it.
  await begin(one, two, three);
  const short = { permits: 2, per: 9000, burst: 1, slack: 1001 };
  const goOn = (milliseconds: number, history = where.history): void => {
    where = { time: where.time + milliseconds * 1000, history };
  };
  await call(two, 'G', '0', '0', '0');
  for (const sid of [one, two, three]) {
    goOn(1_500_000);
    await call(sid, ...onRate(short, ['I']));
  }
  await call(two, 'X');
  for (const sid of [one, three]) {
    goOn(1_500_000);
    await call(sid, ...onRate(short, ['I']));
  }
  // Parts of microseconds.
  for (const [low, high, slack] of [
    [0, 1, 1000],
    [1, 1, 1001],
    [1001, 1001, 1003],
  ] as const)
    for (const later of [0, 500, -10]) {
      const seenTime = where.time;
      goOn(later);
      await call(one, ...onRate({ ...short, slack }, ['I'], { seen: seenTime, low, high }));
    }
  // A state counts up to the last microsecond of its time.
  for (const beside of [-1, 0, 1]) {
    await begin(one);
    await call(one, ...onRate(short, ['T', 1, -1]));
    const [state] = [...on.data.texts().values()];
    where = { ...where, time: (state?.until as number) * 1000 + beside };
    await call(one, ...onRate(short, ['T', 1, -1], untold, 'another'));
    await call(one, ...onRate(short, ['I']));
    await call(one, ...onRate({ ...short, per: 9001 }, ['T', 1, -1]));
  }
  // The names of histories tell losses apart.
  await begin(one);
  await call(one, ...onRate(short, ['T', 1, -1]));
  for (const name of ['f', '7']) {
    goOn(1_000, name.repeat(40));
    await call(one, 'B', '-', ...onRate(short, ['T', 1, -1]));
    for (let i = 0; i < 3; i++) {
      goOn(360_000);
      await call(one, ...onRate(short, ['I', 1, -1]), ...onRate(short, ['T', 1, -1]));
    }
  }
  // An object is opened with settings of which one is another.
  const settings = ['s', '2', '0', '0', '0'];
  await begin(one);
  await call(one, 'N', 'o', ...settings);
  for (const [at, other] of ['w', '3', '1', '1', '1'].entries()) await call(one, 'N', 'o', ...settings.with(at, other));
  // What is not listed is dropped only behind the place where the list begins.
  await call(one, ...ask('o', 1), ...ask('o', 2), 'S', `${rid(1)}g`, rid(9), '0');
  // Who holds permits waits for more, and is told once.
  await begin(one, two);
  await call(one, ...make('s', 's', 2), ...ask('s', 1));
  await call(two, ...ask('s', 2), ...ask('s', 3));
  await call(one, ...ask('s', 4), 'I', 's', '9', '', '');
  // A session is silent for as long as a lease, and has nothing, or only dates that are listed.
  for (const beside of [-1, 0]) {
    await begin(one);
    goOn(3_600_000);
    await enter(two);
    await call(one, 'B', '-', ...dates(2));
    goOn(3_600_000 + beside);
    await enter(three);
  }
  // The clock goes back by a millisecond.
  await begin(one);
  await call(one, ...make('s', 's', 1), ...ask('s', 1));
  where = { ...where, time: where.time - 1000 };
  await enter(two);
  // Permits are left when the last waiter has been served.
  await begin(one, two);
  await call(one, ...make('s', 's', 4), ...ask('s', 1, 4));
  await call(two, ...ask('s', 2));
  await give(one, 's', 1, 4, 0);
  // When a mutex is granted, requests of other objects have smaller tickets than the next waiter, and so has the holder.
  for (const next of [two, three]) {
    await begin(one, two, three);
    await call(one, ...make('s', 's', 1), ...make('m', 'm', 1), ...ask('s', 1), ...ask('m', 2));
    await call(two, ...ask('m', 3));
    await call(three, ...ask('s', 4));
    await call(next, ...ask('m', 5));
    await give(one, 'm', 2, 1, 0);
  }
  // A request comes again after a loss.
  await begin(one);
  await call(one, ...make('s', 's', 2), ...ask('s', 1));
  goOn(1, '7'.repeat(40));
  await call(one, ...ask('s', 1));
  await call(one, ...ask('s', 2));
  // A part is given back, of what is not held like that and of what is.
  await begin(one, two);
  await call(one, ...make('s', 's', 4, '1'), ...make('o', 's', 1), ...ask('s', 1), ...ask('o', 2));
  await call(two, ...ask('o', 3));
  const back = (name: string, number: number, n: number, its: string, note = '-'): string[] => [
    ...['D', name, rid(number), its, hex(n, 8)],
    ...['1', note, '0', '0'],
  ];
  const its = (number: number): string => ticketIn(on.data)(one, rid(number));
  await call(one, ...back('s', 1, 1, its(1), 'd'));
  await call(one, ...ask('s', 4, 3));
  await call(two, ...ask('s', 5, 2));
  for (const wrong of [
    back('s', 9, 3, its(4)),
    back('o', 4, 3, its(4)),
    back('s', 4, 3, its(2)),
    back('s', 4, 2, its(4)),
  ])
    await call(one, ...wrong);
  await call(two, ...back('s', 4, 3, its(4)));
  await call(one, ...back('s', 4, 3, its(4)));
  await call(one, ...back('s', 4, 2, its(4), 'r'));
  // What the mutex was passed to belongs to the next object of the name.
  await begin(one);
  await call(one, ...make('m', 'm', 1, '1'), ...ask('m', 1));
  const of = its(1);
  await call(one, 'K', 'm', '-', ...make('m', 'm', 1, '1'), ...ask('m', 2));
  await call(one, 'D', 'm', rid(1), of, hex(1, 8), '1', '-', '0', '1', rid(2));
  // An object that is not kept is free and taken again in a call.
  await begin(one);
  await call(one, 'N', 'e', 's', '1', '0', '1', '0', ...ask('e', 1));
  await call(one, ...back('e', 1, 1, its(1)), ...ask('e', 2));
}

/** A fixed sequence where each call finds two requests at most, and takes one away (FEW). */
export async function compareFew(on: Caller): Promise<void> {
  const [one, two] = SIDS as [string, string];
  const where: Surroundings = { time: START * 1000, history: HISTORY };
  const rid = (number: number): string => hex(number, 10);
  const call = async (sid: string, ...args: readonly string[]): Promise<void> => {
    if (!on.difference) await on.call([sid, '0', 'c:', ...args], where);
  };
  const look = (name: string, from = ''): string[] => ['I', name, '9', '', from];
  await on.begin();
  for (const sid of [one, two]) await call(sid, ...wire.enter(1, 3_600_000, 'l', '-', hex(0)));
  for (const [name, kind, max] of [
    ['s', 's', '4'],
    ['free', 's', '1'],
    ['m', 'm', '1'],
  ] as const)
    await call(one, 'N', name, kind, max, '0', '0', '0');
  await call(one, ...['A', 's', '-', rid(1), hex(1, 8), 'A', 's', '-', rid(2), hex(1, 8), ...look('free')]);
  await call(two, ...['A', 's', '-', rid(3), hex(1, 8), 'A', 'm', '-', rid(4), hex(1, 8)]);
  // The holders in parts.
  for (const from of ['', `${one}${rid(1)}g`, `${one}${rid(2)}g`, `${two}${rid(3)}g`])
    for (const name of ['s', 'm']) await call(two, ...look(name, from));
  // A grant is left, and what was held of the object before goes back.
  const ask = (number: number): string[] => ['A', 'o', '-', rid(number), hex(1, 8)];
  const give = (number: number): Promise<void> => {
    const ticket = ticketIn(on.data)(two, rid(number));
    return call(two, 'D', 'o', rid(number), ticket, hex(1, 8), '1', '-', '0', '0');
  };
  const make = ['N', 'o', 's', '2', '0', '0', '0'];
  await call(two, ...make, ...ask(5), 'K', 'o', '-', ...make, ...[6, 7, 8, 9, 10].flatMap(ask), 'R', 'o', '-', '4');
  await give(5);
  // A session has died, and holds something still.
  const sign = on.data.sorted('leases').find(({ member }) => member === one)?.score;
  const seen = `${hex(sign as number)} 1.${HISTORY}`;
  for (let i = 0; i < 4; i++) await call(two, 'B', seen, ...look('s'));
}

/** The fixed sequence of calls on rates. */
export async function compareFixedRates(on: Caller): Promise<void> {
  await on.begin();
  for (const { time, args } of fixedRateCalls()) {
    if (on.difference) return;
    await on.call(args, { time, history: HISTORY });
  }
}

// Concurrent calls ----------------------------------------------------------------------------------------------------

/** A process that asks for permits and gives them back, as fast as it can, on a connection of its own. */
class Asker {
  readonly sid: string;
  readonly tables: Tables;
  readonly #below: Random;
  readonly #held = new Map<string, { name: string; ticket: string; n: number }>();
  readonly #asked = new Map<string, { name: string; n: number }>();
  #count = 0;

  constructor(sid: string, tables: Tables, below: Random) {
    this.sid = sid;
    this.tables = tables;
    this.#below = below;
  }

  /** A call that ends with a beat, whose ticket tells when it ran. */
  call(): string[] {
    const [rid] = [...this.#held.keys()].slice(this.#below(3));
    const [waiting] = this.#asked.keys();
    const operations: string[] = [];
    if (rid !== undefined && this.#below(5) < 3) {
      const { name, ticket, n } = this.#held.get(rid) as { name: string; ticket: string; n: number };
      this.#held.delete(rid);
      operations.push('D', name, rid, ticket, hex(n, 8), `${n}`, '-', `${this.#below(3)}`, '0');
    } else if (waiting !== undefined && this.#below(8) === 0) operations.push('C', waiting);
    if (this.#asked.size < 3) {
      const next = hex(++this.#count, 10);
      const name = ['mutex', 'semaphore', 'ephemeral'][this.#below(3)] as string;
      const n = name === 'mutex' ? 1 : 1 + this.#below(2);
      this.#asked.set(next, { name, n });
      if (name === 'ephemeral') operations.push('N', name, 's', '2', '0', '1', '0');
      operations.push(this.#below(4) === 0 ? 'T' : 'A', name, '-', next, hex(n, 8));
    }
    return [this.sid, '0', 'c:', ...operations, 'B', '-'];
  }

  /** Learns from the reply, and from the messages. */
  hear(args: readonly string[], reply: readonly unknown[], messages: readonly string[]): void {
    const places = [...operations(args)];
    for (const [i, at] of places.entries()) {
      const rid = { A: args[at + 3], T: args[at + 3], C: args[at + 1] }[args[at] as string];
      if (rid !== undefined) this.#learn(rid, wire.fateIn(reply[i]));
    }
    const news = messages.flatMap((message) => wire.messageIn(message.slice(message.indexOf(' ') + 1)).news);
    for (const each of [...reply.slice(places.length), ...news]) {
      const { rid, fate } = wire.newsIn(each as string);
      if (fate) this.#learn(rid, fate);
    }
  }

  #learn(rid: string, fate: wire.Fate): void {
    const asked = this.#asked.get(rid);
    if (!asked || fate.is === 'Q') return;
    this.#asked.delete(rid);
    if (fate.is === 'H') this.#held.set(rid, { ...asked, ticket: fate.ticket });
  }
}

/**
 * Calls of many connections at once are as if one came after the other, in the order of their tickets: run so on the model,
 * they give the same replies, messages and data. Returns how many calls were compared.
 */
export async function compareConcurrent(
  url: string,
  name: string,
  connections: number,
  calls: number,
): Promise<number> {
  const where: Surroundings = { time: START * 1000, history: HISTORY };
  const first = await Tables.make(url, name, schemaText(), {});
  const askers: Asker[] = [];
  try {
    const on = new ComparingTables(first, {});
    await on.begin();
    for (let i = 0; i < connections; i++) {
      const sid = `p${hex(i, 15)}`;
      askers.push(new Asker(sid, await Tables.join(url, name, [sid]), mulberry(i + 1)));
      await askers[i]?.tables.begin(where);
      await on.call([sid, '0', 'c:', ...wire.enter(1, 3_600_000, 'l', '-', '0')], where);
    }
    const objects = ['N', 'mutex', 'm', '1', '0', '0', '2', 'N', 'semaphore', 's', '3', '0', '0', '0'];
    await on.call(['p000000000000000', '0', 'c:', ...objects], where);
    if (on.difference) throw new Error(on.difference);

    const done: { readonly args: string[]; readonly reply: readonly unknown[]; readonly ticket: string }[] = [];
    const heard = new Map<string, string[]>();
    const work = async (asker: Asker): Promise<void> => {
      const all: string[] = [];
      heard.set(asker.sid, all);
      for (let call = 0; call < calls; call++) {
        const args = asker.call();
        const reply = (await asker.tables.turn(args)) as unknown[];
        const messages = asker.tables.messages();
        all.push(...messages);
        asker.hear(args, reply, messages);
        const beat = reply.find(wire.isBeat);
        done.push({ args, reply, ticket: wire.beatIn(beat).sign.ticket });
      }
    };
    await Promise.all(askers.map(work));
    // Messages of the last calls of others.
    for (const { sid, tables } of askers) {
      await tables.query('select 1');
      heard.get(sid)?.push(...tables.messages());
    }

    const told = new Map<string, string[]>(askers.map(({ sid }) => [sid, []]));
    done.sort((one, other) => (one.ticket < other.ticket ? -1 : 1));
    for (const { args, reply } of done) {
      const published = on.onModel(args, where);
      for (const { channel, text } of published.published) told.get(channel.slice(2))?.push(`${channel} ${text}`);
      on.compare(`${args}: replies`, [published.reply], [reply]);
    }
    for (const [sid, texts] of told) on.compare(`messages of ${sid}`, texts, heard.get(sid) ?? []);
    on.compare('data', linesOfKeys(on.data, where.time), await first.lines(where));
    if (on.difference) throw new Error(on.difference);
    return done.length;
  } finally {
    for (const { tables } of askers) await tables.end();
    await first.end();
  }
}
