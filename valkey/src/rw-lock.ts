/** A read-write lock of a space: a semaphore of 2^20 permits. A reader takes one of them, a writer all. */
import type { WaitOptions } from './acquire.js';
import { Handle } from './handle.js';
import { HeldRead, HeldWrite } from './hold.js';
import { READERS } from './object.js';

/**
 * A read-write lock that all processes of a space share. Requests are served in the order in which they reach the server,
 * so neither readers nor writers starve. At most 1,048,576 readers hold it at once. `Space.rwLock` opens it.
 */
export class RwLock extends Handle {
  /**
   * Locks for reading, with others who read.
   * @throws (rejects) as `Semaphore.holdAsync`.
   */
  async readAsync(options?: WaitOptions): Promise<HeldRead> {
    return new HeldRead(await this.acquire('readAsync', 1, options));
  }

  /** Locks for reading if nobody writes or waits, and else resolves to undefined. One round trip. */
  async tryRead(): Promise<HeldRead | undefined> {
    const hold = await this.try('tryRead', 1);
    return hold && new HeldRead(hold);
  }

  /**
   * Locks for writing, alone.
   * @throws (rejects) as `Semaphore.holdAsync`.
   */
  async writeAsync(options?: WaitOptions): Promise<HeldWrite> {
    return new HeldWrite(await this.acquire('writeAsync', READERS, options));
  }

  /** Locks for writing if nobody holds or waits, and else resolves to undefined. One round trip. */
  async tryWrite(): Promise<HeldWrite | undefined> {
    const hold = await this.try('tryWrite', READERS);
    return hold && new HeldWrite(hold);
  }

  /** `RwLock`. */
  get [Symbol.toStringTag](): string {
    return 'RwLock';
  }
}
