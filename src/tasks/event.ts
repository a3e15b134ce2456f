/** Event is a flag, for the tasks of one thread: a count that is 0 if the event is set, and 1 if it is not set. */
import type { EventSwitch } from '../common/counting.js';
import { badType, checkOptions } from '../common/errors.js';
import { left, Opening, setCount, together } from './opening.js';
import type { Waiting } from './stats.js';
import { isOver, state } from './task-object.js';

/** The options of a new `Event`. */
export interface EventOptions {
  /** Whether the event is set from the start. Default false. */
  readonly set?: boolean;
}

/** What `inspect` tells about an event. */
export interface EventState {
  /** Whether the event is set. */
  readonly isSet: boolean;
  /** How many calls wait; empty if none does. */
  readonly waiters: readonly Waiting[];
}

const KIND = 'Event';

export interface Event extends EventSwitch {}

/**
 * An event is set or not set. Promises wait together until the event is set. The event stays set until `reset`. All who
 * wait when the event is set go on, even if the event is reset at once.
 *
 * Browsers and Node have a global class `Event` for `EventTarget`. If you need both classes, import this one as `Event
 * as TaskEvent`.
 *
 * Source: the manual-reset event of Windows and Python's threading.Event.
 *
 * @example
 * ```ts
 * import { Event } from 'taketurns/tasks';
 *
 * const go = new Event();
 * const all = go.waitAsync({ timeout: 1000 });
 * go.set();
 * console.log(await all);
 * ```
 * @since 0.3.0
 */
export class Event extends Opening implements EventSwitch {
  /** @throws {RangeError | TypeError} for a bad option. */
  constructor(options: EventOptions = {}) {
    checkOptions(KIND, options, ['set']);
    const { set = false } = options;
    if (typeof set !== 'boolean') throw badType(`${KIND}: set`, 'true or false', set);
    super(KIND, Number(!set));
  }

  set(): void {
    this[setCount](0);
  }

  reset(): void {
    this[setCount](1);
  }

  /** Whether the event is set; false if the event has been disposed of. */
  get isSet(): boolean {
    return this.#isSet;
  }

  get #isSet(): boolean {
    return this[left] === 0 && !this[isOver];
  }

  /** @internal */
  protected get [state](): string {
    return this.#isSet ? 'set' : 'not set';
  }

  /**
   * Tells whether the event is set and how many wait. Never blocks, throws nothing.
   * @example console.log(event.inspect().waiters);
   */
  inspect(): EventState {
    return { isSet: this.#isSet, waiters: this[together] };
  }
}
