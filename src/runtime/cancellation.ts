/** This file cancels a promise on a time-out or by a signal, and makes the error of a time-out. */
import { TimeoutError } from '../errors.js';
import { clearTimeout, setTimeout } from './clock.js';

/** The requests that a signal cancels. The signal has one listener for all of them. */
interface Abortion {
  readonly cancels: Set<() => void>;
  readonly listener: () => void;
}

const abortions = new WeakMap<AbortSignal, Abortion>();

function listen(signal: AbortSignal): Abortion {
  const cancels = new Set<() => void>();
  const listener = (): void => {
    // The loop does not copy the set: a cancelled request may pass permits to another, which is then settled and gone.
    for (const cancel of cancels) cancel();
  };
  signal.addEventListener('abort', listener);
  const abortion = { cancels, listener };
  abortions.set(signal, abortion);
  return abortion;
}

/** Calls `cancel` when the time-out has passed or the signal is aborted. Returns a function that stops that. */
export function watch(
  timeout: number,
  signal: AbortSignal | undefined,
  cancel: (reason: unknown) => void,
  wanted: Wanted,
): () => void {
  const timer = timeout === Infinity ? undefined : setTimeout(() => cancel(timedOut(wanted, timeout)), timeout);
  if (signal === undefined) return () => clearTimeout(timer);
  const { cancels, listener } = abortions.get(signal) ?? listen(signal);
  const abort = (): void => cancel(signal.reason);
  cancels.add(abort);
  return () => {
    clearTimeout(timer);
    if (!cancels.delete(abort) || cancels.size > 0) return;
    signal.removeEventListener('abort', listener);
    abortions.delete(signal);
  };
}

/** The subject of a TimeoutError: the thing that was requested. */
export type Wanted = `${string} was` | `${string} were`;

export function timedOut(wanted: Wanted, timeout: number): TimeoutError {
  return new TimeoutError(`${wanted} not available within ${timeout} ms`);
}
