/** This file cancels a promise on a time-out or by a signal. */

import { timedOut } from '../common/errors.js';
import { reasonOf, type Signal, whenAborted } from '../common/signals.js';
import { clearTimeout, setTimeout } from './clock.js';
import { CancelledError, TimeoutError } from './errors.js';
import { countdown, LEFT_AS_ASKED, type Left } from './parking.js';

const nothing = (): void => {};

/** `then` calls a function in a microtask. A test may have replaced `queueMicrotask`. */
const settled = Promise.resolve();

/** Ends a wait, whose promise then rejects with the reason. */
export type Cancel = (reason: () => unknown) => void;

/**
 * Calls `cancel` when the time-out has passed or the signal is aborted. Returns a function that ends this. Throws
 * nothing: if the signal throws, the request is cancelled with this error. `cancel` gets a function that makes the
 * reason, and calls it when the request has left the queue, because the error of a time-out tells the state at that
 * moment. `cancel` is never called before this function has returned, even if the signal calls
 * its listener at once.
 */
export function cancelOn(timeout: number, signal: Signal | undefined, cancel: Cancel, wanted: Wanted): () => void {
  const stop = timeout === Infinity ? nothing : after(timeout, () => cancel(() => timedOut(wanted(), timeout)));
  if (signal === undefined) return stop;
  const abort = (): void => {
    const reason = reasonOf(signal);
    cancel(() => reason);
  };
  let unlisten: (() => void) | undefined;
  let over = false;
  // The caller is about to queue the request, or has just queued it, and cannot cancel it yet. So a microtask does.
  try {
    unlisten = whenAborted(signal, abort);
    // The options may have a getter that now gives another signal than the one that was checked. Or a method of the
    // signal itself may have aborted it.
    if (signal.aborted) settled.then(() => over || abort());
  } catch (error) {
    settled.then(() => over || cancel(() => error));
  }
  return () => {
    over = true;
    stop();
    unlisten?.();
  };
}

/**
 * Calls a function when so many milliseconds have passed, and not earlier. Returns a function that stops the timer.
 *
 * A timer counts whole milliseconds. It drops a fraction of the delay, and may drop a fraction of the clock as well. So
 * the delay is rounded up, and a timer that fires early is set again.
 */
function after(milliseconds: number, run: () => void): () => void {
  const left = countdown(milliseconds);
  const fire = (): void => {
    const remaining = left();
    if (remaining <= 0) run();
    else timer = setTimeout(fire, Math.ceil(remaining));
  };
  // A call that waits again may have no time left.
  let timer = setTimeout(fire, Math.ceil(Math.max(milliseconds, 0)));
  return () => clearTimeout(timer);
}

/** Whether a wait that has ended with this reason has timed out. A signal may also be aborted with a TimeoutError. */
export function isTimeout(reason: unknown, signal: Signal | undefined): boolean {
  if (!(reason instanceof TimeoutError)) return false;
  try {
    return !(signal?.aborted && reason === reasonOf(signal));
  } catch {
    return true;
  }
}

/**
 * Throws the error again. A timer makes a TimeoutError, so the stack of the error does not show which code awaits the
 * promise. This function runs in a reaction of the promise. There V8 can tell which code awaits the promise, so the
 * TimeoutError gets this stack. A promise that does not time out costs nothing for this.
 */
export function locate(error: unknown): never {
  if (error instanceof TimeoutError) Error.captureStackTrace?.(error, locate);
  throw error;
}

/** Says what a request has waited for, in the words of its TimeoutError, when the request is over. */
export type Wanted = () => string;

/** The error of a thread whose request has left the queue. */
export function notAdmitted(why: Left, wanted: Wanted, timeout: number): Error {
  return why === LEFT_AS_ASKED ? new CancelledError() : timedOut(wanted(), timeout);
}
