/**
 * Platoons is a capacitor as one thread sees it: it lets threads through in platoons. It joins two things: the counter
 * of departures (core/papers/capacitor.ts) and the FIFO semaphore inside the capacitor, in which threads wait.
 *
 *     enter ──► acquire of the semaphore ──► inside ──► leave ──► departed += 1
 *                      ▲                                             │
 *                      └──── release of a whole platoon ◄── the last of the platoon
 *
 * A semaphore of the library works on the words of the capacitor's own object. So it needs no object of its own, except
 * for its lanes. A semaphore of the user has its own object (functionsAround).
 */

import type { Algorithms } from '../../border/algorithms.js';
import { ADMITTED, ANSWER_CLOSED, CLOSED_OBJECT, GRANT_HIGH, MORE, QUEUED, REFUSED } from '../../border/numbers.js';
import type { Reference } from '../../objects/reference.js';
import { badType, checkType } from '../../runtime/errors.js';
import { algorithmsOf } from './compiled.js';
import { awaitInLane, closeParts, releaseLanes } from './lanes.js';

/** The names of the library's semaphores that a capacitor can have inside. */
export type InnerName = 'twa' | 'ticket' | 'chain' | 'multilane';

/**
 * A semaphore of your own, for the inside of a `Capacitor`. It is first come, first served, or first in, first enabled.
 * The last thread of a platoon gives back the permits of the whole platoon. So a robust `Semaphore` cannot be inside:
 * there each thread gives back only its own permits.
 */
export interface InnerSemaphore {
  /**
   * Takes a permit, and blocks the thread until the thread has the permit. Threads that come first must get a permit
   * first: when a thread gets in, every thread that came before has its permit, or can take it without waiting.
   * @throws if the semaphore refuses, by its own rules. `arrive` passes the error on.
   */
  acquire(): void;
  /**
   * Gives several permits back. Does not block.
   * @param permits 1 to the size of a platoon.
   * @throws if the semaphore refuses, by its own rules. `depart` passes the error on.
   */
  release(permits: number): void;
  /**
   * Takes a permit if the thread need not wait for one. Never blocks.
   * @returns whether it has taken a permit.
   * @throws if the semaphore refuses, by its own rules. `tryArrive` passes the error on.
   */
  tryAcquire?(): boolean;
}

/** The functions of a semaphore. The object is at the address `at`. See the docstrings in core/papers/. */
interface Functions {
  /** Returns ADMITTED, ANSWER_CLOSED, or another answer. After another answer `await` must follow. */
  acquire(at: number): number;
  /** The rest of `acquire`: waits until the thread is admitted. Returns ADMITTED or ANSWER_CLOSED. */
  await(at: number): number;
  release(at: number, permits: number): void;
  dispose(at: number): void;
}

const NAMES: readonly InnerName[] = ['twa', 'ticket', 'chain', 'multilane'];

/** @internal Checks that a value is the name of a semaphore of the library, or a semaphore that may be inside. */
export function checkInner(what: string, semaphore: InnerName | InnerSemaphore): void {
  if (typeof semaphore === 'string' || semaphore === null || typeof semaphore !== 'object') {
    if (NAMES.includes(semaphore as InnerName)) return;
    throw badType(what, `${NAMES.map((name) => `'${name}'`).join(', ')} or a semaphore of your own`, semaphore);
  }
  for (const name of ['acquire', 'release'] as const)
    checkType(`${what}: ${name}`, semaphore[name], 'function', 'a function');
  if ((semaphore as { readonly robust?: unknown }).robust === true)
    throw new TypeError(`${what} must not be robust: the last of a platoon gives back the permits of other threads`);
}

/** Returns the functions of a semaphore of the library. */
function functionsOf(a: Algorithms, name: InnerName, lanes: readonly Reference[]): Functions {
  switch (name) {
    case 'twa':
      return {
        acquire: a.twaAcquire,
        await: a.twaAwait,
        release: (at, permits) => {
          if (a.twaRelease(at, permits) === MORE) a.twaPost(at);
        },
        dispose: a.twaDispose,
      };
    case 'chain':
      return {
        acquire: a.chainAcquire,
        // chainAcquire itself waits, and returns ADMITTED or ANSWER_CLOSED, so `await` never follows.
        await: () => ANSWER_CLOSED,
        release: a.chainRelease,
        dispose: a.chainDispose,
      };
    case 'multilane':
      return {
        acquire: a.ticketAcquire,
        await: () => awaitInLane(a, lanes),
        release: (at, permits) => releaseLanes(a, at, permits, lanes),
        dispose: (at) => closeParts(a, at, lanes),
      };
    case 'ticket':
      return {
        acquire: a.ticketAcquire,
        await: a.ticketAwait,
        release: (at, permits) => {
          if (a.ticketRelease(at, permits) === MORE) a.ticketPost(at);
        },
        dispose: a.ticketDispose,
      };
  }
}

/**
 * Returns the functions of a capacitor around a semaphore of the user. Threads wait only in this semaphore, and never
 * on the capacitor's own words. A thread that has a permit of the semaphore also takes a ticket of the capacitor, so
 * that the capacitor can count who is inside.
 *
 * This ticket is due at once if the semaphore has as many permits as a platoon has threads: a release first raises
 * grant and then gives the permits back. If the semaphore has more permits, a thread may find no ticket that is due.
 * Then the thread takes no ticket, gives its permit back and gets an error. No other thread is harmed.
 *
 * When the capacitor is closed, the waiters leave the semaphore one by one. Dispose gives the semaphore one permit more
 * than it had. The waiter that gets this permit finds the capacitor closed, and gives the permit to the next waiter. A
 * semaphore may refuse this permit because it has its maximum of permits. Then all permits are free, so nobody waits
 * there, and the error is ignored.
 */
function functionsAround(semaphore: InnerSemaphore, a: Algorithms, words: BigInt64Array<ArrayBufferLike>): Functions {
  // Whether a ticket is due. The word ticket is read before grant: if a platoon arrives and departs between the two
  // reads, the answer is true rather than false, and the thread tries again.
  const isDue = (at: number) => Atomics.load(words, at >> 3) < Atomics.load(words, (at + GRANT_HIGH) >> 3);
  const giveBack = (at: number, permits: number) => {
    try {
      semaphore.release(permits);
    } catch (error) {
      if (!a.isDisposed(at)) throw error;
    }
  };
  return {
    acquire: () => {
      semaphore.acquire();
      return QUEUED;
    },
    // Takes a ticket for a thread that has a permit, and never blocks. If another thread takes the same ticket first,
    // the thread tries the next ticket.
    await: (at) => {
      let answer = a.takeIfDue(at);
      while (answer === REFUSED && isDue(at)) answer = a.takeIfDue(at);
      if (answer === ADMITTED) return ADMITTED;
      giveBack(at, 1);
      if (answer === ANSWER_CLOSED || a.isDisposed(at)) return ANSWER_CLOSED;
      throw new Error(
        'Capacitor: the semaphore inside has let in more threads than a platoon has: it must have as many permits',
      );
    },
    release: (at, permits) => {
      a.ticketRelease(at, permits);
      giveBack(at, permits);
    },
    dispose: (at) => {
      const isFirst = !a.isDisposed(at);
      a.ticketDispose(at);
      if (isFirst) giveBack(at, 1);
    },
  };
}

/** @internal The functions of a capacitor, or of one lane of a capacitor with lanes at random. */
export class Platoons {
  // These fields are only declared, so that the constructor is the first to set them: see SharedObject.
  declare private readonly algorithms: Algorithms;
  declare private readonly functions: Functions;
  declare private readonly acquire: Functions['acquire'];
  declare private readonly semaphore: InnerSemaphore | undefined;
  declare private readonly disposedAt: Algorithms['isDisposed'];
  /** The memory of the arena. isClosed reads grant there without a call of the core. */
  declare private readonly words: Int32Array;
  declare private readonly idleAt: Algorithms['capacitorIsIdle'];
  declare private readonly departAt: Algorithms['capacitorDepart'];
  /** The number of threads in a platoon. */
  declare readonly bypass: number;
  /** The address of the shared object, or of the closed one after `forget`. */
  declare private at: number;

  constructor({ membership, address }: Reference, semaphore: InnerName | InnerSemaphore, lanes: readonly Reference[]) {
    const { core } = membership;
    this.algorithms = algorithmsOf(membership);
    this.disposedAt = this.algorithms.isDisposed;
    this.words = new Int32Array(membership.memory.buffer);
    this.idleAt = this.algorithms.capacitorIsIdle;
    this.departAt = this.algorithms.capacitorDepart;
    if (typeof semaphore === 'string') {
      this.functions = functionsOf(this.algorithms, semaphore, lanes);
      this.semaphore = undefined;
    } else {
      this.functions = functionsAround(semaphore, this.algorithms, new BigInt64Array(membership.memory.buffer));
      this.semaphore = semaphore;
    }
    this.acquire = this.functions.acquire;
    this.at = address;
    this.bypass = core.maxOf(address);
  }

  /** Blocks until a platoon takes the thread in. Returns ADMITTED or ANSWER_CLOSED. */
  enter(): number {
    const at = this.at;
    if (at === CLOSED_OBJECT) return ANSWER_CLOSED;
    const answer = this.acquire(at);
    return answer === ADMITTED || answer === ANSWER_CLOSED ? answer : this.functions.await(at);
  }

  /** Enters if the thread need not wait. Returns ADMITTED, REFUSED or ANSWER_CLOSED. */
  tryEnter(): number {
    const at = this.at;
    if (at === CLOSED_OBJECT) return ANSWER_CLOSED;
    const semaphore = this.semaphore;
    if (semaphore === undefined) return this.algorithms.takeIfDue(at);
    if (typeof semaphore.tryAcquire !== 'function')
      throw new TypeError('Capacitor.tryArrive: the semaphore inside has no function tryAcquire');
    if (this.isDisposed) return ANSWER_CLOSED;
    return semaphore.tryAcquire() ? this.functions.await(at) : REFUSED;
  }

  /** Leaves. The last thread of a platoon lets the next platoon in. Returns whether the thread can have been inside. */
  leave(): boolean {
    const at = this.at;
    if (at === CLOSED_OBJECT) return true;
    const answer = this.departAt(at, this.bypass);
    if (answer === ADMITTED) return true;
    if (answer !== MORE) return false;
    this.functions.release(at, this.bypass);
    return true;
  }

  /** Whether nobody is inside, and the capacitor is not closed. */
  get isIdle(): boolean {
    return this.idleAt(this.at, this.bypass) !== 0;
  }

  /**
   * Whether the capacitor is closed for newcomers. A plain read of grant suffices, because grant falls below 0 only
   * once, and each call of the inner lock is a fence. A call of the core would cost a thread that goes past the
   * capacitor half as much as the inner lock costs.
   */
  get isClosed(): boolean {
    return (this.words[(this.at + GRANT_HIGH) >> 2] as number) < 0;
  }

  get isDisposed(): boolean {
    return this.at === CLOSED_OBJECT || this.disposedAt(this.at) !== 0;
  }

  /** Closes the capacitor for all threads, and wakes the waiters. Must not be called after `forget`. */
  close(): void {
    this.functions.dispose(this.at);
  }

  get isForgotten(): boolean {
    return this.at === CLOSED_OBJECT;
  }

  forget(): void {
    this.at = CLOSED_OBJECT;
  }
}
