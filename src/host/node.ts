/** This is the host of Node, and of runtimes that offer its `worker_threads`. */
import { availableParallelism } from 'node:os';
import * as timers from 'node:timers';
import { getEnvironmentData, isMainThread, setEnvironmentData, threadId } from 'node:worker_threads';
import type { Host } from './host.js';
import * as keeper from './keeper.js';

// These functions are taken at load: a test that replaces timers must not keep promises from settling.
const { setInterval } = timers;
const { nextTick } = process;

const KEY = 'taketurns:arena';
const LONGEST_INTERVAL = 0x7fffffff;

/** A web worker of Deno claims in `worker_threads` to be the first thread. */
const isUnknown = isMainThread && 'WorkerGlobalScope' in globalThis;

/** Deno and Bun do not stop a thread that sleeps in Atomics.wait, nor at once one that computes: Deno after over 1 s. */
const isNode = !('Deno' in globalThis || 'Bun' in globalThis);

let timer: NodeJS.Timeout | undefined;
let reasons = 0;
const exits: (() => void)[] = [];

/** Returns a copy of an object. Whoever reads its first property calls the function. */
function withGetter(value: object, read: () => void): object {
  const [[key, first] = ['', undefined], ...others] = Object.entries(value);
  const copy = Object.fromEntries(others);
  return Object.defineProperty(copy, key, {
    enumerable: true,
    get() {
      read();
      return first;
    },
  });
}

function end(): void {
  for (const exit of exits) exit();
}

function beLast(): void {
  process.off('exit', end);
  process.on('exit', end);
}

export const host: Host = {
  isMainThread: isMainThread && !isUnknown,
  processors: availableParallelism(),
  threadName: isUnknown ? 0 : threadId + 1,
  grace: isNode ? 0 : 3000,
  inherited: () => getEnvironmentData(KEY),
  setInherited(value, copied) {
    // Node copies environment data whenever a worker is started, and so calls the getter.
    if (isNode) setEnvironmentData(KEY, withGetter(value, copied) as never);
    else setEnvironmentData(KEY, value as never);
  },
  ...(isNode ? { deaths: keeper } : {}),
  keepAlive(on) {
    // A timer keeps Node alive; a pending Atomics.waitAsync does not.
    timer ??= setInterval(() => {}, LONGEST_INTERVAL);
    reasons += on ? 1 : -1;
    if (reasons > 0) timer.ref();
    else timer.unref();
  },
  // In a microtask, nextTick runs the function after the last microtask, before the thread returns to its event loop.
  soon(run) {
    nextTick(run);
  },
  onExit(run) {
    if (exits.length === 0) {
      process.on('exit', end);
      // Other handlers may still use the library, so this one must be the last.
      process.on('newListener', (event, listener) => {
        if (event === 'exit' && listener !== end) queueMicrotask(beLast);
      });
    }
    exits.push(run);
  },
};
