/**
 * Signals of callers, which cancel requests, and signals of guards. A signal of a caller has one listener for all
 * requests that it cancels, because Node warns if a signal has more than ten.
 */

interface Abortion {
  readonly cancels: Set<() => void>;
  readonly listener: () => void;
}

const abortions = new WeakMap<AbortSignal, Abortion>();

/** Calls `cancel` when the signal is aborted. Returns a function that stops listening. */
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
  // A signal may call back while it takes a listener. It takes the same listener only once.
  signal.addEventListener('abort', listener);
  return () => {
    if (!cancels.delete(own) || cancels.size > 0) return;
    abortions.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

/**
 * Makes a signal call `look` whenever somebody reads it or begins to listen; `look` aborts the signal if that is due.
 * The signal gets properties of its own, which come before those of its prototype. So it stays an `AbortSignal` for
 * `fetch`, `AbortSignal.any` and the functions of Node, which read `aborted` before they begin.
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
