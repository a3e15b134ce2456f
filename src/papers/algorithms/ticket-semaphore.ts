/** TicketSemaphore is the public face of core/papers/ticket-semaphore.ts. */

import { ADMITTED, KIND_TICKET_SEMAPHORE } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { close, disposedError } from '../../objects/shared-object.js';
import { checkInteger } from '../../runtime/errors.js';
import { algorithms, checkPermits, type ListingOptions, ListingSemaphore, objectAt } from './listing.js';
import { checkProperties } from './objects.js';

/** The options of a new `TicketSemaphore`. */
export interface TicketSemaphoreOptions extends ListingOptions {
  /**
   * The number of further pauses that a waiter makes between two polls for each ticket ahead of its own: 0 to 10,000
   * pauses of about 10 nanoseconds. However many tickets are ahead, a waiter makes at most 100,000 further pauses
   * between two polls. Default 0: all waiters poll equally often.
   */
  readonly delay?: number;
}

/** A plain, structured-cloneable value to send to another thread, for `TicketSemaphore.from` there. */
export type TicketSemaphoreHandle = Handle<'TicketSemaphore'>;

const KIND = 'TicketSemaphore';

const DEFINITION: Definition<typeof KIND, [number, TicketSemaphoreOptions]> = {
  kind: KIND,
  number: KIND_TICKET_SEMAPHORE,
  properties,
};
const DEFAULTS = { spin: 100, names: ['delay'] };
const MOST_DELAY = 10_000;

/**
 * The ticket semaphore: first come, first served. All waiters wait on the same word, grant. A waiter polls this word
 * `spin` times (default 100) and then parks on it. A release wakes all parked waiters.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 1. In the listing waiters poll without
 * bound. Here they park in the end, so that the other threads can run if there are more threads than processors.
 *
 * @example
 * ```ts
 * import { TicketSemaphore } from 'taketurns/algorithms';
 *
 * const semaphore = new TicketSemaphore(2); // threads share it by semaphore.handle
 * semaphore.acquire();
 * semaphore.release();
 * ```
 */
export class TicketSemaphore extends ListingSemaphore<typeof KIND> {
  readonly #acquire = this[algorithms].ticketAcquire;
  readonly #isDelayed = this[algorithms].ticketDelay(this[objectAt]) > 0;
  readonly #release = this[algorithms].ticketRelease;

  /**
   * @param permits the number available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(permits: number, options: TicketSemaphoreOptions = {}) {
    super(KIND, make(DEFINITION, permits, options));
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a TicketSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const pool = TicketSemaphore.from(workerData.pool); // its `handle`, sent by the other thread
   */
  static from(handle: TicketSemaphoreHandle): TicketSemaphore {
    return new TicketSemaphore(0, find(DEFINITION, handle));
  }

  /**
   * SemaTake: takes a permit, and blocks the thread until its turn has come.
   * @throws {TypeError} on a thread that must not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example pool.acquire();
   */
  acquire(): void {
    if (this.#acquire(this[objectAt]) !== 0) this.#await();
  }

  #await(): void {
    const { ticketAwait, ticketAwaitDelayed } = this[algorithms];
    const answer = this.#isDelayed ? ticketAwaitDelayed(this[objectAt]) : ticketAwait(this[objectAt]);
    if (answer !== ADMITTED) throw this[disposedError]();
  }

  /**
   * SemaPost for several permits in one step. Never blocks. As in the listing, the number of permits has no bound.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   * @example pool.release(2);
   */
  release(permits = 1): void {
    if (permits !== 1) this[checkPermits](permits);
    if (this.#release(this[objectAt], permits) !== 0) this.#post();
  }

  #post(): void {
    this[algorithms].ticketPost(this[objectAt]);
  }

  /** @internal */
  protected override [close](): void {
    this[algorithms].ticketDispose(this[objectAt]);
  }
}

function properties(what: string, permits: number, options: TicketSemaphoreOptions): Properties {
  const checked = checkProperties(what, permits, options, DEFAULTS);
  const { delay = 0 } = options;
  checkInteger(`${what}: delay`, delay, 0, MOST_DELAY);
  return { ...checked, variant: BigInt(delay) };
}
