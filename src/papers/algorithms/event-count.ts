/** EventCount is the public face of core/papers/event-count.ts. */

import type { Arena } from '../../arena/arena.js';
import { ADMITTED, KIND_EVENT_COUNT, LIMIT, WAKE_PASS } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { close, disposedError } from '../../objects/shared-object.js';
import { checkInteger, checkOptions, checkType } from '../../runtime/errors.js';
import { type PolicyOptions, USUAL } from '../policies.js';
import { hashed } from './hash.js';
import { algorithms, ListingObject, objectAt, prepare, prepareFor, type ThresholdOptions } from './listing.js';
import { checkProperties } from './objects.js';

/** The options of a new `EventCount`. */
export interface EventCountOptions extends PolicyOptions, Pick<ThresholdOptions, 'farParks'> {
  /** The first count, 0n to 2n ** 61n. Default 0n. */
  readonly first?: bigint;
  /**
   * The LongTermThreshold, 0 to 2,147,483,647. A thread that awaits a value no further than this above the count is near.
   * It polls the count `spin` times and then waits as the other threads do. All threads that await one value are near at
   * the same time. Default 0: no thread polls the count.
   */
  readonly threshold?: number;
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A plain, structured-cloneable value to send to another thread, for `EventCount.from` there. */
export type EventCountHandle = Handle<'EventCount'>;

const KIND = 'EventCount';

const DEFINITION: Definition<typeof KIND, [EventCountOptions]> = {
  kind: KIND,
  number: KIND_EVENT_COUNT,
  properties,
  prepare: (membership) => prepare(membership),
};
const DEFAULTS = { spin: 100, names: ['threshold'], first: 'first' };
const LAST = 2n ** 62n;

/**
 * An event count is a number that only grows. Threads can wait until the number reaches a value. Event counts and a
 * `Sequencer` together make mutual exclusion, bounded buffers and more (examples/bounded-buffer.mjs). The thread that
 * advances the count need not know who waits.
 *
 * Source: Reed and Kanodia, Synchronization with Eventcounts and Sequencers. Threads wait on the waiting chains of Dice
 * and Kogan, Semaphores Augmented with a Waiting Array. A thread that uses an event count borrows a wait element of the
 * arena until the thread ends. The element counts as one of the `waiters` of the arena.
 *
 * @example
 * ```ts
 * import { EventCount } from 'taketurns/algorithms';
 *
 * const done = new EventCount(); // threads share it by done.handle
 * done.advance();
 * done.await(1n); // until it has reached 1
 * console.log(done.read());
 * ```
 */
export class EventCount extends ListingObject<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object, or for another waiter.
   */
  constructor(options: EventCountOptions = {}) {
    super(KIND, make(DEFINITION, options));
    prepareFor(this);
  }

  /**
   * Attaches to the event count of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of an EventCount.
   * @throws {DisposedError} if the event count has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another waiter.
   * @example const count = EventCount.from(workerData.count); // its `handle`, sent by the other thread
   */
  static from(handle: EventCountHandle): EventCount {
    return new EventCount(find(DEFINITION, handle));
  }

  /**
   * Adds to the count, and wakes the threads that wait for a value that the count reaches. Never blocks.
   * @param steps 1 to 2,147,483,647. Default 1.
   * @throws {RangeError | TypeError} for a bad number.
   * @example count.advance();
   */
  advance(steps = 1): void {
    if (steps !== 1) checkInteger(`${KIND}.advance: steps`, steps, 1, LIMIT);
    this[algorithms].eventAdvance(this[objectAt], steps);
  }

  /**
   * Returns the present count. Later counts are never lower. Never blocks.
   * @throws {DisposedError} if the event count has been disposed of.
   * @example if (count.read() < 5n) count.await(5n);
   */
  read(): bigint {
    const count = this[algorithms].eventRead(this[objectAt]);
    if (count < 0n) throw this[disposedError]();
    return count;
  }

  /**
   * Blocks the thread until the count has reached the value.
   * @param value a bigint up to 2n ** 62n. If the count has reached this value already, the call returns at once.
   * @throws {RangeError | TypeError} for a bad value, or on a thread that must not block.
   * @throws {DisposedError} if the event count has been or is being disposed of.
   * @example count.await(5n); // until it has been advanced 5 times
   */
  await(value: bigint): void {
    checkType(`${KIND}.await: value`, value, 'bigint', 'a bigint');
    if (value > LAST) throw new RangeError(`${KIND}.await: value must be at most 2n ** 62n, got ${value}n`);
    if (this[algorithms].eventAwait(this[objectAt], value < 0n ? 0n : value) !== ADMITTED) throw this[disposedError]();
  }

  /** @internal */
  protected override [close](): void {
    this[algorithms].eventDispose(this[objectAt]);
  }
}

function properties(what: string, options: EventCountOptions): Properties {
  checkOptions(what, options, ['first', 'threshold', 'farParks', ...USUAL]);
  const { first = 0n, policy, spin, threshold, farParks } = options;
  const given = { policy, spin, threshold, firstTicket: first } as PolicyOptions;
  const checked = hashed(what, checkProperties(what, 0, given, DEFAULTS), { farParks } as EventCountOptions);
  return { ...checked, variant: BigInt(WAKE_PASS) };
}
