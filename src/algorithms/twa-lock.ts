/** TwaLock is the public face of core/algorithms/twa-lock.ts. */
import type { Handle } from '../reference.js';
import { type LockOptions, lockObject, openLock, SharedLock } from './lock.js';
import { find } from './objects.js';

/** The options of a new `TwaLock`. */
export interface TwaLockOptions extends LockOptions {
  /** The LongTermThreshold, 0 to 2,147,483,647, as in a `TwaSemaphore`. Default 1. */
  readonly threshold?: number;
}

/** A plain, structured-cloneable value to send to another thread, for `TwaLock.from` there. */
export type TwaLockHandle = Handle<'TwaLock'>;

const KIND = 'TwaLock';
const DEFAULTS = { spin: 100, threshold: 1 };

/**
 * The ticket lock augmented with a waiting array: first come, first served. It spreads waiters over the buckets of the
 * arena. A waiter polls `spin` times (default 100) while far from its turn and again while near, and then parks on its
 * bucket.
 *
 * Source: Dice and Kogan, TWA; the same as a TwaSemaphore with one permit. Here a waiter that has polled in vain parks.
 */
export class TwaLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options?: TwaLockOptions) {
    super(KIND, lockObject(KIND, options, DEFAULTS), (a) => ({
      lock: a.twaLock,
      tryLock: a.twaTryLock,
      unlock: a.twaUnlock,
      dispose: a.twaLockDispose,
    }));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a TwaLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   */
  static from(handle: TwaLockHandle): TwaLock {
    return new TwaLock(find(KIND, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 108 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object, name or attachment.
   */
  static open(name: string, options?: TwaLockOptions): TwaLock {
    return new TwaLock(openLock(KIND, name, options, DEFAULTS));
  }
}
