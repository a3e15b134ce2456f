// The project's targets for a hand-over, computed from one run of the benchmark.

import type { Target } from '../report/targets.js';
import { median } from '../statistics.js';
import { type HandOverResults, lengthOf, sectionsOf, trialsOf } from './results.js';
import { BARE } from './rows.js';

const OVER_BARE = 3;
const CPU_MICROSECONDS = 100;

export function handOverTargets(results: HandOverResults): Target[] {
  const subjects = results.rows.filter(({ family }) => family === 'taketurns').map(({ name }) => name);
  if (subjects.length === 0) return [];
  const target = (what: string, wanted: number, value: (row: string) => number): Target => ({
    what,
    bound: '<=',
    wanted,
    found: new Map(subjects.map((row) => [row, value(row)])),
  });
  return sectionsOf(results).flatMap((section) => {
    if (section.by === 'computing') {
      const latency = (row: string) => median(trialsOf(results, row, section).latencies);
      const what = `from unlock to lock after ${lengthOf(section)} / ${BARE}`;
      return target(what, OVER_BARE, (row) => latency(row) / latency(BARE));
    }
    const cpu = (row: string) => median(trialsOf(results, row, section).cpu ?? []);
    const what = `processor time of a wait of ${lengthOf(section)}, µs`;
    return [
      target(what, CPU_MICROSECONDS, cpu),
      // A thread that has slept finds its caches cold. On some machines even the floor exceeds the target, so the time
      // of the floor is subtracted.
      target(`${what}, beyond ${BARE}`, CPU_MICROSECONDS, (row) => cpu(row) - cpu(BARE)),
    ];
  });
}
