// Runs as a process of its own for one operation, and prints a line of JSON for each size as soon as it is measured:
// {"n": n, "milliseconds": x}. No size is more than MOST. The time is the processor time of all threads of the process.
//
//   program.js OPERATION MOST

import { median } from 'simple-statistics';
import { type Case, caseOf } from './cases.js';
import type { Point } from './results.js';

/** A size is measured again and again, until MOST_RUNS runs were made or ENOUGH_MS milliseconds have passed. */
const MOST_RUNS = 9;
const ENOUGH_MS = 400;

const collect = (globalThis as { gc?: () => void }).gc ?? (() => {});

async function once(operation: Case, n: number): Promise<number> {
  const { run, end } = await operation.prepare(n);
  collect();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  await end?.();
  return (user + system) / 1000;
}

try {
  const operation = caseOf(process.argv[2] ?? '');
  const most = Number(process.argv[3]);
  const [least = 1, middle = 1] = operation.sizes;
  // These runs are not measured: in them the runtime compiles the code.
  for (const n of [least, middle, middle]) await once(operation, n);
  for (const n of new Set(operation.sizes.map((size) => Math.min(size, most)))) {
    const times: number[] = [];
    for (const end = performance.now() + ENOUGH_MS; times.length < MOST_RUNS; ) {
      times.push(await once(operation, n));
      if (performance.now() > end) break;
    }
    const point: Point = { n, milliseconds: median(times) };
    console.log(JSON.stringify(point));
  }
  process.exit();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
