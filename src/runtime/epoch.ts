/** The time of day. No test that replaces `Date` replaces this clock (src/real-clock.ts). */
import { realEpoch } from '../real-clock.js';

/** Returns the milliseconds since 1970. */
export const epoch = realEpoch(globalThis.setTimeout);
