/** The options of a lock for readers and writers, and what it tells of itself. */
import type { WaitOptions } from '../../objects/options.js';
import type { Handle } from '../../objects/reference.js';
import type { HeldRead } from '../held-rw.js';

/** How long a promise may take to lock for reading, and within which guard it reads. */
export interface ReadOptions extends WaitOptions {
  /**
   * A guard of the same lock that this thread holds. The promise then reads at once, even if a writer waits. Give the
   * guard if the code that unlocks it waits for the promise. Without it, the promise may wait for a writer and the
   * writer for the guard, which is a deadlock. A writer that waits for the guard waits for this reading too, so do not
   * let such readings overlap for ever.
   */
  readonly within?: HeldRead;
}

/** A plain, structured-cloneable value to send to another thread, for `RwLock.from` there. */
export type RwLockHandle = Handle<'RwLock'>;

/** A thread that waits for a `RwLock`. */
export interface RwLockWaiter {
  /** The number of the thread in the arena. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /**
   * What the thread waits for. `'write'`: for its turn to write. `'drain'`: it has the turn, and waits until readers
   * have left. `'read'`: it wants to read, and waits for a writer.
   */
  readonly wants: 'read' | 'write' | 'drain';
  /** The number of calls of the thread that wait: blocked calls and promises. */
  readonly calls: number;
  /** How many milliseconds ago the first of these calls began to wait, from 0 on. */
  readonly waited: number;
}

/** What `inspect` tells about a lock. The answer may be out of date at once. */
export interface RwLockState {
  /** The numbers of the threads that read. */
  readonly readers: readonly number[];
  /**
   * The number of the thread that has the writers' turn, if a thread has it. This thread writes, updates, or waits for
   * readers to leave.
   */
  readonly writer: number | undefined;
  /** Whether a writer is in, or waits until the readers have left. If so, no further thread is let in to read. */
  readonly writing: boolean;
  /** The number of threads that have died, or ended, with the turn. */
  readonly deaths: number;
  /**
   * The threads that wait. First come the threads that wait to read or to drain, then the threads that wait for the
   * turn, in the order of the queue.
   */
  readonly waiters: readonly RwLockWaiter[];
}
