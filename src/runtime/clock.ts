/**
 * The clocks and timers of the library are those of the runtime, taken when the library is loaded. A test may later
 * replace the global ones by some that stand still ("fake timers"). The library waits in real time all the same, since
 * other threads do, and since a thread that blocks could not be told that a false clock has moved.
 */
import { host } from '#host';

/** `now` gives milliseconds from a fixed point of time, and never runs backwards. */
export const { now, setTimeout, clearTimeout } = host.clock;

const { now: epoch } = Date;

/** Returns the milliseconds since 1970, modulo 2^32, as the core takes them. */
export function timestamp(): number {
  return epoch() | 0;
}
