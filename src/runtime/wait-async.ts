/** The library waits without blocking by `Atomics.waitAsync`. If the runtime has none, the host has a substitute. */
import { host } from '#host';
import type { WaitAsync } from '../host/host.js';

export const isNative = typeof Atomics.waitAsync === 'function';

/**
 * Throws an Error if the runtime cannot wait without blocking: a promise could then be queued, but never be settled.
 */
export function checkWaitAsync(): void {
  if (!isNative && host.waitAsync === undefined) {
    throw new Error('there is no Atomics.waitAsync: use the blocking form, in a worker');
  }
}

/** Callers must call `checkWaitAsync` first. */
export const waitAsync: WaitAsync = isNative
  ? (words, index, value, timeout) => Atomics.waitAsync(words as Int32Array, index, value as number, timeout)
  : (host.waitAsync as WaitAsync);
