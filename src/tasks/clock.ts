/**
 * The clock and the timers of the engine. They are taken once, when the library is loaded. A test may later replace
 * the global ones by false ones that stand still ("fake timers"). The classes wait in real time all the same. A test
 * that has replaced them before the load makes the classes wait by its own clock.
 */
const { performance, setTimeout: setTimer, clearTimeout: clearTimer } = globalThis;
export const setTimeout: (run: () => void, milliseconds: number) => unknown = setTimer;
export const clearTimeout: (timer: never) => void = clearTimer;

const clock = performance ? performance.now.bind(performance) : Date.now;
let last = clock();
let passed = 0;

/** Returns the milliseconds since a fixed moment. While the clock of the engine goes back, this clock stands still. */
export function now(): number {
  const time = clock();
  if (time > last) passed += time - last;
  last = time;
  return passed;
}
