/** ChainSemaphore is the public face of core/papers/chain-semaphore.ts. */

import { ADMITTED, KIND_CHAIN_SEMAPHORE } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { close, disposedError } from '../../objects/shared-object.js';
import { checkChoice, checkInteger } from '../../runtime/errors.js';
import { MOST_POLLS } from '../../runtime/numbers.js';
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

/** The options of a new `ChainSemaphore`. */
export interface ChainSemaphoreOptions extends HashedOptions, ThresholdOptions {
  /**
   * How the waiters of a chain are woken. A chain has one waiter unless tickets collide. Default `'pass'`.
   *
   * - `'all'`: as in the listing, each waiter wakes the one below it, and each reads the grant of the semaphore.
   * - `'pass'`: the same, but the waiters pass the grant along. If the passed grant proves a waiter's turn, the waiter
   *   need not read the grant of the semaphore.
   * - `'due'`: the releasing thread evaluates the conditions of the waiters, and wakes only those whose turn has come.
   */
  readonly wake?: 'all' | 'pass' | 'due';
  /**
   * How often a waiter looks at grant again, with a pause between, before it enters its chain: 0 to 1,000,000. All
   * such waiters poll one word, so this option pays only if turns come within a moment of each other. Default 0.
   */
  readonly look?: number;
}

/** A plain, structured-cloneable value to send to another thread, for `ChainSemaphore.from` there. */
export type ChainSemaphoreHandle = Handle<'ChainSemaphore'>;

const KIND = 'ChainSemaphore';

const DEFINITION: Definition<typeof KIND, [number, ChainSemaphoreOptions]> = {
  kind: KIND,
  number: KIND_CHAIN_SEMAPHORE,
  properties,
  prepare: (membership) => prepare(membership),
};
const DEFAULTS = { spin: 100, names: ['hash', 'threshold', 'farParks', 'wake', 'look'] };
/** WAKE_ALL, WAKE_PASS and WAKE_DUE of core/papers/words.ts. */
const WAKES = ['all', 'pass', 'due'] as const;

/**
 * The semaphore with waiting chains, first come, first served. Each bucket of a waiting array holds a stack of
 * waiters, and each waiter has a word of its own to wait on. A waiter polls this word `spin` times (default 100) and
 * then parks on it. A release wakes the threads on the chains of the tickets whose turn has come.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 3, and the two refinements that its text
 * names. A thread that uses the semaphore borrows a wait element of the arena until the thread ends. The element counts
 * as one of the `waiters` of the arena.
 *
 * @example
 * ```ts
 * import { ChainSemaphore } from 'taketurns/algorithms';
 *
 * const semaphore = new ChainSemaphore(2, { wake: 'pass' }); // threads share it by semaphore.handle
 * semaphore.acquire();
 * semaphore.release();
 * ```
 */
export class ChainSemaphore extends ListingSemaphore<typeof KIND> {
  /**
   * @param permits the number available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter.
   */
  constructor(permits: number, options: ChainSemaphoreOptions = {}) {
    super(KIND, make(DEFINITION, permits, options));
    prepareFor(this);
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a ChainSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @example const pool = ChainSemaphore.from(workerData.pool); // its `handle`, sent by the other thread
   */
  static from(handle: ChainSemaphoreHandle): ChainSemaphore {
    return new ChainSemaphore(0, find(DEFINITION, handle));
  }

  /**
   * SemaTake: takes a permit, and blocks the thread until its turn has come.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example pool.acquire();
   */
  acquire(): void {
    if (this[algorithms].chainAcquire(this[objectAt]) !== ADMITTED) throw this[disposedError]();
  }

  /**
   * SemaPost for several permits in one step, with the short-cut of Listing 2: without waiters it touches no chain.
   * Never blocks. As in the listing, the number of permits has no bound.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @example pool.release(2);
   */
  release(permits = 1): void {
    if (permits !== 1) this[checkPermits](permits);
    this[algorithms].chainRelease(this[objectAt], permits);
  }

  /**
   * SemaPost as in the listing: one permit. It always exchanges the head of the chain. Never blocks, throws nothing.
   * @example pool.releaseConservative();
   */
  releaseConservative(): void {
    this[algorithms].chainReleaseConservative(this[objectAt]);
  }

  /** @internal */
  protected override [close](): void {
    this[algorithms].chainDispose(this[objectAt]);
  }
}

function properties(what: string, permits: number, options: ChainSemaphoreOptions): Properties {
  const checked = hashed(what, checkProperties(what, permits, options, DEFAULTS), options);
  const { wake = 'pass', look = 0 } = options;
  checkChoice(`${what}: wake`, wake, WAKES);
  checkInteger(`${what}: look`, look, 0, MOST_POLLS);
  const variant = BigInt(WAKES.indexOf(wake)) | (BigInt(look) << 32n);
  return { ...checked, variant };
}
