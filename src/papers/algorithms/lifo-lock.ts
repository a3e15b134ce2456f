/** LifoLock is the public face of core/papers/lifo-lock.ts. */
import { KIND_LIFO_LOCK } from '../../border/numbers.js';
import { type Definition, find, type Handle, make, open } from '../../objects/reference.js';
import { type LockOptions, properties, queueLock, SharedLock } from './lock.js';

/** The options of a new `LifoLock`. */
export type LifoLockOptions = LockOptions;
/** A plain, structured-cloneable value to send to another thread, for `LifoLock.from` there. */
export type LifoLockHandle = Handle<'LifoLock'>;

const KIND = 'LifoLock';

const DEFINITION: Definition<typeof KIND, [LifoLockOptions]> = {
  kind: KIND,
  number: KIND_LIFO_LOCK,
  properties,
};

/**
 * The lock that serves the latest waiter first. This lock is not fair at all: an earlier waiter may wait for ever. It
 * is the worst case for measurements and for a `CapacitorLock`. A waiter polls a word of its own `spin` times (default
 * 100) and then parks on this word. An unlock wakes the latest waiter.
 *
 * Source: Dice, Capacitors, an inner lock. In contrast to the paper, a waiter that has polled in vain parks.
 *
 * A thread that waits for such a lock borrows a wait element of the arena until the thread ends. The element counts as
 * one of the `waiters` of the arena.
 *
 * @example
 * ```ts
 * import { LifoLock } from 'taketurns/algorithms';
 *
 * const lock = new LifoLock(); // threads share it by lock.handle
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class LifoLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: LifoLockOptions = {}) {
    super(KIND, make(DEFINITION, options), (a) => queueLock(a, a.lifoLock, a.lifoTryLock, a.lifoUnlock));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a LifoLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = LifoLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: LifoLockHandle): LifoLock {
    return new LifoLock(find(DEFINITION, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = LifoLock.open('accounts');
   */
  static open(name: string, options: LifoLockOptions = {}): LifoLock {
    return new LifoLock(open(DEFINITION, name, options));
  }
}
