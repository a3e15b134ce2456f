// Runs as a process of its own for one row and one run. Prints the result as JSON: {"nanoseconds": x}, the time of an
// operation.
//
//   program.js ROW SECONDS

import { TASKS_ROWS } from './rows.js';

/** An interval is a few loops of so many operations, at least one. */
const STEP = 2000;

const [name = '', seconds = '1'] = process.argv.slice(2);
const row = TASKS_ROWS.find((one) => one.name === name);
if (row === undefined) throw new Error(`no row of tasks is called ${name}`);
const loop = row.make();

/** Runs the loop for so many milliseconds. Returns the nanoseconds of an operation. */
async function run(milliseconds: number): Promise<number> {
  const begun = performance.now();
  let operations = 0;
  let passed = 0;
  do {
    await loop(STEP);
    operations += STEP;
    passed = performance.now() - begun;
  } while (passed < milliseconds);
  return (passed * 1e6) / operations;
}

await run(Number(seconds) * 1000);
console.log(JSON.stringify({ nanoseconds: await run(Number(seconds) * 1000) }));
process.exit();
