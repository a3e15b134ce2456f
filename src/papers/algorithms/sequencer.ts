/** Sequencer is the public face of core/papers/event-count.ts. */

import type { Arena } from '../../arena/arena.js';
import { KIND_SEQUENCER } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { close } from '../../objects/shared-object.js';
import { checkOptions } from '../../runtime/errors.js';
import { algorithms, ListingObject, objectAt } from './listing.js';
import { checkProperties } from './objects.js';

/** The options of a new `Sequencer`. */
export interface SequencerOptions {
  /** The first ticket, 0n to 2n ** 61n. Default 0n. */
  readonly first?: bigint;
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A plain, structured-cloneable value to send to another thread, for `Sequencer.from` there. */
export type SequencerHandle = Handle<'Sequencer'>;

const KIND = 'Sequencer';

const DEFINITION: Definition<typeof KIND, [SequencerOptions]> = {
  kind: KIND,
  number: KIND_SEQUENCER,
  properties,
};

/**
 * A sequencer gives each caller the next number. So the numbers put the callers in an order.
 *
 * Source: Reed and Kanodia, Synchronization with Eventcounts and Sequencers.
 *
 * @example
 * ```ts
 * import { EventCount, Sequencer } from 'taketurns/algorithms';
 *
 * const order = new Sequencer(); // threads share both by their handles
 * const done = new EventCount();
 * done.await(order.ticket()); // until all who drew before have advanced
 * done.advance();
 * ```
 */
export class Sequencer extends ListingObject<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: SequencerOptions = {}) {
    super(KIND, make(DEFINITION, options));
  }

  /**
   * Attaches to the sequencer of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a Sequencer.
   * @throws {DisposedError} if the sequencer has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const sequencer = Sequencer.from(workerData.sequencer); // its `handle`, sent by the other thread
   */
  static from(handle: SequencerHandle): Sequencer {
    return new Sequencer(find(DEFINITION, handle));
  }

  /**
   * Returns the next number, which no other caller gets. Never blocks, throws nothing.
   * @example count.await(sequencer.ticket());
   */
  ticket(): bigint {
    return this[algorithms].sequencerTicket(this[objectAt]);
  }

  /** @internal */
  protected override [close](): void {
    this[algorithms].sequencerDispose(this[objectAt]);
  }
}

function properties(what: string, options: SequencerOptions): Properties {
  checkOptions(what, options, ['first', 'arena']);
  const { first = 0n } = options;
  return checkProperties(what, 0, { firstTicket: first }, { spin: 0, names: [], first: 'first' });
}
