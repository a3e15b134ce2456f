/**
 * What a capacitor does with its shared object: core/algorithms/capacitor.ts, and the FIFO semaphore inside of it,
 * whose functions work on the words of the same object.
 */

import type { Algorithms } from '../border/algorithms.js';
import { ADMITTED, ANSWER_CLOSED, CLOSED_OBJECT, GRANT_HIGH, MORE, QUEUED, REFUSED } from '../border/numbers.js';
import { badType, checkType } from '../errors.js';
import type { Reference } from '../reference.js';
import { algorithmsOf } from './compiled.js';
import { awaitInLane, closeParts, releaseLanes } from './lanes.js';

/** The semaphores of the library that a capacitor can have inside by their names. */
export type InnerName = 'twa' | 'ticket' | 'chain' | 'multilane';

/**
 * A FIFO semaphore of one's own, to have inside of a `Capacitor`. Any thread may give the permits of a platoon back. So
 * a robust `Semaphore`, of which each thread gives back its own, cannot be inside.
 */
export interface InnerSemaphore {
  /**
   * Takes a permit, and blocks the thread until it has it. Those who come first must get it first.
   * @throws what it refuses by its own rules; the error goes through `arrive`.
   */
  acquire(): void;
  /**
   * Gives several permits back. Does not block.
   * @param permits 1 to the size of a platoon.
   * @throws what it refuses by its own rules; the error goes through `depart`.
   */
  release(permits: number): void;
  /**
   * Takes a permit if that needs no waiting; never blocks. Returns whether it has.
   * @throws what it refuses by its own rules; the error goes through `tryArrive`.
   */
  tryAcquire?(): boolean;
}

/** The functions of a semaphore for an object at an address; see the docstrings in core/algorithms/. */
interface Functions {
  /** Returns ADMITTED or ANSWER_CLOSED, or another answer after which `await` must follow. */
  acquire(at: number): number;
  await(at: number): number;
  release(at: number, permits: number): void;
  dispose(at: number): void;
}

const NAMES: readonly InnerName[] = ['twa', 'ticket', 'chain', 'multilane'];

/** @internal */
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
        // chainAcquire has waited.
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
 * The functions around a semaphore of one's own. Threads wait there. Whom it has let in takes a ticket of the capacitor
 * too, which must be due: the semaphore has as many permits as a platoon has threads, and gets them back when grant has
 * been raised. Nobody waits on the capacitor's own words. A thread that finds no ticket due draws none, and gives its
 * permit back, so that a semaphore with too many permits harms nobody but the thread that gets the error.
 *
 * When the capacitor is closed, the waiters come out one by one: each one that is let in finds it closed, and gives
 * the permit to the next. The first permit for that is one more than the semaphore has had. A semaphore that refuses a
 * permit beyond its maximum has all of its permits, so that nobody waits there, and its error is of no interest.
 */
function functionsAround(semaphore: InnerSemaphore, a: Algorithms, words: BigInt64Array<ArrayBufferLike>): Functions {
  // ticket is read before grant. So a thread that has a permit cannot miss its ticket while others draw and depart.
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
    // Draws the ticket of a thread that has a permit, and blocks nobody. It comes again if another has drawn that one.
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

/** @internal */
export class Platoons {
  // These fields are only declared, so that the constructor is the first to set them: see SharedObject.
  declare private readonly algorithms: Algorithms;
  declare private readonly functions: Functions;
  declare private readonly acquire: Functions['acquire'];
  declare private readonly semaphore: InnerSemaphore | undefined;
  declare private readonly disposedAt: Algorithms['isDisposed'];
  /** The memory of the arena, to see without a call whether grant is below 0. */
  declare private readonly words: Int32Array;
  declare private readonly idleAt: Algorithms['capacitorIsIdle'];
  declare private readonly departAt: Algorithms['capacitorDepart'];
  /** The number of threads of a platoon. */
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

  /** Enters if that needs no waiting. Returns ADMITTED, REFUSED or ANSWER_CLOSED. */
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

  /** Leaves; the last of a platoon lets the next one in. Returns whether the thread can have been inside. */
  leave(): boolean {
    const at = this.at;
    if (at === CLOSED_OBJECT) return true;
    const answer = this.departAt(at, this.bypass);
    if (answer === ADMITTED) return true;
    if (answer !== MORE) return false;
    this.functions.release(at, this.bypass);
    return true;
  }

  /** Whether nobody is inside, and it is not closed. */
  get isIdle(): boolean {
    return this.idleAt(this.at, this.bypass) !== 0;
  }

  /**
   * Whether it is closed for newcomers. A plain read is as good as a call of the core, which would cost a thread that
   * goes past a capacitor half as much as the lock: the word changes once, and each call of the inner lock is a fence.
   */
  get isClosed(): boolean {
    return (this.words[(this.at + GRANT_HIGH) >> 2] as number) < 0;
  }

  get isDisposed(): boolean {
    return this.at === CLOSED_OBJECT || this.disposedAt(this.at) !== 0;
  }

  /** Closes it for all threads, and wakes those that wait. Not to be called after `forget`. */
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
