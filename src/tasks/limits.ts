/**
 * Time-outs and signals: what ends a wait before its turn.
 *
 *     a signal ──► one listener ──► the set of the waits that it ends
 *
 * A signal may end 100,000 waits, and an event target looks at all of its listeners when one is added. So a signal has
 * one listener for all of its waits.
 */
import { checkWait } from '../common-errors.js';
import type { Signal, WaitOptions } from '../options.js';
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
  const timeout = checkWait(what, options, names);
  const { signal } = options;
  if (signal?.aborted) throw reasonOf(signal);
  return { timeout, signal, begun: now() };
}

/** Returns the reason of an aborted signal. The signals of the oldest engines have none. */
function reasonOf({ reason }: Signal): unknown {
  return reason === undefined ? Object.assign(new Error('the wait was aborted'), { name: 'AbortError' }) : reason;
}

/** The waits that a signal ends. */
interface Ends {
  readonly waits: Set<() => void>;
  /** Takes the listener from the signal if no wait is left. */
  readonly stop: () => void;
}

const endsOf = new WeakMap<Signal, Ends>();

function listen(signal: Signal): Ends {
  const waits = new Set<() => void>();
  const listener = (): void => {
    // A wait that ends may let another wait go on. That one leaves the set, and is not ended.
    for (const end of waits) end();
  };
  const stop = (): void => {
    if (waits.size || endsOf.get(signal) !== ends) return;
    endsOf.delete(signal);
    signal.removeEventListener('abort', listener);
  };
  const ends = { waits, stop };
  signal.addEventListener('abort', listener);
  endsOf.set(signal, ends);
  return ends;
}

/**
 * Calls `late` when the time has passed, and not earlier; at once if it has passed. Calls `abort` with the reason when
 * the signal is aborted; at once if it has been aborted. Returns a function that stops both. The code of the signal
 * belongs to the user, and may call the library.
 */
export function watch(
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
  let ends: Ends | undefined;
  const end = (): void => abort(reasonOf(signal as Signal));
  if (signal) {
    try {
      ends = endsOf.get(signal) ?? listen(signal);
      ends.waits.add(end);
      if (signal.aborted) end();
    } catch (error) {
      abort(error);
    }
  }
  return () => {
    clearTimeout(timer as never);
    // The code of the signal belongs to the user. Here a call may be under way.
    if (ends?.waits.delete(end) && !ends.waits.size) Promise.resolve().then(ends.stop);
  };
}
