/** This is the host of Node, and of runtimes that offer its `worker_threads`. */
import { availableParallelism } from 'node:os';
import * as timers from 'node:timers';
import { getEnvironmentData, isMainThread, setEnvironmentData, threadId } from 'node:worker_threads';
import type { Host } from './host.js';

// As they are at load: what a test replaces later, such as timers, must not keep promises from being told.
const { setInterval } = timers;
const { nextTick } = process;

const KEY = 'taketurns:arena';
const LONGEST_INTERVAL = 0x7fffffff;

/** In a web worker of Deno `worker_threads` says that it is the first thread. */
const isUnknown = isMainThread && 'WorkerGlobalScope' in globalThis;

let timer: NodeJS.Timeout | undefined;
let reasons = 0;
const exits: (() => void)[] = [];

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
  // In Deno a thread that sleeps in Atomics.wait is not stopped, nor is one in a loop of wasm at once; in Bun neither.
  exitIsDeath: !('Deno' in globalThis || 'Bun' in globalThis),
  inherited: () => getEnvironmentData(KEY),
  setInherited: (value) => setEnvironmentData(KEY, value as never),
  keepAlive(on) {
    // A pending Atomics.waitAsync does not keep Node alive, a timer does.
    timer ??= setInterval(() => {}, LONGEST_INTERVAL);
    reasons += on ? 1 : -1;
    if (reasons > 0) timer.ref();
    else timer.unref();
  },
  // Called in a microtask, it runs when there are no more of them, before the thread goes back to its event loop.
  soon(run) {
    nextTick(run);
  },
  onExit(run) {
    if (exits.length === 0) {
      process.on('exit', end);
      // The handlers of others may still use the library, so that ours must be the last.
      process.on('newListener', (event, listener) => {
        if (event === 'exit' && listener !== end) queueMicrotask(beLast);
      });
    }
    exits.push(run);
  },
};
