/**
 * Two kinds of signals. A caller gives a signal to cancel its requests (`whenAborted`). A guard has a signal that is
 * aborted when the lease is lost, and that looks at the clock whenever somebody reads it (`lookingAtTheClock`).
 */
import { whenAborted as listen } from '../../../src/common/signals.js';

/**
 * Calls `cancel` when the signal is aborted. A guard's signal may be aborted while it takes a listener: then calls
 * `cancel` at once. Returns a function that stops this. Throws the error of the signal if it takes no listener.
 */
export function whenAborted(signal: AbortSignal, cancel: () => void): () => void {
  const unlisten = listen(signal, cancel);
  if (signal.aborted) cancel();
  return unlisten;
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
