/** Fair semaphores, mutexes and read-write locks across processes and machines, on Valkey or Redis. */

export type { WaitOptions } from './acquire.js';
export type { Driver, Script, StopListening } from './drivers/driver.js';
export { CancelledError, DisposedError, LeaseLostError, SpaceError, TimeoutError } from './errors.js';
export type { Durability, ObjectState, Party } from './handle.js';
export type { Held, HeldLock, HeldPermits, HeldRead, HeldWrite } from './hold.js';
export type { Mutex } from './mutex.js';
export type { MutexOptions, ObjectOptions } from './object.js';
export type { RwLock } from './rw-lock.js';
export type { Semaphore } from './semaphore.js';
export { Space, type SpaceEvents, type SpaceOptions, type SpaceState } from './space.js';
