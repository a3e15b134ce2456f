/** ClhLock is the public face of core/papers/clh-lock.ts. */
import { KIND_CLH_LOCK } from '../../border/numbers.js';
import { type Definition, find, type Handle, make, open } from '../../objects/reference.js';
import { type LockOptions, properties, queueLock, SharedLock } from './lock.js';

/** The options of a new `ClhLock`. */
export type ClhLockOptions = LockOptions;
/** A plain, structured-cloneable value to send to another thread, for `ClhLock.from` there. */
export type ClhLockHandle = Handle<'ClhLock'>;

const KIND = 'ClhLock';

const DEFINITION: Definition<typeof KIND, [ClhLockOptions]> = {
  kind: KIND,
  number: KIND_CLH_LOCK,
  properties,
};

/**
 * The queue lock of Craig, Landin and Hagersten: first come, first served. Each waiter waits on the word of the thread
 * before it. The waiter polls this word `spin` times (default 100) and then parks on it. An unlock wakes only the next
 * waiter.
 *
 * Source: Craig; Landin and Hagersten. In contrast to the source, a waiter that has polled in vain parks, and a free
 * lock has no queue node.
 *
 * A thread needs a wait element of the arena (`waiters`) for each lock of this class that it holds or waits for.
 *
 * @example
 * ```ts
 * import { ClhLock } from 'taketurns/algorithms';
 *
 * const lock = new ClhLock(); // threads share it by lock.handle
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class ClhLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: ClhLockOptions = {}) {
    super(KIND, make(DEFINITION, options), (a) => queueLock(a, a.clhLock, a.clhTryLock, a.clhUnlock));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a ClhLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = ClhLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: ClhLockHandle): ClhLock {
    return new ClhLock(find(DEFINITION, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = ClhLock.open('accounts');
   */
  static open(name: string, options: ClhLockOptions = {}): ClhLock {
    return new ClhLock(open(DEFINITION, name, options));
  }
}
