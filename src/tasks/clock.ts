/**
 * The clock and the timers of the engine. They are taken once, when the library is loaded. A test may replace the
 * global ones by false ones that stand still ("fake timers"), later or before (src/common/real-clock.ts). The classes wait in
 * real time all the same.
 */
import { realNow, realTimers } from '../common/real-clock.js';

const { performance, setTimeout: start, clearTimeout: stop } = globalThis;
export const { setTimeout, clearTimeout } = realTimers(start, stop);

const clock = realNow(performance, start);
// Not two variables of the module: V8 makes an object for each number that such a variable gets, which takes 4 ns.
const LAST = 0;
const PASSED = 1;
const times = Float64Array.of(clock(), 0);

/** Returns the milliseconds since a fixed moment. While the clock of the engine goes back, this clock stands still. */
export function now(): number {
  const time = clock();
  const last = times[LAST] as number;
  if (time > last) (times[PASSED] as number) += time - last;
  times[LAST] = time;
  return times[PASSED] as number;
}
