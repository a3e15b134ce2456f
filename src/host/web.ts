/** This is the host of browsers. Their workers inherit no value, and an open page needs no timer to stay alive. */

import { waitAsync } from './helper.js';
import type { Host } from './host.js';
import { deaths, threadName } from './locks.js';

const { setTimeout, clearTimeout } = globalThis;
const later: (() => void)[] = [];
let port: MessagePort | undefined;

export const host: Host = {
  clock: {
    now: performance.now.bind(performance),
    setTimeout,
    clearTimeout: clearTimeout as (timer: unknown) => void,
  },
  isMainThread: typeof document !== 'undefined',
  processors: navigator.hardwareConcurrency || 2,
  threadName,
  deaths,
  // `terminate` does not wait for the thread to stop: Chromium lets it run on for up to 2 s
  // (kForcibleTerminationDelay in third_party/blink/renderer/core/workers/worker_thread.cc).
  grace: 3000,
  moreSpace: '',
  anchor: globalThis,
  inherited: () => undefined,
  setInherited: () => {},
  keepAlive: () => {},
  soon(run) {
    later.push(run);
    if (!port) {
      // A channel to this thread itself. Its messages arrive sooner than a timer fires.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => later.shift()?.();
      port = port2;
    }
    port.postMessage(undefined);
  },
  warn: (message) => console.warn(message),
  onExit: () => () => {},
  ...(typeof Worker === 'function' ? { waitAsync } : {}),
};
