/**
 * The library takes the clocks and timers of the runtime when it is loaded. A test may later replace the global clocks
 * and timers by false ones that stand still ("fake timers"), or may have replaced them before (src/common/real-clock.ts). The
 * library waits in real time all the same. Other threads wait in real time, too, and nobody could tell a blocked thread
 * that a false clock has moved.
 */
import { host } from '#host';
import { epoch } from './epoch.js';

/** `now` gives the milliseconds since a fixed moment, and never runs backwards. */
export const { now, setTimeout, clearTimeout } = host.clock;

/** Returns the milliseconds since 1970, modulo 2^32. The core takes them in this form. */
export function timestamp(): number {
  return epoch() | 0;
}
