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
} from './arena/arena.js';
export type { MutexGuards, SemaphoreGuards } from './common/guarding.js';
export type { Limited, MutexLimit, SemaphoreLimit, SemaphoreRuns } from './common/limiting.js';
export type { PermitsRequest } from './common/waits.js';
export { Mutex, type MutexHandle, type MutexOptions } from './mutex/mutex.js';
export { HeldLock } from './objects/held-lock.js';
export { HeldPermits } from './objects/held-permits.js';
export type { Signal, WaitOptions } from './objects/options.js';
export type {
  ArenaStats,
  HolderStats,
  MutexStats,
  SemaphoreStats,
  ThreadStats,
  Used,
  WaiterStats,
} from './objects/stats.js';
export { ArenaFullError, CancelledError, DisposedError, SelfDeadlockError, TimeoutError } from './runtime/errors.js';
export { Semaphore, type SemaphoreHandle, type SemaphoreOptions } from './semaphore/semaphore.js';
