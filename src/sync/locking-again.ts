/**
 * How a thread, or a promise of the thread, locks the mutex again after a wait on a condition. The thread becomes the
 * owner again, unless the mutex has been disposed of. Neither `cancelAll` of the mutex nor a full arena prevents this:
 * the thread tries again. No code of the user runs before the thread is the owner.
 */
import type { Core } from '../border/core.js';
import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, CLOSED_OBJECT, CONTENDED, REFUSED } from '../border/numbers.js';
import { enterAsync, type Mutex, report } from '../mutex/mutex.js';
import { type Entered, waitInQueue } from '../mutex/queue.js';
import type { Reference } from '../objects/reference.js';
import { disposedError, isOver, reference } from '../objects/shared-object.js';
import { setTimeout } from '../runtime/clock.js';
import { ArenaFullError, CancelledError } from '../runtime/errors.js';
import { ownWaitsIn } from '../runtime/own-waits.js';
import { forEver, LEFT_AS_ASKED } from '../runtime/parking.js';

/** If there is no room for a request of the thread, the thread tries again after so many milliseconds. */
const PAUSE = 1;

const nothing = (): void => {};

/**
 * Returns the reference of a mutex.
 * @throws {DisposedError} if the mutex has been disposed of.
 */
export function referenceOf(mutex: Mutex): Reference {
  if (mutex[isOver]) throw mutex[disposedError]();
  return mutex[reference];
}

/** How a call to lock the mutex again has ended. */
type Locked = ReturnType<Core['lock']> | Entered;

/** Locks the mutex at this address again for this thread, also if the stack is exhausted. */
export function lockAgain(core: Core, mutex: Mutex, address: number, thread: number): Locked {
  try {
    return waitAgain(core, mutex, address);
  } catch {
    // The stack is exhausted. These calls need no more stack than `hasStack` has found.
    let answer: Locked = REFUSED;
    while (answer !== ANSWER_CLOSED && core.ownerOf(address) !== thread)
      if (core.lock(address) !== ADMITTED) answer = core.tryLock(address);
    return answer;
  }
}

/** Returns ADMITTED or ANSWER_CLOSED, or ANSWER_HELD if the thread is still the owner. */
function waitAgain(core: Core, mutex: Mutex, address: number): Locked {
  let answer: Locked = core.lock(address);
  if (answer === ADMITTED) return answer;
  const own = ownWaitsIn(mutex[reference].membership);
  own.locksAgain = true;
  try {
    while (answer === CONTENDED || answer === LEFT_AS_ASKED || answer === ANSWER_FULL) {
      if (answer === ANSWER_FULL) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
      answer = waitInQueue(mutex[reference], mutex[isOver] ? CLOSED_OBJECT : address, forEver);
    }
    return answer;
  } finally {
    own.locksAgain = false;
  }
}

/** Locks the mutex again without blocking the thread, and then reports the deaths of owners. */
export async function lockAgainAsync(core: Core, mutex: Mutex): Promise<void> {
  let answer: ReturnType<Core['tryLock']>;
  while (true) {
    answer = core.tryLock(referenceOf(mutex).address);
    try {
      if (answer === REFUSED) await mutex[enterAsync](Infinity, undefined, nothing, true);
      if (answer !== ANSWER_FULL) break;
    } catch (error) {
      if (error instanceof ArenaFullError) answer = ANSWER_FULL;
      else if (!(error instanceof CancelledError)) throw error;
    }
    if (answer === ANSWER_FULL) await new Promise<void>((resolve) => setTimeout(resolve, PAUSE));
  }
  reportAgain(core, mutex, answer);
}

/**
 * Reports the deaths of owners to `onOwnerDied`, after the mutex is locked. If this library object has no callback, the
 * next owner is told.
 * @param answer the answer with which the wait for the mutex ended.
 */
export function reportAgain(core: Core, mutex: Mutex, answer: Locked): void {
  if (answer === ANSWER_CLOSED) throw mutex[disposedError]();
  if (mutex.onOwnerDied !== undefined || mutex[isOver]) mutex[report]();
  else {
    const { address } = mutex[reference];
    const deaths = core.ownersDied(address);
    if (deaths > 0) core.restoreOwnerDeaths(address, deaths);
  }
}
