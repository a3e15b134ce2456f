/**
 * Makes the mutants of the functions of PostgreSQL (sql-mutants.ts), and says which of them another reply, message or row
 * tells: each of them runs the recorded calls (sql-replay.ts) that reach what is changed, and stops at the first difference.
 * A mutant that no call tells must be listed in sql-mutants-explained.ts with the reason. Those that are listed run only
 * `MOST` calls (by default 100) of each of the four recordings.
 *
 * `ONLY=grant_1,turn_1` tries only the mutants of these functions, `LINES=301,315` or `LINES=301-315` only those of these
 * lines of schema.sql, `SHARD=0/4` only every fourth one. `WORKERS` (by default as many as there are processors) is how many
 * mutants run at once. `POSTGRES_URL` names a server that runs already, and keeps the recorded calls for the next run: drop
 * its databases after a change of the calls.
 */
import { availableParallelism } from 'node:os';
import { startPostgres } from '../servers/postgres.js';
import { FEW, USUAL } from './comparing.js';
import { Reasons } from './mutant.js';
import { functionsOf, type SqlMutant, sqlMutantsOf } from './sql-mutants.js';
import { EXPLAINED_OF_SQL } from './sql-mutants-explained.js';
import { type Copy, Recording, recordOwn, type Told } from './sql-replay.js';
import { schemaText } from './tables.js';
import {
  compareFew,
  compareFixed,
  compareFixedRates,
  compareRandom,
  compareRandomRates,
  compareSeldom,
  FEW_OF_RATES,
} from './tables-calls.js';

const CALLS = 600;
/** The first calls tell most mutants. */
const FIRST = 8;
const most = Number(process.env.MOST ?? 100);
const workers = Number(process.env.WORKERS ?? availableParallelism());

const server = process.env.POSTGRES_URL
  ? undefined
  : await startPostgres({
      args: ['-c', 'autovacuum=off', '-c', 'jit=off', '-c', 'shared_buffers=512MB', '-c', 'max_wal_size=8GB'],
    });
const url = process.env.POSTGRES_URL ?? (server?.url as string);
const originals = new Map(functionsOf(schemaText()).map((one) => [one.name, one]));

/** Whether the environment asks for a mutant. */
function isChosen({ function: name, place }: SqlMutant): boolean {
  const line = Number(place.split(':')[1]);
  const only = process.env.ONLY?.split(',');
  const lines = process.env.LINES?.split(',').map((each) => each.split('-').map(Number));
  return (
    (only?.includes(name) ?? true) &&
    (lines?.some(([first = 0, last = first]) => first <= line && line <= last) ?? true)
  );
}

async function tell(
  mutant: SqlMutant,
  recordings: readonly (readonly [recording: Recording, copy: Copy])[],
  limit: number,
): Promise<Told | 'does not compile' | 'nothing'> {
  const original = originals.get(mutant.function)?.text as string;
  const defined: Copy[] = [];
  try {
    for (const [from, to] of [
      [0, FIRST],
      [FIRST, limit],
    ] as const)
      for (const [recording, copy] of recordings) {
        const places = recording.reaching(mutant.statement).slice(from, to);
        if (places.length === 0) continue;
        if (!defined.includes(copy)) {
          defined.push(copy);
          try {
            await copy.define(mutant.source);
          } catch {
            return 'does not compile';
          }
        }
        const told = await copy.try(places, original, mutant.source);
        if (told) return told;
      }
    return 'nothing';
  } finally {
    for (const copy of defined) await copy.define(original);
  }
}

const started = performance.now();
const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;
try {
  const recordings = await Promise.all([
    Recording.make(url, 'fixed', USUAL, [compareFixed, compareSeldom, compareFixedRates, recordOwn]),
    Recording.make(url, 'usual', USUAL, [
      (on) => compareRandom(on, 1, CALLS, USUAL),
      (on) => compareRandomRates(on, 1, CALLS),
    ]),
    Recording.make(url, 'few', FEW, [compareFew, (on) => compareRandom(on, 4, CALLS, FEW)]),
    Recording.make(url, 'few_of_rates', FEW_OF_RATES, [(on) => compareRandomRates(on, 4, CALLS)]),
  ]);
  console.log(`${recordings.reduce((sum, { calls }) => sum + calls.length, 0)} calls are recorded, ${seconds()}`);

  const [shard = 0, shards = 1] = (process.env.SHARD ?? '0/1').split('/').map(Number);
  const mutants = [...originals.values()]
    .flatMap(sqlMutantsOf)
    .filter(isChosen)
    .filter((_, at) => at % shards === shard);
  const reasons = new Reasons(EXPLAINED_OF_SQL);
  const by = new Map<Told | 'does not compile' | 'nothing' | 'explained', number>();
  let next = 0;
  let done = 0;
  const work = async (number: number): Promise<void> => {
    const own = await Promise.all(
      recordings.map(async (recording) => [recording, await recording.copy(number)] as const),
    );
    // The functions themselves do on restored rows what was recorded.
    if (number === 0)
      for (const [{ calls }, copy] of own)
        if (await copy.try(calls, '', '')) throw new Error('a recorded call does something else when it runs again');
    for (let mine = 1; next < mutants.length; mine++) {
      const mutant = mutants[next++] as SqlMutant;
      let told: Told | 'does not compile' | 'nothing' | 'explained' = await tell(
        mutant,
        own,
        reasons.of(mutant) ? most : Number.POSITIVE_INFINITY,
      );
      if (told === 'nothing' && reasons.explains(mutant)) told = 'explained';
      by.set(told, (by.get(told) ?? 0) + 1);
      if (++done % 100 === 0)
        console.log(`${done} of ${mutants.length}: ${JSON.stringify(Object.fromEntries(by))}, ${seconds()}`);
      // Nothing else removes old rows.
      if (mine % 20 === 0) for (const [, { tables }] of own) await tables.clear();
    }
    for (const [, { tables }] of own) await tables.end();
  };
  await Promise.all(Array.from({ length: workers }, (_, number) => work(number)));
  console.log(`${mutants.length} mutants: ${JSON.stringify(Object.fromEntries(by))}`);
  if (by.has('nothing')) process.exitCode = 1;
  if (mutants.length === [...originals.values()].flatMap(sqlMutantsOf).length && reasons.sayUnused() > 0)
    process.exitCode = 1;
} finally {
  await server?.kill();
}
console.log(seconds());
