/** Time-outs and signals: what ends a wait before its turn. */
import { reasonOf, type Signal, whenAborted } from '../common/signals.js';
import { checkWaitOptions, type WaitOptions } from '../common/waits.js';
import { clearTimeout, now, setTimeout } from './clock.js';

/** How long a call waits at most: the options of the call after the check. */
export interface Limits {
  /** Milliseconds, or Infinity. */
  readonly timeout: number;
  readonly signal: Signal | undefined;
  /** When the call began. A call that waits several times has one time-out for all its waits. */
  readonly begun: number;
}

/** Checks the options of a call. Throws the reason of a signal that is aborted already. */
export function limitsOf(what: string, options: WaitOptions, names?: readonly string[]): Limits {
  const timeout = checkWaitOptions(what, options, names);
  return { timeout, signal: options.signal, begun: now() };
}

/**
 * Calls `late` when the time has passed, and not earlier; at once if it has passed. Calls `abort` with the reason when
 * the signal is aborted; at once if it has been aborted. Returns a function that stops both. The code of the signal
 * belongs to the user, and may call the library.
 */
export function cancelOn(
  { timeout, signal, begun }: Limits,
  late: () => void,
  abort: (reason: unknown) => void,
): () => void {
  let timer: unknown;
  const tick = (): void => {
    const left = timeout - (now() - begun);
    // A timer counts whole milliseconds, and may fire early.
    if (left > 0) timer = setTimeout(tick, Math.ceil(left));
    else late();
  };
  if (timeout < Infinity) tick();
  let unlisten: (() => void) | undefined;
  const end = (): void => abort(reasonOf(signal as Signal));
  if (signal) {
    try {
      unlisten = whenAborted(signal, end);
      if (signal.aborted) end();
    } catch (error) {
      abort(error);
    }
  }
  return () => {
    clearTimeout(timer as never);
    unlisten?.();
  };
}
