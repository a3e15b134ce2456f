/** Fair semaphores, mutexes and read-write locks for processes, of one machine or on Valkey or Redis. */

export type { Limited, MutexLimit, SemaphoreLimit } from '../../src/common/limiting.js';
export type { PermitsRequest } from '../../src/common/waits.js';
export type { WaitOptions } from './acquire.js';
export type { Driver, Script, StopListening } from './drivers/driver.js';
export { CancelledError, DisposedError, LeaseLostError, SpaceError, TimeoutError } from './errors.js';
export type { Metric, SpaceEvents } from './events.js';
export type { Holder, ObjectState, Party } from './handle.js';
export type { Held, HeldLock, HeldPermits, HeldRead, HeldWrite } from './hold.js';
export type { HeldAll, HeldOf, Holdable } from './hold-all.js';
export type { Leader, LeaderState } from './leader.js';
export { type CollectedMetric, type Histogram, type MetricPoint, metrics, startMetrics } from './metrics.js';
export type { Mutex } from './mutex.js';
export type { MutexOptions, ObjectOptions } from './object.js';
export type { Durability, LocalOptions, SpaceOptions } from './options.js';
export type { RwLock } from './rw-lock.js';
export type { Semaphore } from './semaphore.js';
export { type ObjectEntry, Space, type SpaceState } from './space.js';
