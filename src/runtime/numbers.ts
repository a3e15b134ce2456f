/**
 * Numbers that several files use. Like src/border/numbers.ts, the file imports nothing, so a bundler can write a number
 * in place of its name. For the same reason, a number that only one file uses stands in the function that uses it.
 */

/** The longest time-out that a timer can have; see `setTimeout`. */
export const LONGEST = 0x7fffffff;
/** Stands for an adaptive number of polls, see core/queue/polling.ts. */
export const ADAPTIVE = -1;
/** The most polls, or looks, that an option can ask for. */
export const MOST_POLLS = 1_000_000;
/** Stands for the number of an attachment if another library object of this thread holds the attachment. */
export const HELD = 0;
/** The slot of an object for which no thread rings. */
export const NO_SLOT = -1;
/** The number of the rest that looks at an object for which no rest is planned. */
export const NO_REST = -1;
/** How waits for a phase have ended, for who measures them: they have blocked the thread, or have failed, or both. */
export const WAIT_BLOCKED = 1;
export const WAIT_FAILED = 2;
/** The most waiters that a description of an object lists. */
export const MOST_LISTED = 100;
/**
 * An answer that the core does not give: a robust semaphore has admitted the thread, which must check for dead owners.
 */
export const CHECK_OWNER_DEATHS = 1;
