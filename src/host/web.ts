/**
 * This is the host of browsers. Their workers inherit no value, and an open page needs no timer to stay alive.
 *
 * Test runners surround programs of Node by a page, or a part of a page (jsdom, happy-dom, edge-runtime), and bundles
 * for the web run on servers. So each feature may be missing, and a feature of Node takes its place where Node has one.
 */

import { waitAsync } from './helper.js';
import type { Host } from './host.js';
import { deaths, threadName } from './locks.js';
import { clearTimeout, now, setInterval, setTimeout, threads } from './surroundings.js';
import { BY_IMPORT, BY_MESSAGE } from './to-share.js';

const later: (() => void)[] = [];
let port: MessagePort | undefined;
let timer: NodeJS.Timeout | undefined;
let reasons = 0;

export const host: Host = {
  clock: {
    now,
    setTimeout,
    clearTimeout: clearTimeout as (timer: unknown) => void,
  },
  isMainThread: threads?.isMainThread ?? typeof document !== 'undefined',
  processors: globalThis.navigator?.hardwareConcurrency || 2,
  threadName,
  deaths,
  // `terminate` does not wait for the thread to stop: Chromium lets it run on for up to 2 s
  // (kForcibleTerminationDelay in third_party/blink/renderer/core/workers/worker_thread.cc).
  grace: 3000,
  moreSpace: '',
  toShare: threads ? BY_IMPORT : BY_MESSAGE,
  anchor: threads?.getEnvironmentData ?? globalThis,
  inherited: (key) => threads?.getEnvironmentData(key),
  setInherited(key, value) {
    threads?.setEnvironmentData(key, value as never);
  },
  keepAlive(on) {
    reasons += on ? 1 : -1;
    // No page needs this.
    timer ??= threads && setInterval(() => {}, 0x7fffffff);
    if (reasons > 0) timer?.ref();
    else timer?.unref();
  },
  soon(run) {
    later.push(run);
    const next = (): void => later.shift()?.();
    // A channel that listens would keep Node alive. jsdom has none.
    if (threads || typeof MessageChannel === 'undefined') setTimeout(next);
    else {
      if (!port) {
        // A channel to this thread itself. Its messages arrive sooner than a timer fires.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = next;
        port = port2;
      }
      port.postMessage(undefined);
    }
  },
  afterTurn(run) {
    Promise.resolve().then(run);
  },
  warn: (message) => console.warn(message),
  onExit: () => () => {},
  ...(typeof Worker === 'function' ? { waitAsync } : {}),
};
