/**
 * How long a request waits: a time-out, an abort signal, or both.
 */
import { badType, checkOptions, checkType, TimeoutError } from './errors.js';

/** Longest time-out that a timer can be set to; see `setTimeout`. */
const LONGEST = 2 ** 31 - 1;

/** How long a request may take. */
export interface Patience {
  /**
   * Milliseconds, 0 to 2,147,483,647, or `Infinity` (the default). 0: only if it is the request's turn at once.
   * The request gives up with a `TimeoutError`.
   */
  readonly timeout?: number;
  /**
   * Aborted: the request gives up with the signal's reason. Aborted already: it never queues. While a thread
   * blocks its own signals cannot fire, so that `acquire`, `lock` and `hold` look at it once, before they begin.
   */
  readonly signal?: AbortSignal;
}

/** Checks a patience and returns its time-out in milliseconds. Throws the signal's reason if that is aborted. */
export function checkPatience(what: string, patience: Patience): number {
  checkOptions(what, patience);
  const { timeout = Infinity, signal } = patience;
  checkType(`${what}: timeout`, timeout, 'number', 'a number of milliseconds');
  if (!((timeout >= 0 && timeout <= LONGEST) || timeout === Infinity)) {
    throw new RangeError(
      `${what}: timeout must be from 0 to ${LONGEST} milliseconds or Infinity, got ${timeout}`,
    );
  }
  if (signal !== undefined) {
    if (typeof signal?.aborted !== 'boolean' || typeof signal.addEventListener !== 'function') {
      throw badType(`${what}: signal`, 'an AbortSignal', signal);
    }
    signal.throwIfAborted();
  }
  return timeout;
}

/** Those who give up when a signal fires: it has one listener for all of them, however many share it. */
interface Abortion {
  readonly givers: Set<() => void>;
  readonly listener: () => void;
}

const abortions = new WeakMap<AbortSignal, Abortion>();

function listen(signal: AbortSignal): Abortion {
  const givers = new Set<() => void>();
  const listener = (): void => {
    // Not over a copy: one that gives up may get another its permits, and then that is settled and gone.
    for (const giveUp of givers) giveUp();
  };
  signal.addEventListener('abort', listener);
  const abortion = { givers, listener };
  abortions.set(signal, abortion);
  return abortion;
}

/** Calls `giveUp` when the patience ends; returns what stops that. */
export function watch(
  timeout: number,
  signal: AbortSignal | undefined,
  giveUp: (reason: unknown) => void,
  wanted: Wanted,
): () => void {
  const timer =
    timeout === Infinity ? undefined : setTimeout(() => giveUp(timedOut(wanted, timeout)), timeout);
  if (signal === undefined) return () => clearTimeout(timer);
  const { givers, listener } = abortions.get(signal) ?? listen(signal);
  const abort = (): void => giveUp(signal.reason);
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
