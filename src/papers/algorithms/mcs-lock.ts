/** McsLock is the public face of core/papers/mcs-lock.ts. */
import { KIND_MCS_LOCK } from '../../border/numbers.js';
import { type Definition, find, type Handle, make, open } from '../../objects/reference.js';
import { type LockOptions, properties, queueLock, SharedLock } from './lock.js';

/** The options of a new `McsLock`. */
export type McsLockOptions = LockOptions;
/** A plain, structured-cloneable value to send to another thread, for `McsLock.from` there. */
export type McsLockHandle = Handle<'McsLock'>;

const KIND = 'McsLock';

const DEFINITION: Definition<typeof KIND, [McsLockOptions]> = {
  kind: KIND,
  number: KIND_MCS_LOCK,
  properties,
};

/**
 * The queue lock of Mellor-Crummey and Scott: first come, first served. Each waiter polls a word of its own `spin`
 * times (default 100) and then parks on this word. An unlock wakes only the next waiter.
 *
 * Source: Mellor-Crummey and Scott; in Dice, Capacitors, an inner lock. In contrast to the source, a waiter that has
 * polled in vain parks.
 *
 * A thread needs a wait element of the arena (`waiters`) for each lock of this class that it holds or waits for.
 *
 * @example
 * ```ts
 * import { McsLock } from 'taketurns/algorithms';
 *
 * const lock = new McsLock(); // threads share it by lock.handle
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class McsLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: McsLockOptions = {}) {
    super(KIND, make(DEFINITION, options), (a) => queueLock(a, a.mcsLock, a.mcsTryLock, a.mcsUnlock));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a McsLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = McsLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: McsLockHandle): McsLock {
    return new McsLock(find(DEFINITION, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = McsLock.open('accounts');
   */
  static open(name: string, options: McsLockOptions = {}): McsLock {
    return new McsLock(open(DEFINITION, name, options));
  }
}
