/**
 * taketurns/tasks has the semaphores, locks and channels of `taketurns` and its other entries for the tasks of one thread,
 * with the same names, options and order. It needs neither shared memory nor WebAssembly.
 *
 * @since 0.3.0
 * @module
 */

export type { EventSwitch, LatchCount, TaskEnd, WaitGroupCount } from '../common/counting.js';
export { BrokenBarrierError, CancelledError, ClosedError, DisposedError, TimeoutError } from '../common/errors.js';
export type { MutexGuards, RwLockGuards, SemaphoreGuards } from '../common/guarding.js';
export type { Key, KeyedStats, KeyStats } from '../common/keys.js';
export type {
  KeyedMutexRuns,
  KeyedSemaphoreRuns,
  Limited,
  MutexLimit,
  SemaphoreLimit,
  SemaphoreRuns,
} from '../common/limiting.js';
export type {
  KeyedRateLimiting,
  Rate,
  RateCallOptions,
  RateLimiting,
  RateOptions,
  RateRequest,
  RateWaiterStats,
} from '../common/rate.js';
export type { Signal } from '../common/signals.js';
export type { PermitsRequest, WaitOptions } from '../common/waits.js';
export { Barrier, type BarrierOptions, type BarrierState } from './barrier.js';
export { Channel, type ChannelOptions, type ChannelStats, type Received } from './channel.js';
export { Condition, type ConditionStats } from './condition.js';
export { Event, type EventOptions, type EventState } from './event.js';
export { HeldLock, HeldPermits } from './guards.js';
export { HeldRead, HeldUpdate, HeldWrite } from './held-rw.js';
export { HeldKeys } from './keyed.js';
export { KeyedMutex } from './keyed-mutex.js';
export {
  KeyedRateLimiter,
  type KeyedRateLimiterOptions,
  type KeyedRateLimiterStats,
} from './keyed-rate-limiter.js';
export { KeyedSemaphore } from './keyed-semaphore.js';
export { Latch, type LatchState } from './latch.js';
export { Mutex, type MutexStats } from './mutex.js';
export { Once, type OnceState } from './once.js';
export { RateLimiter, type RateLimiterOptions, type RateLimiterStats } from './rate-limiter.js';
export { type ReadOptions, RwLock, type RwLockState, type RwLockWaiter } from './rw-lock.js';
export { Semaphore, type SemaphoreOptions, type SemaphoreStats } from './semaphore.js';
export type { QueueStats, WaiterStats, Waiting } from './stats.js';
export { HeldTask, WaitGroup, type WaitGroupState } from './wait-group.js';
