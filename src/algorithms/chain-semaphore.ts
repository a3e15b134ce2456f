/** ChainSemaphore: the public face of core/algorithms/chain-semaphore.ts. */
import { attachmentOf } from '../arena.js';
import { ADMITTED } from '../engine/core.js';
import { type Handle, Reference } from '../engine/shared-object.js';
import { checkChoice } from '../errors.js';
import { type HashedOptions, hashed } from './hash.js';
import { ListingSemaphore, prepare } from './listing.js';
import { find, make } from './objects.js';
import { checkProperties } from './properties.js';

/** What may be said of a new `ChainSemaphore`. */
export interface ChainSemaphoreOptions extends HashedOptions {
  /**
   * How the waiters of a chain are woken, of which there is one unless tickets collide. Default `'pass'`.
   *
   * - `'all'`: as in the listing, all of them, each by the one above it; each reads the semaphore's grant.
   * - `'pass'`: the same, but the grant is passed along, so that a waiter whose turn it proves need not read it.
   * - `'due'`: whoever releases evaluates the waiters' conditions, and wakes only those whose turn has come.
   */
  readonly wake?: 'all' | 'pass' | 'due';
}

/** What to send to another thread, for `ChainSemaphore.from` there: plain and structured-cloneable. */
export type ChainSemaphoreHandle = Handle<'ChainSemaphore'>;

const KIND = 'ChainSemaphore';
const DEFAULTS = { spin: 100 };
/** WAKE_ALL, WAKE_PASS and WAKE_DUE of core/memory/layout.ts. */
const WAKES = ['all', 'pass', 'due'] as const;

/**
 * The semaphore with waiting chains: first come, first served; each bucket of a waiting array holds a stack of
 * waiters, and each waiter has a word of its own to wait on. A waiter polls that `spin` times (default 100) and then
 * parks on it; a release wakes the threads whose turn has come by their identity.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 3, and the two refinements that its
 * text names. A thread that uses it takes one of the arena's `waiters`, and keeps it until it ends.
 */
export class ChainSemaphore extends ListingSemaphore<typeof KIND> {
  /**
   * @param permits available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter.
   */
  constructor(permits: number, options?: ChainSemaphoreOptions);
  constructor(permits: number | Reference, options: ChainSemaphoreOptions = {}) {
    super(KIND, permits instanceof Reference ? permits : made(permits, options));
    this.prepare();
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if it is no handle of a ChainSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   */
  static from(handle: ChainSemaphoreHandle): ChainSemaphore {
    return new ChainSemaphore(find(KIND, handle) as never);
  }

  /**
   * SemaTake: takes a permit, blocking the thread until it is its turn.
   * @throws {TypeError} on a thread that may not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   */
  acquire(): void {
    const answer = this.algorithms.chainAcquire(this.at);
    if (answer !== ADMITTED) this.check(answer);
  }

  /**
   * SemaPost, of so many permits in one step, and with the short-cut of Listing 2: without waiters it touches no
   * chain. Never blocks. As in the listing, nothing bounds the number of permits.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   */
  release(permits = 1): void {
    if (permits !== 1) this.checkPermits(permits);
    this.algorithms.chainRelease(this.at, permits);
  }

  /**
   * SemaPost as the listing has it: one permit, and the chain's head is exchanged whether anybody waits or not.
   * Never blocks, throws nothing.
   */
  releaseConservative(): void {
    this.algorithms.chainReleaseConservative(this.at);
  }

  /** @internal */
  protected override close(): void {
    this.algorithms.chainDispose(this.at);
  }
}

function made(permits: number, options: ChainSemaphoreOptions): Reference {
  const properties = hashed(KIND, checkProperties(KIND, permits, options, DEFAULTS), options);
  const wake = checkChoice(`${KIND}: wake`, options.wake ?? 'pass', WAKES);
  // Before the object is made, which nobody would be left to dispose of.
  prepare(attachmentOf(options.arena));
  return make(KIND, { ...properties, threshold: WAKES.indexOf(wake) }, options.arena);
}
