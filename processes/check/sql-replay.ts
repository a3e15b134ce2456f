/**
 * Calls of the functions of PostgreSQL that are recorded once, with the rows before them and with what they do, so that
 * each of them can run alone on a mutant. As the rows before it are those of the recording, the first call of a sequence
 * that does something else on a mutant does so alone as well.
 */
import { createHash } from 'node:crypto';
import * as wire from '../src/script/wire.js';
import { SIDS } from './calls.js';
import { type Constants, HISTORY, START } from './comparing.js';
import { Data, type Surroundings } from './data-model.js';
import { Server, turnChunk } from './server.js';
import { functionsOf, noting, statementsOf } from './sql-mutants.js';
import { encoded, partUnderTest, schemaText, TABLES, Tables } from './tables.js';
import type { Caller } from './tables-calls.js';

/** In other partitions there are rows of the same names. They are made by so many calls. */
const CALLS_OF_OTHERS = 60;
/** So many calls run in one statement, which may take so long, in milliseconds. */
const CALLS_OF_A_STATEMENT = 40;
const LONGEST = 2_000;
const CANCELLED = '57014';

/** A call, and what its transaction is like. */
interface Step {
  readonly args: readonly string[];
  readonly where: Surroundings;
  readonly isolation: string;
  /** The setting synchronous_commit of its connection. */
  readonly commits: 'on' | 'off' | 'local';
  readonly durable: boolean;
  readonly tells: boolean;
}

/** Functions change often, and few calls come between. So a statement is planned once. */
const QUICK = 'set plan_cache_mode = force_generic_plan';

const USUAL_STEP = { isolation: 'read committed', commits: 'on', durable: true, tells: true } as const;

/** Notes the calls, and runs them on the model. */
export class Recorder implements Caller {
  readonly #server: Server;
  data = new Data();
  readonly difference = undefined;
  /** The sequences: each begins without rows. */
  readonly sequences: Step[][] = [];

  constructor(constants: Constants) {
    this.#server = new Server(turnChunk(constants));
  }

  async begin(): Promise<void> {
    this.data = new Data();
    this.sequences.push([]);
  }

  /** Notes a call that only the function knows. */
  note(args: readonly string[], where: Surroundings, more: Partial<Step> = {}): void {
    this.sequences.at(-1)?.push({ args, where, ...USUAL_STEP, ...more });
  }

  async call(args: readonly string[], where: Surroundings): Promise<unknown> {
    this.note(args, where);
    const { data, reply } = this.#server.turn(this.data, args, where);
    this.data = data;
    return reply;
  }
}

/** Messages are noted, and the isolation of the transaction is a setting. */
const prepared = (text: string): string =>
  text
    .replaceAll('pg_notify(', 'taketurns.note(')
    .replaceAll("current_setting('transaction_isolation')", "current_setting('check.isolation')");

/** What the script does not have: transactions of all kinds, calls that are refused, and messages that are too long. */
export async function recordOwn(on: Recorder): Promise<void> {
  const [one, two] = SIDS as [string, string];
  const where = { time: START * 1000, history: HISTORY };
  const call = (sid: string, operations: readonly string[], more?: Partial<Step>) =>
    on.note([sid, '0', 'c:', ...operations], where, more);
  const ask = (sid: string): void => call(sid, ['A', 'm', '-', '0'.repeat(10), '00000001']);
  const rate = { permits: 1, per: 9000, burst: 1, slack: 1000 };
  const [known, told] = [
    { epoch: 0, given: 0, last: 0 },
    { seen: 0, low: 0, high: 0 },
  ];
  const cancel = (tag: string): string[] => {
    const operation = wire.rate('r', rate, known, told, ['L', 0, 0]).map(String);
    return [...operation.slice(0, 11), tag, ...operation.slice(12)];
  };
  await on.begin();
  for (const sid of [one, two]) call(sid, wire.enter(1, 3_600_000, 'l', '-', '0').map(String));
  call(one, ['N', 'm', 'm', '1', '0', '0', '2']);
  for (const isolation of ['repeatable read', 'serializable']) call(one, ['B', '-'], { isolation });
  call(one, ['B', '-'], { durable: false });
  for (const commits of ['off', 'local'] as const) call(one, ['B', '-'], { commits });
  call(one, ['B', '-', ...wire.enter(1, 3_600_000, 'l', '-', '0').map(String)]);
  call(one, ['?']);
  for (const sid of [one, two]) ask(sid);
  call(one, cancel('7'), { tells: false });
  // The first message is as long as can be, and would be longer by a character.
  for (const digits of [21, 22])
    call(one, [...Array.from({ length: 78 }, () => '1'.repeat(98)), '1'.repeat(digits), '5'].flatMap(cancel));
  // There are more objects by one than an answer lists.
  await on.begin();
  call(one, wire.enter(1, 3_600_000, 'l', '-', '0').map(String));
  const objects = Array.from({ length: 257 }, (_, at) => ['N', `o${1000 + at}`, 's', '1', '0', '0', '0']);
  call(one, objects.flat());
  for (const cursor of ['0', ':o1255', ':o1256']) call(one, ['P', cursor, 'C', '0'.repeat(10)]);
}

const KEYS_OF_TABLES: Readonly<Record<string, string>> = {
  partition: 'id',
  history: 'part',
  session: 'part, sid',
  object: 'part, name',
  request: 'part, sid, rid',
  unfinished: 'part, name',
  rate: 'part, name',
  dated: 'part, sid, date, given, n, epoch, name',
};

/**
 * `state` tells all rows, `restore` writes them. `did` runs a call, and tells all that it does; `do` also tells which
 * setting it leaves to the next transaction. `record` notes the calls of a sequence, and which statements they reach: all of
 * them if the call is refused, which takes back what the call has noted. `try` runs some calls, and tells what the first one
 * does that does something else.
 */
const REPLAY = (name: string): string => `
create unlogged table ${name}.step (
  sequence int, at int, number int, args text[], micros text, history text, isolation text, commits text,
  durable boolean, tells boolean, before json, expected text, reached text[], primary key (sequence, at));
create function ${name}.note(channel text, payload text) returns void language sql as $$
  select set_config('check.told', concat(current_setting('check.told'), channel, ' ', payload, chr(10)), false);
$$;
create function ${name}.state() returns json language plpgsql as $$
begin
  return json_build_object(${TABLES.map((table) => `'${table}', (select coalesce(json_agg(x order by ${KEYS_OF_TABLES[table]}), '[]') from ${name}.${table} x)`).join()});
end $$;
create function ${name}.restore(state json) returns void language plpgsql as $$
begin
  ${TABLES.map((table) => `delete from ${name}.${table};`).join('\n  ')}
  ${TABLES.map((table) => `insert into ${name}.${table} ${table === 'partition' ? 'overriding system value ' : ''}select * from json_populate_recordset(null::${name}.${table}, state->'${table}');`).join('\n  ')}
  perform setval(pg_get_serial_sequence('${name}.partition', 'id'), coalesce(max(id), 0) + 1, false) from ${name}.partition;
end $$;
create function ${name}.did(step ${name}.step) returns text language plpgsql set synchronous_commit = on as $$
declare
  answer text;
  code text;
  hint text;
begin
  perform ${name}.begin(step.micros, step.history);
  perform set_config('check.told', '', false), set_config('check.isolation', step.isolation, false);
  perform set_config('synchronous_commit', step.commits, true);
  begin
    answer := ${name}.turn_1('test', step.number, step.args, step.durable, step.tells);
  exception when others then
    get stacked diagnostics code = returned_sqlstate, answer = message_text, hint = pg_exception_hint;
    answer := 'raised ' || code || ': ' || answer || hint;
  end;
  return concat_ws(chr(10), answer, current_setting('synchronous_commit'), current_setting('check.told'), ${name}.state());
end $$;
create function ${name}.do(step ${name}.step) returns text language plpgsql as $$
declare
  did text;
begin
  perform set_config('synchronous_commit', step.commits, false);
  did := ${name}.did(step);
  return concat_ws(chr(10), did, current_setting('synchronous_commit'));
end $$;
create function ${name}.record(one int, first int, last int, statements text[]) returns void language plpgsql as $$
declare
  step ${name}.step;
begin
  for step in select * from ${name}.step s where s.sequence = one and s.at between first and last order by s.at loop
    perform set_config('check.call', step.at::text, false);
    step.before := ${name}.state();
    step.expected := ${name}.do(step);
    update ${name}.step s set before = step.before, expected = md5(step.expected),
      reached = array(select u from unnest(statements) u
        where step.expected like 'raised %' or current_setting('reached.' || u, true) = step.at::text)
      where s.sequence = one and s.at = step.at;
  end loop;
end $$;
create function ${name}.try(sequences int[], places int[]) returns text language plpgsql as $$
declare
  step ${name}.step;
  did text;
begin
  for i in 1..cardinality(places) loop
    select * into step from ${name}.step s where s.sequence = sequences[i] and s.at = places[i];
    if i = 1 or sequences[i] <> sequences[i - 1] or places[i] <> places[i - 1] + 1 then
      perform ${name}.restore(step.before);
    end if;
    did := ${name}.do(step);
    if md5(did) <> step.expected then return format('%s, call %s: %s', step.sequence, step.at, did); end if;
  end loop;
  return null;
end $$;
`;

async function record(
  tables: Tables,
  name: string,
  sequence: number,
  steps: readonly Step[],
  statements: readonly string[],
): Promise<void> {
  await tables.query(`select ${name}.restore('{}')`);
  const others = steps.slice(0, CALLS_OF_OTHERS).map((step) => ({ ...step, number: 1 }));
  const all = [...others, ...steps.map((step) => ({ ...step, number: 0 }))];
  const rows = all.map(({ args, where, ...more }, at) => {
    return { sequence, at, args: encoded(args), micros: `${where.time}`, history: where.history, ...more };
  });
  const insert = `insert into ${name}.step select * from json_populate_recordset(null::${name}.step, $1)`;
  await tables.query(insert, [JSON.stringify(rows)]);
  for (let at = 0; at < all.length; at += CALLS_OF_A_STATEMENT) {
    const last = at + CALLS_OF_A_STATEMENT - 1;
    await tables.query(`select ${name}.record($1, $2, $3, $4)`, [sequence, at, last, statements]);
  }
  await tables.query(`delete from ${name}.step where sequence = $1 and number = 1`, [sequence]);
}

/** A call that is recorded. */
interface Place {
  readonly sequence: number;
  readonly at: number;
}

/** Recorded calls in a database of their own, and copies of it, for several mutants at once. */
export class Recording {
  readonly #url: string;
  readonly #name: string;
  readonly #constants: Constants;
  /** The calls that reach a statement: those first that reach others than all before, and what calls seldom reach. */
  readonly #reaching = new Map<string, Place[]>();
  readonly calls: readonly Place[];

  private constructor(
    url: string,
    name: string,
    constants: Constants,
    calls: readonly (Place & { reached: string[] })[],
  ) {
    this.#url = url;
    this.#name = name;
    this.#constants = constants;
    this.calls = calls;
    const counts = new Map<string, number>();
    for (const statement of calls.flatMap(({ reached }) => reached))
      counts.set(statement, (counts.get(statement) ?? 0) + 1);
    const rounds = new Map<string, number>();
    const ordered = calls.map((call) => {
      const signature = [...call.reached].sort().join();
      const round = (rounds.get(signature) ?? 0) + 1;
      rounds.set(signature, round);
      return { call, round, seldom: Math.min(...call.reached.map((each) => counts.get(each) as number)) };
    });
    ordered.sort((one, other) => one.round - other.round || one.seldom - other.seldom);
    for (const { call } of ordered)
      for (const statement of call.reached) {
        const places = this.#reaching.get(statement) ?? [];
        this.#reaching.set(statement, places);
        places.push(call);
      }
  }

  /** Runs sequences of calls, and records them; or takes those that the server has already of the same functions. */
  static async make(
    url: string,
    kind: string,
    constants: Constants,
    all: readonly ((on: Recorder) => Promise<void>)[],
  ): Promise<Recording> {
    const original = schemaText();
    const functions = functionsOf(original);
    const name = `${kind}_${createHash('md5').update(original).update(REPLAY('')).digest('hex').slice(0, 8)}`;
    let tables = await Tables.join(url, name, []).catch(() => undefined);
    const [row] = (await tables?.query(`select to_regclass('${name}.complete') as is_complete`)) ?? [];
    if (!tables || !row?.is_complete) {
      await tables?.end();
      const schema = functions.reduce((text, one) => text.replace(one.text, () => noting(one)), original);
      tables = await Tables.make(url, name, prepared(schema), constants);
      await tables.query(REPLAY(name));
      await tables.query(QUICK);
      const recorder = new Recorder(constants);
      for (const run of all) await run(recorder);
      const statements = functions.flatMap(statementsOf);
      for (const [sequence, steps] of recorder.sequences.entries())
        await record(tables, name, sequence, steps, statements);
      for (const { text } of functions) await tables.query(partUnderTest(prepared(text), name, constants));
      await tables.query(`create table ${name}.complete ()`);
    }
    const calls = await tables.query(`select sequence, at, reached from ${name}.step order by sequence, at`);
    await tables.end();
    return new Recording(url, name, constants, calls as never);
  }

  /** The calls that reach a statement, or all of them. */
  reaching(statement: string | undefined): readonly Place[] {
    return statement === undefined ? this.calls : (this.#reaching.get(statement) ?? []);
  }

  /** A copy of the database. */
  async copy(number: number): Promise<Copy> {
    const database = `${this.#name}_${number}`;
    const tables = await Tables.copy(this.#url, this.#name, database);
    await tables.query(QUICK);
    return new Copy(tables, this.#name, this.#constants);
  }
}

/** What a call on a mutant does, if it is not what was recorded. */
export type Told = 'fails' | 'does not end' | 'another answer or state';

/** A copy of the recorded calls, on which one mutant can run at a time. */
export class Copy {
  readonly tables: Tables;
  readonly #name: string;
  readonly #constants: Constants;

  constructor(tables: Tables, name: string, constants: Constants) {
    this.tables = tables;
    this.#name = name;
    this.#constants = constants;
  }

  /** Replaces a function. */
  async define(text: string): Promise<void> {
    await this.tables.query(partUnderTest(prepared(text), this.#name, this.#constants));
  }

  /** Runs calls, and returns what the first one does that does something else. */
  async try(places: readonly Place[], original: string, mutant: string): Promise<Told | undefined> {
    const ordered = [...places].sort((one, other) => one.sequence - other.sequence || one.at - other.at);
    for (let at = 0; at < ordered.length; at += CALLS_OF_A_STATEMENT) {
      const part = ordered.slice(at, at + CALLS_OF_A_STATEMENT);
      const did = await this.#run(part, original, mutant);
      if (did === CANCELLED) return 'does not end';
      if (did !== undefined) return /^\d+, call \d+: raised /.test(did) ? 'fails' : 'another answer or state';
    }
    return undefined;
  }

  /** What the first call does that does something else. CANCELLED: it does not end. */
  async #run(places: readonly Place[], original: string, mutant: string): Promise<string | undefined> {
    const run = async (limit: number): Promise<string | undefined> => {
      try {
        await this.tables.query(`set statement_timeout = ${limit}`);
        const text = `select ${this.#name}.try($1, $2)`;
        const [row] = await this.tables.query(text, [
          places.map((each) => each.sequence),
          places.map((each) => each.at),
        ]);
        return (row?.try as string | null) ?? undefined;
      } catch (error) {
        if ((error as { code?: string }).code === CANCELLED) return CANCELLED;
        throw error;
      } finally {
        await this.tables.query('set statement_timeout = 0');
      }
    };
    // Only a mutant may not end. PostgreSQL takes 0 for no limit.
    for (let limit = mutant === original ? 0 : LONGEST; ; limit *= 2) {
      const did = await run(limit);
      if (did !== CANCELLED) return did;
      // The machine may be slow. The mutant does not end if the original ends long before, and then it does not end again.
      await this.define(original);
      const started = performance.now();
      const usual = await run(limit);
      const isQuick = usual === undefined && performance.now() - started < limit / 8;
      await this.define(mutant);
      if (isQuick && (await run(limit)) === CANCELLED) return CANCELLED;
    }
  }
}
