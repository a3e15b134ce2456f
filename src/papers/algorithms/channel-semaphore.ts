/** ChannelSemaphore is the public face of core/papers/channel-semaphore.ts. */

import { ADMITTED, KIND_CHANNEL_SEMAPHORE } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { close, disposedError } from '../../objects/shared-object.js';
import { checkType } from '../../runtime/errors.js';
import { type HashedOptions, hashed } from './hash.js';
import {
  algorithms,
  checkPermits,
  ListingSemaphore,
  objectAt,
  prepare,
  prepareFor,
  type ThresholdOptions,
} from './listing.js';
import { checkProperties } from './objects.js';

/** The options of a new `ChannelSemaphore`. */
export interface ChannelSemaphoreOptions extends HashedOptions, ThresholdOptions {
  /**
   * Whether waiters wait by `keyWaitLazy`. A waiter then does not read the sequence of the channel before each look at
   * grant. Default false: waiters wait by `keyWait`.
   */
  readonly lazy?: boolean;
}

/** A plain, structured-cloneable value to send to another thread, for `ChannelSemaphore.from` there. */
export type ChannelSemaphoreHandle = Handle<'ChannelSemaphore'>;

const KIND = 'ChannelSemaphore';

const DEFINITION: Definition<typeof KIND, [number, ChannelSemaphoreOptions]> = {
  kind: KIND,
  number: KIND_CHANNEL_SEMAPHORE,
  properties,
  prepare: (membership) => prepare(membership),
};
const DEFAULTS = { spin: 100, names: ['hash', 'threshold', 'farParks', 'lazy'] };

/**
 * The semaphore over channels, first come, first served. Each bucket of a waiting array is a channel: it holds a stack
 * of waiters and a sequence number. A release adds one to this number and wakes the stack. A waiter polls a word of its
 * own `spin` times (default 100) and then parks on this word.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 4. A thread that uses the semaphore
 * borrows a wait element of the arena until the thread ends. The element counts as one of the `waiters` of the arena.
 *
 * @example
 * ```ts
 * import { ChannelSemaphore } from 'taketurns/algorithms';
 *
 * const semaphore = new ChannelSemaphore(2, { lazy: true }); // threads share it by semaphore.handle
 * semaphore.acquire();
 * semaphore.release();
 * ```
 */
export class ChannelSemaphore extends ListingSemaphore<typeof KIND> {
  /**
   * @param permits the number available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter.
   */
  constructor(permits: number, options: ChannelSemaphoreOptions = {}) {
    super(KIND, make(DEFINITION, permits, options));
    prepareFor(this);
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a ChannelSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @example const pool = ChannelSemaphore.from(workerData.pool); // its `handle`, sent by the other thread
   */
  static from(handle: ChannelSemaphoreHandle): ChannelSemaphore {
    return new ChannelSemaphore(0, find(DEFINITION, handle));
  }

  /**
   * SemaTake: takes a permit, and blocks the thread until its turn has come.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example pool.acquire();
   */
  acquire(): void {
    if (this[algorithms].channelAcquire(this[objectAt]) !== ADMITTED) throw this[disposedError]();
  }

  /**
   * SemaPost for several permits in one step, with the short-cut of Listing 2: if nobody waits, the call touches no
   * channel. Never blocks. As in the listing, the number of permits has no bound.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @example pool.release(2);
   */
  release(permits = 1): void {
    if (permits !== 1) this[checkPermits](permits);
    this[algorithms].channelRelease(this[objectAt], permits);
  }

  /**
   * SemaPost as in the listing: gives one permit back, and always signals the channel. Never blocks, throws nothing.
   * @example pool.releaseConservative();
   */
  releaseConservative(): void {
    this[algorithms].channelReleaseConservative(this[objectAt]);
  }

  /** @internal */
  protected override [close](): void {
    this[algorithms].channelDispose(this[objectAt]);
  }
}

function properties(what: string, permits: number, options: ChannelSemaphoreOptions): Properties {
  const checked = hashed(what, checkProperties(what, permits, options, DEFAULTS), options);
  const { lazy = false } = options;
  checkType(`${what}: lazy`, lazy, 'boolean', 'true or false');
  return { ...checked, variant: BigInt(Number(lazy)) << 32n };
}
