/**
 * taketurns/keyed has locks by key, which threads share: a mutex or a semaphore for each key, made on demand, and gone
 * when nobody uses it. It has rate limiters for threads as well (src/rates/).
 *
 * @since 0.3.0
 * @module
 */

export type { Key, KeyedStats, KeyStats } from '../common/keys.js';
export type {
  KeyedMutexRuns,
  KeyedSemaphoreRuns,
  Limited,
} from '../common/limiting.js';
export type { Rate, RateLimiting, RateOptions, RateWaiterStats } from '../common/rate.js';
export type { PermitsRequest } from '../common/waits.js';
export {
  KeyedRateLimiter,
  type KeyedRateLimiterHandle,
  type KeyedRateLimiterOptions,
  type KeyedRateLimiterStats,
  type RateOfKeyStats,
} from '../rates/keyed-rate-limiter.js';
export {
  RateLimiter,
  type RateLimiterHandle,
  type RateLimiterOptions,
  type RateLimiterStats,
  type RateRequestStats,
} from '../rates/rate-limiter.js';
export { SelfDeadlockError } from '../runtime/errors.js';
export { HeldKeys } from './held-keys.js';
export { KeyedMutex, type KeyedMutexHandle, type KeyedMutexOptions } from './keyed-mutex.js';
export { KeyedSemaphore, type KeyedSemaphoreHandle, type KeyedSemaphoreOptions } from './keyed-semaphore.js';
