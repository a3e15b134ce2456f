/** TicketSemaphore is the public face of core/algorithms/ticket-semaphore.ts. */
import { type Handle, Reference } from '../reference.js';
import { ADMITTED } from '../runtime/core.js';
import { type ListingOptions, ListingSemaphore } from './listing.js';
import { checkProperties, find, make } from './objects.js';

/** What may be said of a new `TicketSemaphore`. */
export type TicketSemaphoreOptions = ListingOptions;
/** What to send to another thread, for `TicketSemaphore.from` there: plain and structured-cloneable. */
export type TicketSemaphoreHandle = Handle<'TicketSemaphore'>;

const KIND = 'TicketSemaphore';
const DEFAULTS = { spin: 100 };

/**
 * The ticket semaphore: first come, first served, all waiters on one word. A waiter polls grant `spin`
 * times (default 100) and then parks on it; a release wakes all that are parked.
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 1. There spinning is without
 * bound; here it ends in parking, or more threads than processors could not run.
 */
export class TicketSemaphore extends ListingSemaphore<typeof KIND> {
  readonly #acquire = this.algorithms.ticketAcquire;
  readonly #release = this.algorithms.ticketRelease;

  /**
   * @param permits available at first, 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(permits: number, options: TicketSemaphoreOptions = {}) {
    super(
      KIND,
      options instanceof Reference
        ? options
        : make(KIND, checkProperties(KIND, permits, options, DEFAULTS), options.arena),
    );
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if it is no handle of a TicketSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread, or for another attachment of one.
   */
  static from(handle: TicketSemaphoreHandle): TicketSemaphore {
    return new TicketSemaphore(0, find(KIND, handle));
  }

  /**
   * SemaTake: takes a permit, blocking the thread until it is its turn.
   * @throws {TypeError} on a thread that may not block.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   */
  acquire(): void {
    if (this.#acquire(this.at) !== 0) this.#await();
  }

  #await(): void {
    if (this.algorithms.ticketAwait(this.at) !== ADMITTED) throw this.closed();
  }

  /**
   * SemaPost, of so many permits in one step. Never
   * blocks. As in the listing, nothing bounds the number of permits.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number.
   */
  release(permits = 1): void {
    if (permits !== 1) this.checkPermits(permits);
    if (this.#release(this.at, permits) !== 0) this.#post();
  }

  #post(): void {
    this.algorithms.ticketPost(this.at);
  }

  /** @internal */
  protected override close(): void {
    this.algorithms.ticketDispose(this.at);
  }
}
