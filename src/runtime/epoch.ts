/** The time of day. No test that replaces `Date` replaces this clock (src/common/real-clock.ts). */
import { realEpoch } from '../common/real-clock.js';

/** Returns the milliseconds since 1970. */
export const epoch = realEpoch(globalThis.setTimeout);
