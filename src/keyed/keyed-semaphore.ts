/** KeyedSemaphore is a semaphore for each key: a table of keyed.ts with n permits a key. */
import type { Arena } from '../arena/arena.js';
import { KIND_KEYED_SEMAPHORE, LIMIT } from '../border/numbers.js';
import type { Key } from '../common/keys.js';
import { type KeyedSemaphoreRuns, type Limited, limited } from '../common/limiting.js';
import { type PermitsRequest, requestOf } from '../common/waits.js';
import { type HeldPermits, PermitsGuard } from '../objects/held-permits.js';
import { isOptions, type Properties, type WaitOptions } from '../objects/options.js';
import { type Definition, find, type Handle, make, open, openKnown, type Reference } from '../objects/reference.js';
import { checkInteger, checkOptions, refuseName } from '../runtime/errors.js';
import type { Entry } from './entry.js';
import { checkPermits, entryOf, Keyed, limitsOf, running, take, takeAsync, tryTake } from './keyed.js';

/** The options of a new `KeyedSemaphore`. */
export interface KeyedSemaphoreOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A plain, structured-cloneable value to send to another thread, for `KeyedSemaphore.from` there. */
export type KeyedSemaphoreHandle = Handle<'KeyedSemaphore'>;

const KIND = 'KeyedSemaphore';

const DEFINITION: Definition<typeof KIND, [number, KeyedSemaphoreOptions]> = {
  kind: KIND,
  number: KIND_KEYED_SEMAPHORE,
  properties,
  chosen: 'permits',
};

export interface KeyedSemaphore extends KeyedSemaphoreRuns {}

/**
 * A semaphore for each key, shared by threads: at most `permits` permits of a key are out at a time, first come, first
 * served. A key needs no set-up, and leaves nothing behind. The thread that holds permits must give them back. When a
 * thread ends or dies with permits of a key, they go back, and the next owner of this key learns of the death.
 *
 * The algorithm is this library's own. Each key is a robust semaphore, which follows Dice and Kogan.
 *
 * @example
 * ```ts
 * import { KeyedSemaphore } from 'taketurns/keyed';
 *
 * const hosts = KeyedSemaphore.open('hosts', 4); // by its name: one in all threads
 * {
 *   using held = hosts.hold('example.org', 2, { timeout: 50 }); // blocks
 * }
 * const page = await hosts.runExclusive('example.org', async () => 'at most 4 at a time from one host');
 * ```
 * @since 0.3.0
 */
export class KeyedSemaphore extends Keyed<typeof KIND> implements KeyedSemaphoreRuns {
  readonly #permits: number;

  /**
   * Makes a table without keys.
   * @param permits the number of permits of each key, 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad number or option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(permits: number, options: KeyedSemaphoreOptions = {}) {
    super(KIND, make(DEFINITION, permits, options));
    this.#permits = permits;
  }

  /** The number of permits of each key. */
  get permits(): number {
    return this.#permits;
  }

  /**
   * Attaches to the table of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a KeyedSemaphore.
   * @throws {DisposedError} if the table has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const hosts = KeyedSemaphore.from(workerData.hosts); // its `handle`, sent by the other thread
   */
  static from(handle: KeyedSemaphoreHandle): KeyedSemaphore {
    return attached(find(DEFINITION, handle));
  }

  /**
   * Attaches to the table of this name in the arena. Creates it if there is none. Threads that open a name at the same
   * time get one table. The table goes when every thread that had it open has ended, or its library objects were
   * collected and no death of an owner is still to be told. A table whose handle was taken stays until it is disposed
   * of. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @param permits the number of permits of each key, 1 to 2,147,483,647. Without it the table must exist.
   * @param options are checked in any case. A table that exists keeps the options with which it was made.
   * @throws {RangeError | TypeError} for a bad argument, or if the name belongs to another kind of object.
   * @throws {RangeError} if it exists with other permits.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @throws {Error} if it does not exist and no permits are given.
   * @example const hosts = KeyedSemaphore.open('hosts', 4);
   */
  static open(name: string, permits?: number, options: KeyedSemaphoreOptions = {}): KeyedSemaphore {
    if (permits !== undefined) return attached(open(DEFINITION, name, permits, options));
    properties(`${KIND}.open`, 1, options);
    return attached(openKnown(DEFINITION, name, options.arena));
  }

  /**
   * Takes permits of a key, and blocks the thread until it is their turn.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {TimeoutError} when the time-out has passed. The request has left the queue, and holds nothing.
   * @throws {CancelledError} if `cancelAll` has cancelled the request. It holds nothing either.
   * @throws the reason of a signal that is aborted already.
   * @throws {SelfDeadlockError} if this thread and its promises have or wait for so many permits of the key that it
   * would wait for itself.
   * @throws {RangeError | TypeError} for a bad key, number or option.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {ArenaFullError} if the arena has no room for another object or waiter.
   * @throws the error that `onOwnerDied` throws; then the permits are free again.
   * @throws {DisposedError} if the object has been or is being disposed of.
   * @example using held = hosts.hold('example.org', 2, { timeout: 50 });
   */
  hold(key: Key, permits?: number, options?: WaitOptions): HeldPermits;
  hold(key: Key, options: WaitOptions): HeldPermits;
  hold(key: Key, permits: number | WaitOptions = 1, options?: WaitOptions): HeldPermits {
    return isOptions(permits, options) ? this.#hold(key, 1, permits) : this.#hold(key, permits, options);
  }

  #hold(key: Key, permits: number, options: WaitOptions | undefined): HeldPermits {
    const limits = this[limitsOf]('hold', options);
    this[checkPermits]('hold', permits);
    const entry = this[entryOf]('hold', key);
    return guard(entry, permits, this[take]('hold', entry, permits, limits));
  }

  /**
   * Takes permits of a key: the promise is fulfilled with a guard that gives them back when it is its turn. Never
   * blocks.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad key, number or option, with CancelledError if `cancelAll`
   * has cancelled it, with DisposedError if the object has been or is being disposed of, and with ArenaFullError if the
   * arena has no room for another object or waiter.
   * @example using held = await hosts.holdAsync('example.org', 2, { timeout: 50 });
   */
  holdAsync(key: Key, permits?: number, options?: WaitOptions): Promise<HeldPermits>;
  holdAsync(key: Key, options: WaitOptions): Promise<HeldPermits>;
  holdAsync(key: Key, permits: number | WaitOptions = 1, options?: WaitOptions): Promise<HeldPermits> {
    return isOptions(permits, options) ? this.#holdAsync(key, 1, permits) : this.#holdAsync(key, permits, options);
  }

  async #holdAsync(key: Key, permits: number, options: WaitOptions | undefined): Promise<HeldPermits> {
    const limits = this[limitsOf]('holdAsync', options);
    this[checkPermits]('holdAsync', permits);
    const entry = this[entryOf]('holdAsync', key);
    return guard(entry, permits, this[tryTake](entry, permits) ?? (await this[takeAsync](entry, permits, limits)));
  }

  /**
   * Takes permits of a key if they are free and nobody waits for the key. Never blocks.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @returns a guard, or undefined: `using held = hosts.tryHold(name); if (held) work()`.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {ArenaFullError} if the arena has no room for another object.
   * @throws the error that `onOwnerDied` throws; then the permits are free again.
   * @throws {DisposedError} if the object has been disposed of.
   */
  tryHold(key: Key, permits = 1): HeldPermits | undefined {
    this[checkPermits]('tryHold', permits);
    const entry = this[entryOf]('tryHold', key);
    const ownerDied = this[tryTake](entry, permits);
    return ownerDied === undefined ? undefined : guard(entry, permits, ownerDied);
  }

  runExclusive<T>(key: Key, run: () => T | PromiseLike<T>, ...request: PermitsRequest): Promise<T> {
    const [permits, options] = requestOf(request);
    return this[running](key, permits, run, options);
  }

  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, [key: K, ...args: Arguments], T> {
    const [permits, options] = requestOf(request);
    const get = limited(KIND, run, options, (call, wait, [key]) => this[running](key, permits, call, wait));
    checkInteger(`${KIND}.limit: permits`, permits, 1, this.#permits, ' (its permits)');
    return get;
  }
}

/** Returns the library object of a table that has been found or opened. */
function attached(reference: Reference): KeyedSemaphore {
  return new KeyedSemaphore(reference.membership.core.initial(reference.address), reference);
}

function guard(entry: Entry, permits: number, ownerDied: boolean): HeldPermits {
  return new PermitsGuard(entry, permits, ownerDied);
}

function properties(what: string, permits: number, options: KeyedSemaphoreOptions): Properties {
  refuseName(what, KIND, 'permits', permits, 'an integer', ', permits');
  checkOptions(what, options, ['arena']);
  const max = checkInteger(`${what}: permits`, permits, 1, LIMIT);
  return { permits: max, max };
}
