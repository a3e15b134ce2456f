/** The facilities of P0514R1 (Giroux, Adding std::*_semaphore to the atomics clause), each under its own name. */
export { BinarySemaphore, type BinarySemaphoreHandle } from './binary-semaphore.js';
export { CountingSemaphore, type CountingSemaphoreHandle } from './counting-semaphore.js';
export { Notify } from './notify.js';
export type { SemaphoreOptions } from './semaphore.js';
