/** The library waits without blocking by `Atomics.waitAsync`. Where the runtime has none, the host has a substitute. */
import { host } from '#host';
import type { WaitAsync } from '../host/host.js';

export const isNative = typeof Atomics.waitAsync === 'function';

/** Without it a promise could be queued, but never be settled. */
export const canWaitAsync = isNative || host.waitAsync !== undefined;
export const NO_WAIT_ASYNC = 'this runtime has no Atomics.waitAsync: use acquire or lock, in a worker';

/** Callers check `canWaitAsync` first. */
export const waitAsync: WaitAsync = isNative
  ? (words, index, value, timeout) => Atomics.waitAsync(words as Int32Array, index, value as number, timeout)
  : (host.waitAsync as WaitAsync);
