/**
 * The answers of the functions that src/ calls. An answer of 0 or more says how the caller goes on. An answer below 0
 * says why the caller cannot go on. Where a number is told in the place of an answer, such as the number of a run or how
 * many promises are settled, it is above 0. Two functions compute answers: answerOf (queue.ts) needs ANSWER_CLOSED one
 * below ADMITTED, and takeWord (channel.ts) adds HOLE_MORE to an answer. Nothing else depends on their order.
 */
export const ADMITTED: i32 = 0;
export const OWNER_DIED: i32 = 1; // beginRead: as ADMITTED, and a writer has died
export const REFUSED: i32 = 2; // tryAcquire: not now; cancel: it is cancelled
export const QUEUED: i32 = 3; // acquire: enqueue must follow; enqueue: park must follow
export const MORE: i32 = 4; // release: finishRelease must follow
export const INTERRUPTED: i32 = 5; // acquire and release: as QUEUED and MORE, while an earlier call is pending
export const TIMED_OUT: i32 = 6; // parkFor: not yet
export const BEGUN: i32 = 11; // begin: the thread is the one to do it
export const CONTENDED: i32 = 7; // lock: queue must follow
export const HEAD: i32 = 8; // queue: compete must follow
export const LEAVE: i32 = 9; // park, parkFor, compete: askAll has asked the thread to leave
export const MOVE: i32 = 10; // beginRead: the place is that of another lock
export const NEWS: i32 = 15; // pass: as ADMITTED, and the end of the channel has something to tell
export const CUT_SHORT: i32 = 17; // tryClaim, claim: an exception has cut a call of a channel short, and abandon must follow
export const ARRIVED: i32 = 16; // arriveAt: and the index of the arrival more

// Of reap:
export const GONE: i32 = 12; // reap: not alive any more
export const REAPED: i32 = 13; // reap: dead from now on
export const STILL_AWAKE: i32 = 14; // reap: not asleep

export const ANSWER_CLOSED: i32 = -1;
export const ANSWER_FULL: i32 = -2; // no element, or no record for a thread
export const ANSWER_OVER_MAX: i32 = -3;
export const ANSWER_STALE: i32 = -4;
export const ANSWER_WRONG_KIND: i32 = -5;
export const ANSWER_NOT_FOUND: i32 = -6;
export const ANSWER_OBJECTS_FULL: i32 = -9; // createObject and openName: no room for another object
export const ANSWER_NOT_HELD: i32 = -10; // releaseRobust: the thread holds fewer; unlock: it does not hold the lock
export const ANSWER_HELD: i32 = -11; // queue: the thread holds the lock already
export const ANSWER_BROKEN: i32 = -12; // of a barrier: somebody has left it
