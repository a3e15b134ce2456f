/**
 * taketurns/sync has objects for which threads wait, besides the semaphores and the mutex of `taketurns`. Threads share
 * each object by handle or name, as they share a `Semaphore`. Blocked threads and promises wait together.
 *
 * @module
 */

export type { EventSwitch, LatchCount, TaskEnd, WaitGroupCount } from '../common/counting.js';
export type { RwLockGuards } from '../common/guarding.js';
export type { ConditionStats } from '../objects/stats.js';
export { BrokenBarrierError, SelfDeadlockError } from '../runtime/errors.js';
export {
  Barrier,
  type BarrierHandle,
  type BarrierOptions,
  type BarrierState,
} from './barrier.js';
export { Condition, type ConditionHandle } from './condition.js';
export { Event, type EventHandle, type EventOptions, type EventState } from './event.js';
export { HeldRead, HeldUpdate, HeldWrite } from './held-rw.js';
export { Latch, type LatchHandle, type LatchState } from './latch.js';
export { Once, type OnceHandle, type OnceState } from './once.js';
export type { SyncOptions, Waiter } from './phase-object.js';
export { RwLock } from './rw-lock/rw-lock.js';
export type { ReadOptions, RwLockHandle, RwLockState, RwLockWaiter } from './rw-lock/types.js';
export { HeldTask, type TaskHolder, WaitGroup, type WaitGroupHandle, type WaitGroupState } from './wait-group.js';
