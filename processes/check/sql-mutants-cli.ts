/**
 * Makes the mutants of the functions of PostgreSQL (sql-mutants.ts), and says which of them another reply, message or row
 * tells: the calls of the comparisons (tables.ts) run on each mutant, within the server.
 *
 * `ONLY=grant_1,turn_1` tries only the mutants of these functions, `LINES=301,315` only those of these lines of schema.sql,
 * `SHARD=0/4` only every fourth one. `POSTGRES_URL` names a server that runs already. A mutant that no call tells must be
 * listed in sql-mutants-explained.ts with the reason.
 */
import { startPostgres } from '../servers/postgres.js';
import { type Constants, FEW, USUAL } from './comparing.js';
import { Data, type Surroundings } from './data-model.js';
import { Server, turnChunk } from './server.js';
import { functionsOf, type SqlMutant, sqlMutantsOf } from './sql-mutants.js';
import { EXPLAINED_OF_SQL } from './sql-mutants-explained.js';
import {
  type Caller,
  compareFixed,
  compareFixedRates,
  compareMore,
  compareRandom,
  compareRandomRates,
  encoded,
  FEW_OF_RATES,
  schemaText,
  TABLES,
  Tables,
  underTest,
} from './tables.js';

const CALLS = 600;
/** So many calls run in one statement, which may take so long, in milliseconds. */
const CALLS_OF_A_STATEMENT = 40;
const LONGEST = 20_000;

/** `replay` runs the calls of a sequence, and returns the first that does not do what it has done when it was recorded. */
const REPLAY = (name: string): string => `
create table ${name}.step (
  sequence int, at int, args text[], micros text, history text, expected text, primary key (sequence, at));
create function ${name}.note(channel text, payload text) returns void language sql as $$
  select set_config('check.told', current_setting('check.told') || channel || ' ' || payload || chr(10), false);
$$;
create function ${name}.clear() returns void language sql as $$
  truncate ${TABLES.map((table) => `${name}.${table}`).join()} restart identity;
$$;
create function ${name}.replay(one int, first int, last int, records boolean) returns int language plpgsql as $$
declare
  step record;
  did text;
begin
  for step in select * from ${name}.step s where s.sequence = one and s.at between first and last order by s.at loop
    perform set_config('check.told', '', false);
    if cardinality(step.args) = 0 then
      perform ${name}.clear();
      continue;
    end if;
    perform ${name}.begin(step.micros, step.history);
    did := ${name}.turn_1('test', 0, step.args);
    did := md5(did || ${name}.rows()::text || current_setting('check.told'));
    if records then
      update ${name}.step s set expected = did where s.sequence = one and s.at = step.at;
    elsif did <> step.expected then
      return step.at;
    end if;
  end loop;
  return null;
end $$;
`;

/** Notes the calls, and runs them on the model. */
class Recorder implements Caller {
  readonly #server: Server;
  data = new Data();
  readonly difference = undefined;
  readonly steps: { readonly args: readonly string[]; readonly where: Surroundings }[] = [];

  constructor(constants: Constants) {
    this.#server = new Server(turnChunk(constants));
  }

  async begin(): Promise<void> {
    this.data = new Data();
    if (this.steps.length > 0) this.steps.push({ args: [], where: { time: 0, history: '' } });
  }

  async call(args: readonly string[], where: Surroundings): Promise<unknown> {
    this.steps.push({ args, where });
    const { data, reply } = this.#server.turn(this.data, args, where);
    this.data = data;
    return reply;
  }
}

interface Sequence {
  readonly tables: Tables;
  readonly schema: string;
  readonly constants: Constants;
  readonly number: number;
  readonly length: number;
  readonly ofRates: boolean;
}

const url = process.env.POSTGRES_URL ?? '';
const server = url ? undefined : await startPostgres();
const original = schemaText();
const inPlaceOfNotify = (text: string, schema: string): string => text.replaceAll('pg_notify(', `${schema}.note(`);

async function record(
  schema: string,
  constants: Constants,
  all: readonly (readonly [ofRates: boolean, (on: Caller) => Promise<void>])[],
): Promise<Sequence[]> {
  const tables = await Tables.make(server?.url ?? url, schema, inPlaceOfNotify(original, schema), constants);
  await tables.query(`set statement_timeout = ${LONGEST}`);
  await tables.query(REPLAY(schema));
  const made: Sequence[] = [];
  for (const [number, [ofRates, run]] of all.entries()) {
    const recorder = new Recorder(constants);
    await run(recorder);
    for (const [at, { args, where }] of recorder.steps.entries())
      await tables.query(`insert into ${schema}.step values ($1, $2, $3, $4, $5)`, [
        ...[number, at, encoded(args)],
        ...[`${where.time}`, where.history],
      ]);
    const sequence = { tables, schema, constants, number, length: recorder.steps.length, ofRates };
    await replay(sequence, true);
    if ((await replay(sequence)) !== undefined)
      throw new Error(`sequence ${number} of ${schema} is not the same twice`);
    made.push(sequence);
  }
  return made;
}

/** Runs a sequence, and returns the place of the first difference. */
async function replay({ tables, schema, number, length }: Sequence, records = false): Promise<number | undefined> {
  await tables.clear();
  for (let at = 0; at < length; at += CALLS_OF_A_STATEMENT) {
    const text = `select ${schema}.replay($1, $2, $3, $4)`;
    const [row] = await tables.query(text, [number, at, at + CALLS_OF_A_STATEMENT - 1, records]);
    if (typeof row?.replay === 'number') return row.replay;
  }
  return undefined;
}

/** Replaces a function in a schema. */
async function define({ tables, schema, constants }: Sequence, name: string, text: string): Promise<void> {
  const functions = functionsOf(original);
  const before = functions.find((each) => each.name === name)?.text as string;
  const whole = underTest(
    inPlaceOfNotify(
      original.replace(before, () => text),
      schema,
    ),
    schema,
    constants,
  );
  const at = functions.findIndex((each) => each.name === name);
  // The functions stand in the same order, and the clock and the constants differ.
  const changed = whole.split(/^(?=create or replace function )/m)[at + 1] as string;
  await tables.query(changed);
}

type Told = 'does not compile' | 'fails' | 'does not end' | 'another answer or state' | 'nothing';

async function tell(
  mutant: SqlMutant,
  sequences: readonly Sequence[],
  originals: ReadonlyMap<string, string>,
): Promise<Told> {
  for (const sequence of sequences) {
    try {
      await define(sequence, mutant.function, mutant.source);
    } catch {
      return 'does not compile';
    }
    try {
      if ((await replay(sequence)) !== undefined) return 'another answer or state';
    } catch (error) {
      return (error as { code?: string }).code === '57014' ? 'does not end' : 'fails';
    } finally {
      await define(sequence, mutant.function, originals.get(mutant.function) as string);
    }
  }
  return 'nothing';
}

const started = performance.now();
let isOpen = false;
try {
  const few = await record(`few_${process.pid}`, FEW, [
    [false, (on) => compareRandom(on, 4, CALLS, FEW)],
    [false, (on) => compareRandom(on, 5, 2 * CALLS, FEW)],
  ]);
  const fewOfRates = await record(`few_of_rates_${process.pid}`, FEW_OF_RATES, [
    [true, (on) => compareRandomRates(on, 4, CALLS)],
    [true, (on) => compareRandomRates(on, 5, 2 * CALLS)],
  ]);
  const usual = await record(`usual_${process.pid}`, USUAL, [
    [false, compareFixed],
    [false, compareMore],
    [true, compareFixedRates],
    [false, (on) => compareRandom(on, 1, 2 * CALLS, USUAL)],
    [true, (on) => compareRandomRates(on, 1, CALLS)],
  ]);
  const sequences = [...few, ...fewOfRates, ...usual];
  console.log(`${sequences.reduce((sum, { length }) => sum + length, 0)} calls are recorded`);

  const [shard = 0, shards = 1] = (process.env.SHARD ?? '0/1').split('/').map(Number);
  const only = process.env.ONLY?.split(',');
  const lines = process.env.LINES?.split(',').map((line) => `schema.sql:${line}`);
  const functions = functionsOf(original);
  const originals = new Map(functions.map(({ name, text }) => [name, text]));
  const mutants = functions
    .flatMap(sqlMutantsOf)
    .filter((mutant) => (only?.includes(mutant.function) ?? true) && (lines?.includes(mutant.place) ?? true))
    .filter((_, at) => at % shards === shard);
  const by = new Map<string, number>();
  for (const [at, mutant] of mutants.entries()) {
    const line = Number(mutant.place.split(':')[1]);
    const [from = 0, to = 0] = ['-- Rates (rates.lua)', '-- All operations but A, D, T and E'].map(
      (head) => original.slice(0, original.indexOf(head)).split('\n').length,
    );
    // Those sequences come first that tell most.
    const ofRates = line > from && line < to;
    const ordered = sequences.toSorted(
      (one, other) => Number(other.ofRates === ofRates) - Number(one.ofRates === ofRates),
    );
    let told: string = await tell(mutant, ordered, originals);
    const { place, from: old, to: changed, text } = mutant;
    if (told === 'nothing') {
      const reason = EXPLAINED_OF_SQL.find(
        (each) =>
          text.includes(each.text) &&
          (each.from === undefined || old.includes(each.from)) &&
          (each.to === undefined || changed === each.to),
      );
      if (reason) told = 'explained';
      else {
        isOpen = true;
        console.log(`NOT TOLD ${mutant.function} ${place}: ${old} -> ${changed}    in: ${text}`);
      }
    }
    by.set(told, (by.get(told) ?? 0) + 1);
    if (at % 100 === 99) console.log(`${at + 1} of ${mutants.length}: ${JSON.stringify(Object.fromEntries(by))}`);
  }
  console.log(`${mutants.length} mutants: ${JSON.stringify(Object.fromEntries(by))}`);
  for (const { tables } of [few[0], fewOfRates[0], usual[0]] as Sequence[]) {
    await tables.end();
  }
} finally {
  await server?.kill();
}
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
if (isOpen) process.exitCode = 1;
