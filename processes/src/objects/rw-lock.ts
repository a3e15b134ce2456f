/**
 * A read-write lock of a space. It is a semaphore of 2^20 permits: a reader takes one permit, and a writer takes all.
 */

import { READERS } from '../session/shared-object.js';
import type { WaitOptions } from './acquire.js';
import { ask, askAtOnce, Handle } from './handle.js';
import { HeldRead, HeldWrite } from './hold.js';

/**
 * A read-write lock that all processes of a space share. Requests are served in the order in which they reach the
 * server, so neither readers nor writers starve. At most 1,048,576 readers hold the lock at once. `Space.rwLock` opens
 * a lock.
 */
export class RwLock extends Handle {
  /**
   * Locks for reading. Several readers hold the lock at once. Never blocks the thread.
   * @throws (rejects) as `Semaphore.holdAsync`.
   * @example await using reading = await lock.readAsync({ timeout: 500 });
   */
  async readAsync(options?: WaitOptions): Promise<HeldRead> {
    return this[ask]('readAsync', 1, HeldRead, options);
  }

  /**
   * Locks for reading if nobody writes or waits, and otherwise resolves to undefined. Takes one round trip. Never
   * blocks the thread.
   * @throws (rejects) as `Semaphore.holdAsync`, but never for a time-out.
   * @example await using reading = await lock.tryRead();
   */
  tryRead(): Promise<HeldRead | undefined>;
  async tryRead(...none: readonly unknown[]): Promise<HeldRead | undefined> {
    return this[askAtOnce]('tryRead', 1, HeldRead, none);
  }

  /**
   * Locks for writing. A writer holds the lock alone. Never blocks the thread.
   * @throws (rejects) as `Semaphore.holdAsync`.
   * @example await using writing = await lock.writeAsync({ timeout: 500 });
   */
  async writeAsync(options?: WaitOptions): Promise<HeldWrite> {
    return this[ask]('writeAsync', READERS, HeldWrite, options);
  }

  /**
   * Locks for writing if nobody holds or waits, and otherwise resolves to undefined. Takes one round trip. Never blocks
   * the thread.
   * @throws (rejects) as `Semaphore.holdAsync`, but never for a time-out.
   * @example await using writing = await lock.tryWrite();
   */
  tryWrite(): Promise<HeldWrite | undefined>;
  async tryWrite(...none: readonly unknown[]): Promise<HeldWrite | undefined> {
    return this[askAtOnce]('tryWrite', READERS, HeldWrite, none);
  }

  /** `RwLock`. */
  get [Symbol.toStringTag](): string {
    return 'RwLock';
  }
}
