/**
 * Signals: what ends a wait before its turn.
 *
 *     a signal ──► one listener ──► the set of the waits that it ends
 *
 * A signal may end 100,000 waits. An event target looks at all of its listeners when one is added, and Node warns if it
 * has more than ten. So a signal has one listener for all of its waits.
 */

import { callEach } from './each.js';

/**
 * The part of an `AbortSignal` that this library needs. The library has this type because the types of some programs
 * have no `AbortSignal`. Every `AbortSignal` is a `Signal`.
 */
export interface Signal {
  /** Whether it has been aborted. */
  readonly aborted: boolean;
  /** The reason for which it has been aborted. */
  readonly reason: unknown;
  /** Registers a function that is called when it is aborted. Never blocks, throws nothing. */
  addEventListener(event: 'abort', listener: () => void): void;
  /** Removes a function that has been registered. Never blocks, throws nothing. */
  removeEventListener(event: 'abort', listener: () => void): void;
}

/** The waits that a signal ends. */
interface Ends {
  readonly waits: Set<() => void>;
  readonly listener: () => void;
}

const endsOf = new WeakMap<Signal, Ends>();
/** `then` calls a function in a microtask. A test may have replaced `queueMicrotask`. */
const settled = Promise.resolve();

function listen(signal: Signal): Ends {
  const waits = new Set<() => void>();
  const listener = (): void => {
    // The loop goes over the set itself and not over a copy: a wait that ends may let another wait go on. That one
    // leaves the set, and must not be ended.
    callEach(waits);
  };
  signal.addEventListener('abort', listener);
  const ends = { waits, listener };
  endsOf.set(signal, ends);
  return ends;
}

/**
 * Calls `end` when the signal is aborted after this call. The code of the signal belongs to the user, and may abort the
 * signal in this call: the caller looks at `aborted` afterwards. Throws what the signal throws. Returns a function that
 * stops this.
 */
export function whenAborted(signal: Signal, end: () => void): () => void {
  const ends = endsOf.get(signal) ?? listen(signal);
  const { waits, listener } = ends;
  // Each call has a function of its own, so that a caller may give the same `end` twice.
  const own = (): void => end();
  waits.add(own);
  return () => {
    if (!waits.delete(own) || waits.size > 0) return;
    // The code of the signal runs in a microtask. Here a call may be under way, and some promises may not be settled
    // yet.
    settled.then(() => {
      if (waits.size > 0 || endsOf.get(signal) !== ends) return;
      endsOf.delete(signal);
      signal.removeEventListener('abort', listener);
    });
  };
}

/**
 * Returns the reason for which a signal was aborted; or what the signal throws instead. The signals of the oldest
 * engines have no reason.
 */
export function reasonOf(signal: Signal): unknown {
  try {
    const { reason } = signal;
    return reason === undefined ? Object.assign(new Error('the wait was aborted'), { name: 'AbortError' }) : reason;
  } catch (error) {
    return error;
  }
}
