/**
 * Measures what the short-cut of Listing 2 spares when nobody waits: many releases in a row, with the short-cut and
 * without it (`releaseConservative`). Without it, each release writes the next slot of the waiting array. Prints the
 * nanoseconds of a release: the median of 11 runs, and least and most.
 */
import { cpus, loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { TwaSemaphore } from '../../dist/papers/algorithms/index.js';

const RUNS = 11;
const RELEASES = 2_000_000;

const semaphore = new TwaSemaphore(0);
const ways = {
  release: () => {
    for (let i = 0; i < RELEASES; i++) semaphore.release();
  },
  releaseConservative: () => {
    for (let i = 0; i < RELEASES; i++) semaphore.releaseConservative();
  },
};
const found = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
for (let run = -2; run < RUNS; run++) {
  for (const [name, way] of Object.entries(ways)) {
    const begun = performance.now();
    way();
    // The first runs only warm up.
    if (run >= 0) found[name].push(((performance.now() - begun) * 1e6) / RELEASES);
  }
}
console.log(`${cpus()[0].model}, Node ${process.version}, load ${loadavg()[0].toFixed(1)}`);
for (const [name, all] of Object.entries(found)) {
  const sorted = all.toSorted((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[RUNS >> 1], sorted[RUNS - 1]].map((ns) => ns.toFixed(2));
  console.log(`${name}: ${median} ns (${least} to ${most})`);
}
