/** TwaLock is the public face of core/papers/twa-lock.ts. */

import { KIND_TWA_LOCK, ON_CHAINS } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make, open } from '../../objects/reference.js';
import { reference } from '../../objects/shared-object.js';
import { checkChoice } from '../../runtime/errors.js';
import { algorithmsOf } from './compiled.js';
import { type Hash, hashed } from './hash.js';
import { prepare, prepareFor, type ThresholdOptions } from './listing.js';
import { type LockOptions, SharedLock } from './lock.js';
import { checkProperties } from './objects.js';

/** The options of a new `TwaLock`. */
export interface TwaLockOptions extends LockOptions, Pick<ThresholdOptions, 'farParks'> {
  /** The LongTermThreshold, 0 to 2,147,483,647, as in a `TwaSemaphore`. Default 1. */
  readonly threshold?: number;
  /**
   * Where waiters wait. Default `'buckets'`.
   *
   * - `'buckets'`: each waiter waits on the word of the bucket of its ticket, as in a `TwaSemaphore`.
   * - `'chains'`: each waiter waits on a word of its own in the chain of its ticket, as in a `ChainSemaphore` that
   *   wakes `'all'`. A thread that uses the lock then borrows a wait element of the arena until the thread ends. The
   *   element counts as one of the `waiters` of the arena.
   */
  readonly waiting?: 'buckets' | 'chains';
  /** The hash of its tickets: it says to which bucket or chain a ticket belongs. Default `'multiplier'`. */
  readonly hash?: Hash;
}

/** A plain, structured-cloneable value to send to another thread, for `TwaLock.from` there. */
export type TwaLockHandle = Handle<'TwaLock'>;

const KIND = 'TwaLock';

const DEFINITION: Definition<typeof KIND, [TwaLockOptions]> = {
  kind: KIND,
  number: KIND_TWA_LOCK,
  properties,
  prepare: (membership, { waiting }) => {
    if (waiting === 'chains') prepare(membership);
  },
};
const DEFAULTS = { spin: 100, threshold: 1, names: ['hash', 'threshold', 'farParks', 'waiting'] };
const WAYS = ['buckets', 'chains'] as const;

/**
 * The ticket lock augmented with a waiting array: first come, first served. It works as a `TwaSemaphore` with one
 * permit, and spreads waiters over the buckets or the chains of the arena. A waiter polls up to `spin` times (default
 * 100) while it is far from its turn, and again up to `spin` times when it is near. Then it parks on its bucket or
 * chain.
 *
 * Source: Dice and Kogan, TWA. Their Semaphores Augmented with a Waiting Array says with Listings 3 and 4 that waiters
 * may stand on chains. In contrast to the source, a waiter that has polled in vain parks.
 *
 * @example
 * ```ts
 * import { TwaLock } from 'taketurns/algorithms';
 *
 * const lock = new TwaLock({ waiting: 'chains' }); // threads share it by lock.handle
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class TwaLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter.
   */
  constructor(options: TwaLockOptions = {}) {
    super(KIND, make(DEFINITION, options), (a) => ({
      lock: a.twaLock,
      tryLock: a.twaTryLock,
      unlock: a.twaUnlock,
      dispose: a.twaLockDispose,
    }));
    const { membership, address } = this[reference];
    if (algorithmsOf(membership).twaIsOnChains(address)) prepareFor(this);
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a TwaLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread, another attachment or another waiter.
   * @example const lock = TwaLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: TwaLockHandle): TwaLock {
    return new TwaLock(find(DEFINITION, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object or to a
   * lock with another `hash` or `waiting`.
   * @throws {ArenaFullError} if the arena has no room for another object, attachment or waiter.
   * @example const lock = TwaLock.open('accounts');
   */
  static open(name: string, options: TwaLockOptions = {}): TwaLock {
    return new TwaLock(open(DEFINITION, name, options));
  }
}

function properties(what: string, options: TwaLockOptions): Properties {
  const checked = hashed(what, checkProperties(what, 1, options, DEFAULTS), options);
  const { waiting = 'buckets' } = options;
  checkChoice(`${what}: waiting`, waiting, WAYS);
  return waiting === 'chains' ? { ...checked, hash: (checked.hash ?? 0) | ON_CHAINS } : checked;
}
