/** `Atomics.waitAsync`, or where the engine has none what the host has in its place. */
import { host } from '#host';

/** As much of what `Atomics.waitAsync` answers as is needed: a promise, if there is something to wait for. */
export type WaitAsync = (
  words: Int32Array | BigInt64Array,
  index: number,
  value: number | bigint,
  timeout?: number,
) =>
  | { readonly async: false; readonly value: string }
  | { readonly async: true; readonly value: Promise<unknown> };

const native = typeof Atomics.waitAsync === 'function';

/** Without it a promise could be queued, but never be told. */
export const canWaitAsync = native || host.waitAsync !== undefined;
export const NO_WAIT_ASYNC =
  'this engine has no Atomics.waitAsync, which acquireAsync and lockAsync need: use acquire or lock, in a worker';

/** Only if `canWaitAsync`. */
export const waitAsync: WaitAsync = native
  ? (words, index, value, timeout) => Atomics.waitAsync(words as Int32Array, index, value as number, timeout)
  : (host.waitAsync as WaitAsync);
