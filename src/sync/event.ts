/**
 * Event is a flag. Threads wait until the flag is set.
 *
 * Over the phase word of core/kinds/phase/phase.ts, an event is a count: 0 if the event is set, and 1 if the event is
 * not set. `set` takes 1 from the count, `reset` puts 1 on it, and a waiter waits until the count has been 0.
 */

import { ADMITTED, ANSWER_CLOSED, KIND_EVENT, O_INITIAL } from '../border/numbers.js';
import type { EventSwitch } from '../common/counting.js';
import type { Properties, WaitOptions } from '../objects/options.js';
import { type Definition, differing, find, type Handle, make, open } from '../objects/reference.js';
import { disposedError } from '../objects/shared-object.js';
import { checkOptions, checkType, refuseName } from '../runtime/errors.js';
import { address, functions, isOpen, type SyncOptions, state, type Waiter, waiters } from './phase-object.js';
import { awaitZero, awaitZeroAsync, ZeroObject } from './zero-object.js';

/** A plain, structured-cloneable value to send to another thread, for `Event.from` there. */
export type EventHandle = Handle<'Event'>;

/** The options of a new `Event`. */
export interface EventOptions extends SyncOptions {
  /** Whether the event is set from the start. Default false. */
  readonly set?: boolean;
}

/** What `inspect` tells about an event. The answer may be out of date at once. */
export interface EventState {
  /** Whether the event is set. */
  readonly isSet: boolean;
  /** The threads that wait. The thread that has waited longest comes first. */
  readonly waiters: readonly Waiter[];
}

const KIND = 'Event';

const DEFINITION: Definition<typeof KIND, [EventOptions]> = {
  kind: KIND,
  number: KIND_EVENT,
  properties,
};

export interface Event extends EventSwitch {}

/**
 * An event is set or not set. Threads and promises wait together until the event is set. The event stays set until
 * `reset`. All threads and promises that wait when the event is set go on, even if the event is reset at once.
 *
 * Browsers and Node have a global class `Event` for `EventTarget`. If you need both classes, import this one as `Event
 * as SharedEvent`, or import the module as a namespace.
 *
 * Source: the manual-reset event of Windows and Python's threading.Event, over the phase word of
 * core/kinds/phase/phase.ts.
 *
 * @example
 * ```ts
 * import { Event } from 'taketurns/sync';
 *
 * const go = new Event(); // threads share it by go.handle
 * const all = go.waitAsync({ timeout: 1000 }); // or wait, which blocks
 * go.set();
 * console.log(await all);
 * ```
 */
export class Event extends ZeroObject<typeof KIND> implements EventSwitch {
  /**
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: EventOptions = {}) {
    super(KIND, make(DEFINITION, options));
  }

  /**
   * Attaches to the event of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of an Event.
   * @throws {DisposedError} if the event has been disposed of.
   * @example const event = Event.from(workerData.event); // its `handle`, sent by the other thread
   */
  static from(handle: EventHandle): Event {
    return new Event(find(DEFINITION, handle));
  }

  /**
   * Opens the event of this name, and makes it if there is none. Never blocks.
   * @throws {RangeError | TypeError} for a bad name or option.
   * @throws {ArenaFullError} if the arena has no room for another object or name.
   * @example const event = Event.open('ready', { set: false });
   */
  static open(name: string, options: EventOptions = {}): Event {
    return new Event(open(DEFINITION, name, options));
  }

  set(): void {
    // If the event is set, the count is 0, and the call changes nothing.
    if (this[functions].takeOff(this[address], 1, 0) === ANSWER_CLOSED) throw this[disposedError]();
  }

  reset(): void {
    if (this[functions].arm(this[address]) === ANSWER_CLOSED) throw this[disposedError]();
  }

  /**
   * Blocks the thread until the event is set. Returns at once if it is set already.
   * @returns false if the time-out came first.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread.
   * @throws {DisposedError} if the event has been or is being disposed of.
   * @example if (!event.wait({ timeout: 50 })) console.log('not set in time');
   */
  wait(options?: WaitOptions): boolean {
    return (options === undefined && this[functions].awaitZero(this[address]) === ADMITTED) || this[awaitZero](options);
  }

  /**
   * As `wait`, without blocking the thread. The promise rejects with the reason of an aborted signal.
   * @example await event.waitAsync({ signal });
   */
  waitAsync(options: WaitOptions = {}): Promise<boolean> {
    return this[awaitZeroAsync](options);
  }

  /** Whether the event is set; false if the event has been disposed of. */
  get isSet(): boolean {
    return this[isOpen];
  }

  /** @internal */
  protected override get [state](): string {
    return this[isOpen] ? 'set' : 'not set';
  }

  /**
   * Tells whether the event is set and which threads wait, for diagnostics. Never blocks, throws nothing.
   * @example console.log(event.inspect().waiters);
   */
  inspect(): EventState {
    return { isSet: this[isOpen], waiters: this[waiters]() };
  }
}

function properties(what: string, options: EventOptions): Properties {
  refuseName(what, KIND, 'options', options, 'an object');
  checkOptions(what, options, ['set', 'arena']);
  const { set = false } = options;
  checkType(`${what}: set`, set, 'boolean', 'true or false');
  return {
    permits: Number(!set),
    max: 1,
    differences: (has) => differing(['set', has[O_INITIAL / 4] === 0, set]),
  };
}
