/**
 * Compares the function of PostgreSQL with the script, call by call (tables-compared.ts), on a server that it starts: the fixed
 * sequences, and then random calls of so many seeds: `node build/processes/check/tables-cli.js [calls] [seeds] [first seed]`,
 * by default 2,000 calls of each of 4 seeds. Half of the calls are on rates. `POSTGRES_URL` names a server that runs
 * already.
 */
import { startPostgres } from '../servers/postgres.js';
import { FEW, USUAL } from './comparing.js';
import { schemaText, Tables } from './tables.js';
import {
  compareFew,
  compareFixed,
  compareFixedRates,
  compareRandom,
  compareRandomRates,
  compareSeldom,
  FEW_OF_RATES,
} from './tables-calls.js';
import { ComparingTables } from './tables-compared.js';

const [calls = 2000, seeds = 4, first = 1] = process.argv.slice(2).map(Number);
const server = process.env.POSTGRES_URL ? undefined : await startPostgres();
const url = process.env.POSTGRES_URL ?? (server?.url as string);
const started = performance.now();
let compared = 0;
try {
  for (const [name, constants] of Object.entries({ usual: USUAL, few: FEW, few_of_rates: FEW_OF_RATES })) {
    const tables = await Tables.make(url, `check_${name}_${process.pid}`, schemaText(), constants);
    const on = new ComparingTables(tables, constants);
    const run = async (what: string, compare: () => Promise<void>): Promise<void> => {
      if (on.difference) return;
      await compare();
      console.log(`${what}, ${name}: ${on.difference ?? 'the same'}`);
    };
    if (name === 'usual') {
      await run('fixed sequence', () => compareFixed(on));
      await run('what calls seldom hit', () => compareSeldom(on));
      await run('fixed sequence of rates', () => compareFixedRates(on));
    }
    if (name === 'few') await run('fixed sequence', () => compareFew(on));
    for (let seed = first; seed < first + seeds; seed++) {
      if (name !== 'few_of_rates') await run(`seed ${seed}`, () => compareRandom(on, seed, calls, constants));
      if (name !== 'few') await run(`seed ${seed}, rates`, () => compareRandomRates(on, seed, calls));
    }
    compared += on.compared;
    if (on.difference) process.exitCode = 1;
    await tables.end();
  }
} finally {
  await server?.kill();
}
console.log(`${compared} calls compared in ${((performance.now() - started) / 1000).toFixed(0)} s`);
