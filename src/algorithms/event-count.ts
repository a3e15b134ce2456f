/** EventCount is the public face of core/algorithms/event-count.ts. */
import type { Arena } from '../arena.js';
import { checkInteger, checkType } from '../errors.js';
import type { PolicyOptions } from '../options.js';
import { type Handle, Reference } from '../reference.js';
import { ADMITTED, LIMIT } from '../runtime/core.js';
import { ListingObject, makeWithChains } from './listing.js';
import { checkProperties, find } from './objects.js';

/** What may be said of a new `EventCount`. */
export interface EventCountOptions extends PolicyOptions {
  /** Where it begins, 0n to 2n ** 61n. Default 0n. */
  readonly first?: bigint;
  /** Where it lives. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** What to send to another thread, for `EventCount.from` there: plain and structured-cloneable. */
export type EventCountHandle = Handle<'EventCount'>;

const KIND = 'EventCount';
const DEFAULTS = { spin: 100 };
const LAST = 2n ** 62n;

/**
 * An event count: a number that only grows, and that threads can wait for to reach a value. With a `Sequencer` it
 * makes mutual exclusion, bounded buffers and more without either knowing who waits (examples/bounded-buffer.mjs).
 *
 * Source: Reed and Kanodia, Synchronization with Eventcounts and Sequencers; waiting by the waiting chains of Dice
 * and Kogan, Semaphores Augmented with a Waiting Array. A thread that uses it takes one of the arena's `waiters`.
 */
export class EventCount extends ListingObject<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter.
   */
  constructor(options: EventCountOptions = {}) {
    super(KIND, options instanceof Reference ? options : made(options));
    this.prepare();
  }

  /**
   * Attaches to the event count of a handle, in any thread. Never blocks.
   * @throws {TypeError} if it is no handle of an EventCount.
   * @throws {DisposedError} if it has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   */
  static from(handle: EventCountHandle): EventCount {
    return new EventCount(find(KIND, handle));
  }

  /**
   * Adds to the count, and wakes whoever awaits a value that it reaches. Never blocks.
   * @param steps 1 to 2,147,483,647. Default 1.
   * @throws {RangeError | TypeError} for a bad number.
   */
  advance(steps = 1): void {
    if (steps !== 1) checkInteger(`${KIND}.advance: steps`, steps, 1, LIMIT);
    this.algorithms.eventAdvance(this.at, steps);
  }

  /**
   * The count now: a lower bound for whatever it is later. Never blocks.
   * @throws {DisposedError} if it has been disposed of.
   */
  read(): bigint {
    const count = this.algorithms.eventRead(this.at);
    if (count < 0n) throw this.closed();
    return count;
  }

  /**
   * Blocks the thread until the count has reached the value.
   * @param value a bigint up to 2n ** 62n; one that has been reached returns at once.
   * @throws {RangeError | TypeError} for a bad value, or on a thread that may not block.
   * @throws {DisposedError} if it has been or is being disposed of.
   */
  await(value: bigint): void {
    checkType(`${KIND}.await: value`, value, 'bigint', 'a bigint');
    if (value > LAST) throw new RangeError(`${KIND}.await: value must be at most 2n ** 62n, got ${value}n`);
    if (this.algorithms.eventAwait(this.at, value < 0n ? 0n : value) !== ADMITTED) throw this.closed();
  }

  /** @internal */
  protected override close(): void {
    this.algorithms.eventDispose(this.at);
  }
}

function made(options: EventCountOptions): Reference {
  const { first = 0n, ...rest } = options ?? {};
  const properties = checkProperties(
    KIND,
    0,
    options === null ? (null as never) : { ...rest, firstTicket: first },
    DEFAULTS,
  );
  return makeWithChains(KIND, properties, options.arena);
}
