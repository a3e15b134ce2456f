/** Fair semaphores, mutexes and read-write locks for processes, of one machine or on Valkey or Redis. */

export {
  type InstrumentOptions,
  type Meter,
  type ObservableResult,
  openTelemetry,
  prometheus,
} from '../../src/common/exporters.js';
export type { Limited, MutexLimit, SemaphoreLimit } from '../../src/common/limiting.js';
export type { Histogram, MetricPoint } from '../../src/common/metric.js';
export type { RateRequest } from '../../src/common/rate.js';
export type { PermitsRequest } from '../../src/common/waits.js';
export type { Driver, Script, StopListening } from './drivers/driver.js';
export { CancelledError, DisposedError, LeaseLostError, SpaceError, TimeoutError } from './errors.js';
export type { Metric, SpaceEvents } from './events.js';
export type { WaitOptions } from './objects/acquire.js';
export type { Holder, ObjectState, Party } from './objects/handle.js';
export type { Held, HeldLock, HeldPermits, HeldRead, HeldWrite } from './objects/hold.js';
export type { HeldAll, HeldOf, Holdable } from './objects/hold-all.js';
export type { KeyedRateLimiter, KeyedRateLimiterOptions } from './objects/keyed-rate-limiter.js';
export type { Leader, LeaderState } from './objects/leader.js';
export type { Mutex } from './objects/mutex.js';
export type { RateCallOptions, RateLimiter, RateLimiterOptions, RateLimiterState } from './objects/rate-limiter.js';
export type { RwLock } from './objects/rw-lock.js';
export type { Semaphore } from './objects/semaphore.js';
export type { Durability, LocalOptions, SpaceOptions } from './options.js';
export type { MutexOptions, ObjectOptions } from './session/shared-object.js';
export { type CollectedMetric, metrics, startMetrics } from './space/metrics.js';
export { type ObjectEntry, Space, type SpaceState } from './space/space.js';
