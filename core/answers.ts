/**
 * The answers of the functions that src/ calls. An answer of 0 or more says how the caller goes on. An answer below 0
 * says why the caller cannot go on. Where a number is told in the place of an answer, such as the number of a run or how
 * many promises are settled, it is above 0. Three functions compute answers: answerOf (queue.ts) needs ANSWER_CLOSED one
 * below ADMITTED, takeWord (channel.ts) adds HOLE_MORE to an answer, and arriveAt (phase.ts) adds an index to ARRIVED.
 * Nothing else depends on their order. src/border/ says of each function which answers it gives.
 */

// The call is over:
export const ADMITTED: i32 = 0; // the thread has what it asked for, or nothing is left to do
export const OWNER_DIED: i32 = 1; // beginRead: as ADMITTED, and a writer has died
export const REFUSED: i32 = 2; // tryAcquire, tryLock: not now
export const CANCELLED: i32 = 18; // cancel, cancelRun: the request has left the queue

// Another call must follow:
export const QUEUED: i32 = 3; // acquire: enqueue; enqueue, queue: park or parkFor
export const MORE: i32 = 4; // release: finishRelease; unlock: wakeHead; cancelRun: finishCancelRun
export const INTERRUPTED: i32 = 5; // acquire, release: as QUEUED and MORE, while an earlier call is pending
export const TIMED_OUT: i32 = 6; // parkFor, compete and other sleeps: not yet: the same once more, or one that cancels
export const CONTENDED: i32 = 7; // lock: queue
export const HEAD: i32 = 8; // queue: compete
export const LEAVE: i32 = 9; // park, parkFor, compete: cancel or cancelHead, because askAll has asked the thread to leave
export const MOVE: i32 = 10; // beginRead: the same at another place, because this place is that of another lock
export const BEGUN: i32 = 11; // begin: end, when the thread has done the work

// Of reap:
export const GONE: i32 = 12; // not alive any more
export const REAPED: i32 = 13; // dead from now on
export const STILL_AWAKE: i32 = 14; // not asleep

// Of barriers and channels:
export const NEWS: i32 = 15; // pass: as ADMITTED, and the end of the channel has something to tell
export const ARRIVED: i32 = 16; // arriveAt: and the index of the arrival more
export const CUT_SHORT: i32 = 17; // tryClaim, claim: abandon must follow, because an exception has cut a call short

// The caller cannot go on:
export const ANSWER_CLOSED: i32 = -1; // the object is disposed of, or the channel closed
export const ANSWER_FULL: i32 = -2; // no element, or no record for a thread
export const ANSWER_OVER_MAX: i32 = -3; // more than may be
export const ANSWER_STALE: i32 = -4; // attach: another object has the place
export const ANSWER_WRONG_KIND: i32 = -5; // attach, openName: an object of another kind
export const ANSWER_NOT_FOUND: i32 = -6; // openName: nothing has this name
export const ANSWER_OBJECTS_FULL: i32 = -7; // createObject, openName: no room for another object
export const ANSWER_NOT_HELD: i32 = -8; // releaseRobust: the thread holds fewer; unlock: it does not hold the lock
export const ANSWER_HELD: i32 = -9; // queue: the thread holds the lock already
export const ANSWER_BROKEN: i32 = -10; // of a barrier: somebody has left it
