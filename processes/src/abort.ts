/**
 * Two kinds of signals. A caller gives a signal to cancel its requests (`whenAborted`). A guard has a signal that is
 * aborted when the lease is lost, and that looks at the clock whenever somebody reads it (`lookingAtTheClock`).
 *
 * A caller's signal gets one listener for all requests that it cancels, because Node warns if a signal has more than
 * ten listeners.
 */
import { microtask } from './ticks.js';

/** The one listener of a signal, and the functions that it calls. */
interface Abortion {
  readonly cancels: Set<() => void>;
  readonly listener: () => void;
}

const abortions = new WeakMap<AbortSignal, Abortion>();

/**
 * Calls `cancel` when the signal is aborted. Returns a function that stops listening. Throws the error of the signal if
 * it takes no listener.
 */
export function whenAborted(signal: AbortSignal, cancel: () => void): () => void {
  let abortion = abortions.get(signal);
  if (abortion === undefined) {
    const cancels = new Set<() => void>();
    const listener = (): void => {
      for (const each of cancels) each();
    };
    abortion = { cancels, listener };
    abortions.set(signal, abortion);
  }
  const { cancels, listener } = abortion;
  // Each call has a function of its own, so that a caller may pass the same `cancel` twice.
  const own = (): void => cancel();
  cancels.add(own);
  // A guard's signal may be aborted while it takes a listener, so `cancels` must have the function before that. If the
  // signal has this listener already, it is not added again.
  try {
    signal.addEventListener('abort', listener);
  } catch (error) {
    cancels.delete(own);
    throw error;
  }
  return () => {
    if (!cancels.delete(own) || cancels.size > 0) return;
    // The code of the signal belongs to the user, so it runs in a microtask: here a reply may be read, and it may grant
    // other requests.
    microtask(() => {
      if (cancels.size > 0 || abortions.get(signal) !== abortion) return;
      abortions.delete(signal);
      signal.removeEventListener('abort', listener);
    });
  };
}

/**
 * Makes a signal call `look` whenever somebody reads the signal or begins to listen. `look` aborts the signal if the
 * lease is over. The signal gets properties of its own, which hide those of its prototype. So it stays an `AbortSignal`
 * for `fetch`, `AbortSignal.any` and the functions of Node, which read `aborted` before they begin.
 */
export function lookingAtTheClock(signal: AbortSignal, look: () => void): AbortSignal {
  const { prototype } = AbortSignal;
  for (const name of ['aborted', 'reason', 'onabort'] as const) {
    Object.defineProperty(signal, name, {
      get() {
        look();
        return Reflect.get(prototype, name, signal);
      },
      set(value) {
        Reflect.set(prototype, name, value, signal);
        look();
      },
    });
  }
  return Object.assign(signal, {
    throwIfAborted() {
      if (signal.aborted) throw signal.reason;
    },
    addEventListener(...args: Parameters<AbortSignal['addEventListener']>) {
      prototype.addEventListener.apply(signal, args);
      look();
    },
  });
}
