/**
 * These are the questions that the queue asks about the kind of an object. kinds/kinds.ts has the functions that answer
 * them, with a table of the answers. The build binds each declaration to its function, and fails if their signatures
 * differ (scripts/bind.mjs). So the queue names no kind, and no two files import each other.
 */

/** Called when the thread has registered. */
export declare function threadBegins(): void;

/** Called when the thread frees its record. */
export declare function threadEnds(): void;

/**
 * Whether a request that the queue admits becomes the head. The head still competes with barging threads for the lock.
 */
export declare function hasHead(o: usize): bool;

/** Returns ADMITTED if an object with a head has room for another waiter, ANSWER_CLOSED or ANSWER_FULL. */
export declare function mayQueue(o: usize): i32;

/** Counts a request for an object with a head, in the uninterruptible section that takes its ticket (R8). */
export declare function countWaiter(o: usize): void;

/** Called when a request of this thread is admitted and its wait in the queue is over. */
export declare function admitted(o: usize, attachment: i32): void;

/** Counts so many cancelled requests, in the uninterruptible section that settles their tickets (R2). */
export declare function cancelled(o: usize, requests: i64): void;

/**
 * Counts requests of a dead or ending thread, which have so many tickets in all, as cancelled. This too happens in R2.
 */
export declare function cancelledByDeath(o: usize, tickets: i64): void;

/** Ends the wait of this thread, which is the head by this attachment. The thread does not get the lock. */
export declare function abandonHead(o: usize, attachment: i32): void;

/** Wakes the head of an object whose lock this thread has given back, if the head sleeps. */
export declare function finishUnlock(o: usize): void;

/**
 * Cancels the interrupted request of this thread that has this element, if otherwise the requests behind it could not
 * go on.
 */
export declare function abandonRequest(e: usize): void;
