/**
 * Measures what one look of the reporter costs: `node bench/programs/look-cost.mjs`. For each row, an arena has so many
 * named objects and waiting promises. Prints the median of 50 looks for deadlocks, and of 50 whole reports, in
 * milliseconds.
 */
import { performance } from 'node:perf_hooks';
import { Arena, Semaphore } from '../../dist/index.js';
import { deadlocks, report } from '../../dist/report/index.js';

const TIMES = 50;
const ROWS = [
  [10, 0],
  [1000, 0],
  [60_000, 0],
  [1000, 100],
  [60_000, 100],
  [10, 100_000],
];

function median(run) {
  const times = [];
  for (let i = 0; i < TIMES; i++) {
    const begun = performance.now();
    run();
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[TIMES / 2].toFixed(2);
}

console.log('objects  waiting  look, ms  report, ms');
for (const [count, waiting] of ROWS) {
  const arena = new Arena({ objects: 65_536, waiters: 300_000 });
  const objects = Array.from({ length: count }, (_, i) => Semaphore.open(`object number ${i}`, 0, { arena }));
  const { signal } = new AbortController();
  const waits = Array.from({ length: waiting }, (_, i) => objects[i % count].acquireAsync(1, { signal }));
  const row = [median(() => deadlocks(arena)), median(() => report(arena))];
  console.log(`${count}`.padStart(7), `${waiting}`.padStart(8), ...row.map((text) => text.padStart(9)));
  for (const object of objects) object.dispose();
  await Promise.allSettled(waits);
  arena.dispose();
}
