/**
 * This entry has the facilities that P0514R1 proposes (Giroux, Adding std::*_semaphore to the atomics clause), under
 * JavaScript forms of their names.
 * @module p0514
 */

export type { ParkingOptions } from '../policies.js';
export {
  AtomicSemaphore,
  type AtomicSemaphoreHandle,
  type AtomicSemaphoreOptions,
} from './atomic-semaphore.js';
export {
  type AtomicWaitOptions,
  atomicSignal,
  atomicTryWait,
  atomicTryWaitFor,
  atomicTryWaitForAsync,
  atomicTryWaitUntil,
  atomicTryWaitUntilAsync,
  atomicWait,
  atomicWaitAsync,
} from './atomic-wait.js';
export { BinarySemaphore, type BinarySemaphoreHandle } from './binary-semaphore.js';
export { CountingSemaphore, type CountingSemaphoreHandle } from './counting-semaphore.js';
export { Notify } from './notify.js';
export type { SemaphoreOptions } from './semaphore.js';
export type { ValueOf, WaitableArray } from './words.js';
