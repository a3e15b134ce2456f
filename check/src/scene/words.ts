/**
 * The numbers that a scene and its operations share: kinds of choice, and the words that the driver keeps for
 * each thread beside the machine.
 */
// What a choice lets a thread do; a choice is thread * CHOICES + kind.
export const STEP = 0;
export const TIME_OUT = 1;
export const KILL = 2;
export const CHOICES = 3;

// A thread's own words in the driver.
export const OP = 0;
export const PHASE = 1;
export const HOST = 2; // an access of the host side is pending: which
export const HOST_ADDRESS = 3;
export const HOST_VALUE = 4;
export const RESULT = 5; // of the last host access
export const GOT = 6; // permits that the next release gives back, of each semaphore
export const LISTENING = 8; // whether a waitAsync is pending
export const RUNG = 9; // the doorbell when it was listened to
export const READY = 10; // continuations to run, see ops.ts
export const QUEUE = 11; // promises waiting: how many
export const REST_DUE = 12; // whether the event loop is to enter a run: 1, or 2 when it is at that
export const GIVING = 13; // what the next access gives back
export const TAKEN = 14; // the ticket that the thread took last: low, high
export const LOCAL = 16; // five words for ops
export const MARKED = 21; // terminated in its sleep, in which it is left; see scene.ts
export const BEGUN = 22; // whether it has begun, if others do the same; see scene.ts
export const PROMISES = 23; // four words each: run, width, ticket (low, high)
export const MOST_PROMISES = 4;
export const WORDS = PROMISES + 4 * MOST_PROMISES;
