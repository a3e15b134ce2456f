/**
 * This file calls a promise back when its time-out comes or its signal is aborted, and makes the error of a time-out.
 */
import { TimeoutError } from '../errors.js';

/** Those who cancel when a signal fires: it has one listener for all of them, however many share it. */
interface Abortion {
  readonly givers: Set<() => void>;
  readonly listener: () => void;
}

const abortions = new WeakMap<AbortSignal, Abortion>();

function listen(signal: AbortSignal): Abortion {
  const givers = new Set<() => void>();
  const listener = (): void => {
    // Not over a copy: one that cancels may get another its permits, and then that is settled and gone.
    for (const cancel of givers) cancel();
  };
  signal.addEventListener('abort', listener);
  const abortion = { givers, listener };
  abortions.set(signal, abortion);
  return abortion;
}

/** Calls `cancel` when the time-out or the signal comes; returns what stops that. */
export function watch(
  timeout: number,
  signal: AbortSignal | undefined,
  cancel: (reason: unknown) => void,
  wanted: Wanted,
): () => void {
  const timer =
    timeout === Infinity ? undefined : setTimeout(() => cancel(timedOut(wanted, timeout)), timeout);
  if (signal === undefined) return () => clearTimeout(timer);
  const { givers, listener } = abortions.get(signal) ?? listen(signal);
  const abort = (): void => cancel(signal.reason);
  givers.add(abort);
  return () => {
    clearTimeout(timer);
    if (!givers.delete(abort) || givers.size > 0) return;
    signal.removeEventListener('abort', listener);
    abortions.delete(signal);
  };
}

/** What a request is for, as its TimeoutError says it. */
export type Wanted = 'the permits were' | 'the lock was';

export function timedOut(wanted: Wanted, timeout: number): TimeoutError {
  return new TimeoutError(`${wanted} not to be had within ${timeout} ms`);
}
