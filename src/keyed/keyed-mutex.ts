/** KeyedMutex is a mutex for each key: a table of keyed.ts with one permit a key. */
import type { Arena } from '../arena/arena.js';
import { KIND_KEYED_MUTEX } from '../border/numbers.js';
import type { Key } from '../common/keys.js';
import { type KeyedMutexRuns, type Limited, limited } from '../common/limiting.js';
import { type HeldLock, LockGuard } from '../objects/held-lock.js';
import type { Properties, WaitOptions } from '../objects/options.js';
import { type Definition, find, type Handle, make, open } from '../objects/reference.js';
import { checkOptions, refuseName } from '../runtime/errors.js';
import { entryOf, Keyed, limitsOf, running, take, takeAsync, tryTake } from './keyed.js';

/** The options of a new `KeyedMutex`. */
export interface KeyedMutexOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A plain, structured-cloneable value to send to another thread, for `KeyedMutex.from` there. */
export type KeyedMutexHandle = Handle<'KeyedMutex'>;

const KIND = 'KeyedMutex';

const DEFINITION: Definition<typeof KIND, [KeyedMutexOptions]> = {
  kind: KIND,
  number: KIND_KEYED_MUTEX,
  properties,
};

export interface KeyedMutex extends KeyedMutexRuns {}

/**
 * A mutex for each key, shared by threads: threads and promises with the same key exclude one another, first come,
 * first served. A key needs no set-up, and leaves nothing behind. The owner of a key is a thread: the thread that holds
 * it must unlock it. When a thread ends or dies while it holds a key, the next owner of this key learns of the death.
 *
 * The algorithm is this library's own. Each key is a robust semaphore, which follows Dice and Kogan.
 *
 * @example
 * ```ts
 * import { KeyedMutex } from 'taketurns/keyed';
 *
 * const accounts = KeyedMutex.open('accounts'); // by its name: one in all threads
 * {
 *   using held = accounts.hold('Ann', { timeout: 50 }); // blocks
 * }
 * await accounts.runExclusive('Bob', async () => {}); // where the thread may not block
 * using both = await accounts.holdAllAsync(['Ann', 'Bob']);
 * ```
 * @since 0.3.0
 */
export class KeyedMutex extends Keyed<typeof KIND> implements KeyedMutexRuns {
  /**
   * Makes a table without keys.
   * @throws {RangeError | TypeError} for a bad option.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: KeyedMutexOptions = {}) {
    super(KIND, make(DEFINITION, options));
  }

  /**
   * Attaches to the table of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a KeyedMutex.
   * @throws {DisposedError} if the table has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const accounts = KeyedMutex.from(workerData.accounts); // its `handle`, sent by the other thread
   */
  static from(handle: KeyedMutexHandle): KeyedMutex {
    return new KeyedMutex(find(DEFINITION, handle));
  }

  /**
   * Attaches to the table of this name in the arena. Creates it if there is none. Threads that open a name at the same
   * time get one table. The table goes when every thread that had it open has ended, or its library objects were
   * collected and no death of an owner is still to be told. A table whose handle was taken stays until it is disposed
   * of. Never blocks.
   * @param name 1 to 116 bytes of UTF-8, well-formed.
   * @param options are checked in any case. A table that exists keeps the options with which it was made.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const accounts = KeyedMutex.open('accounts');
   */
  static open(name: string, options: KeyedMutexOptions = {}): KeyedMutex {
    return new KeyedMutex(open(DEFINITION, name, options));
  }

  /**
   * Locks a key, and blocks the thread until it is its turn.
   *
   *     using held = accounts.hold(id, { timeout: 50 });
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {TimeoutError} when the time-out has passed. The request has left the queue, and holds nothing.
   * @throws {CancelledError} if `cancelAll` has cancelled the request. It holds nothing either.
   * @throws the reason of a signal that is aborted already.
   * @throws {SelfDeadlockError} if this thread or a promise of it has the key or waits for it: it would wait for
   * itself.
   * @throws {RangeError | TypeError} for a bad key or option.
   * @throws {TypeError} on a thread that must not block, such as a browser's main thread, if it would have to.
   * @throws {ArenaFullError} if the arena has no room for another object or waiter.
   * @throws the error that `onOwnerDied` throws; then the key is free again.
   * @throws {DisposedError} if the object has been or is being disposed of.
   */
  hold(key: Key, options?: WaitOptions): HeldLock {
    const limits = this[limitsOf]('hold', options);
    const entry = this[entryOf]('hold', key);
    return new LockGuard(entry, this[take]('hold', entry, 1, limits));
  }

  /**
   * Locks a key: the promise is fulfilled with a guard that unlocks when it is its turn. Never blocks. Blocked threads
   * and promises stand in one queue for each key.
   *
   *     using held = await accounts.holdAsync(id, { timeout: 50 });
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad key or option, with CancelledError if `cancelAll` has
   * cancelled it, with DisposedError if the object has been or is being disposed of, and with ArenaFullError if the
   * arena has no room for another object or waiter.
   */
  async holdAsync(key: Key, options?: WaitOptions): Promise<HeldLock> {
    const limits = this[limitsOf]('holdAsync', options);
    const entry = this[entryOf]('holdAsync', key);
    return new LockGuard(entry, this[tryTake](entry, 1) ?? (await this[takeAsync](entry, 1, limits)));
  }

  /**
   * Locks a key if nobody holds it. Never blocks.
   * @returns a guard, or undefined: `using held = accounts.tryHold(id); if (held) work()`.
   * @throws {RangeError | TypeError} for a bad key.
   * @throws {ArenaFullError} if the arena has no room for another object.
   * @throws the error that `onOwnerDied` throws; then the key is free again.
   * @throws {DisposedError} if the object has been disposed of.
   */
  tryHold(key: Key): HeldLock | undefined {
    const entry = this[entryOf]('tryHold', key);
    const ownerDied = this[tryTake](entry, 1);
    return ownerDied === undefined ? undefined : new LockGuard(entry, ownerDied);
  }

  runExclusive<T>(key: Key, run: () => T | PromiseLike<T>, options?: WaitOptions): Promise<T> {
    return this[running](key, 1, run, options);
  }

  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    options?: WaitOptions,
  ): Limited<This, [key: K, ...args: Arguments], T> {
    return limited(KIND, run, options, (call, wait, [key]) => this[running](key, 1, call, wait));
  }
}

function properties(what: string, options: KeyedMutexOptions): Properties {
  refuseName(what, KIND, 'options', options, 'an object');
  checkOptions(what, options, ['arena']);
  return { permits: 1, max: 1 };
}
