/**
 * This is the main entry: fair semaphores and a mutex for threads over shared memory, and the arena that holds them.
 * @module taketurns
 */

export {
  Arena,
  type ArenaHandle,
  type ArenaOptions,
  type SharedMemory,
  type ThreadHandle,
  type WatchedWorker,
} from './arena.js';
export { ArenaFullError, CancelledError, DisposedError, SelfDeadlockError, TimeoutError } from './errors.js';
export { HeldLock } from './held-lock.js';
export { HeldPermits } from './held-permits.js';
export { Mutex, type MutexHandle, type MutexOptions } from './mutex.js';
export type { ParkingOptions, Signal, WaitOptions } from './options.js';
export { Semaphore, type SemaphoreHandle, type SemaphoreOptions } from './semaphore.js';
export type {
  ArenaStats,
  HolderStats,
  MutexStats,
  SemaphoreStats,
  ThreadStats,
  Used,
  WaiterStats,
} from './stats.js';
