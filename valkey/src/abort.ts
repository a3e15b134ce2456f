/**
 * Signals: those of callers, which cancel requests, and those of guards. A signal of a caller has one listener for all
 * requests that it cancels: Node warns of more than ten.
 */

interface Abortion {
  readonly cancels: Set<() => void>;
  readonly listener: () => void;
}

const abortions = new WeakMap<AbortSignal, Abortion>();

/** Calls `cancel` when the signal is aborted. Returns a function that stops that. */
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
  // A function of its own, so that the same one may be called twice.
  const own = (): void => cancel();
  cancels.add(own);
  // A signal may call back while it takes a listener. It takes the same one once.
  signal.addEventListener('abort', listener);
  return () => {
    if (!cancels.delete(own) || cancels.size > 0) return;
    abortions.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

/**
 * Makes a signal call `look`, which aborts it if that is due, whenever somebody looks at it or begins to listen. The
 * properties are its own, before those of its prototype. So it stays an `AbortSignal` for all who ask: for `fetch`,
 * `AbortSignal.any` and the functions of Node, which read `aborted` before they begin.
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
