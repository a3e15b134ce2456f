/** Listens to signals. A signal has one listener for all requests that it cancels: Node warns of more than ten. */

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
    signal.addEventListener('abort', listener);
    abortion = { cancels, listener };
    abortions.set(signal, abortion);
  }
  const { cancels, listener } = abortion;
  // A function of its own, so that the same one may be called twice.
  const own = (): void => cancel();
  cancels.add(own);
  return () => {
    if (!cancels.delete(own) || cancels.size > 0) return;
    abortions.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}
