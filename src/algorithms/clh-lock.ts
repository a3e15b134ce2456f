/** ClhLock is the public face of core/algorithms/clh-lock.ts. */
import type { Handle } from '../reference.js';
import { type LockOptions, lockObject, openLock, queueLock, SharedLock } from './lock.js';
import { find } from './objects.js';

/** What may be said of a new `ClhLock`. */
export type ClhLockOptions = LockOptions;
/** What to send to another thread, for `ClhLock.from` there: plain and structured-cloneable. */
export type ClhLockHandle = Handle<'ClhLock'>;

const KIND = 'ClhLock';

/**
 * The queue lock of Craig, Landin and Hagersten: first come, first served, each waiter on a word that is the one
 * before it. It polls that `spin` times (default 100) and then parks on it; an unlock wakes the next alone.
 *
 * Source: Craig; Landin and Hagersten. Here spinning ends in parking, and a free lock keeps no queue node.
 *
 * A thread needs a wait element of the arena (`waiters`) for each such lock that it holds or waits for.
 */
export class ClhLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options?: ClhLockOptions) {
    super(KIND, lockObject(KIND, options), (a) => queueLock(a, a.clhLock, a.clhTryLock, a.clhUnlock));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if it is no handle of a ClhLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread, or for another attachment of one.
   */
  static from(handle: ClhLockHandle): ClhLock {
    return new ClhLock(find(KIND, handle));
  }

  /**
   * The lock of this name in the arena: attaches to it, or creates it. Never blocks.
   * @param name 1 to 108 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name is that of something else.
   * @throws {ArenaFullError} if the arena has no room for another object, name or attachment.
   */
  static open(name: string, options?: ClhLockOptions): ClhLock {
    return new ClhLock(openLock(KIND, name, options));
  }
}
