/**
 * Measures how long the simulation of the library takes to find each fault of simulate/src/faults.ts: the seconds of
 * processor time of several searches, each from another seed. Then it measures the speed on the library without a
 * fault. With these figures one can judge a change of how programs and schedules are drawn.
 *
 *     node simulate/time-to-find.mjs [searches]
 *
 * Exits with 1 if a search does not find its fault.
 */
import { faults } from './dist/faults.js';
import { search } from './dist/search.js';

const SEARCHES = Number(process.argv[2] ?? 10);
const MOST_RUNS = 60_000;
const CLEAN_RUNS = 20_000;

function seconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const all = [];
for (const [name, { patches, kinds }] of Object.entries(faults)) {
  const times = [];
  for (let i = 1; i <= SEARCHES; i++) {
    const begun = seconds();
    const { found } = await search(patches, { seed: 1_000_000 * i, runs: MOST_RUNS, kinds });
    times.push(seconds() - begun);
    if (found === undefined) {
      process.exitCode = 1;
      console.log(`${name}: a search of ${MOST_RUNS} runs has not found it`);
    }
  }
  all.push(...times);
  console.log(`${name}: ${times.map((time) => time.toFixed(2)).join(' ')}`);
}
const mean = Math.exp(all.reduce((sum, time) => sum + Math.log(time), 0) / all.length);
const total = all.reduce((sum, time) => sum + time, 0);
console.log(`geometric mean ${mean.toFixed(3)} s, total ${total.toFixed(1)} s, most ${Math.max(...all).toFixed(2)} s`);

const begun = seconds();
const { runs, steps } = await search([], { seed: 5, runs: CLEAN_RUNS });
const time = seconds() - begun;
console.log(
  `without a fault: ${Math.round(runs / time)} programs and ${Math.round(steps / time)} steps a second, ` +
    `${Math.round(steps / runs)} steps a program`,
);
