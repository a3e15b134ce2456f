/** This is the host of Node, and of runtimes that offer its `worker_threads`. */
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import * as timers from 'node:timers';
import { getEnvironmentData, isMainThread, setEnvironmentData, threadId } from 'node:worker_threads';
import type { Host } from './host.js';

// These functions are taken at load: a test that replaces timers must not keep promises from settling.
const { setInterval, setTimeout, clearTimeout } = timers;
const { nextTick } = process;
const { queueMicrotask } = globalThis;

/** Marks the exit handler of each copy and version of this package. */
const LAST = Symbol.for('taketurns:exit');
const LONGEST_INTERVAL = 0x7fffffff;

/** A web worker of Deno claims in `worker_threads` to be the first thread. */
const isUnknown = isMainThread && 'WorkerGlobalScope' in globalThis;

let timer: NodeJS.Timeout | undefined;
let reasons = 0;
const exits: (() => void)[] = [];

function end(): void {
  for (const exit of exits) exit();
}

Object.defineProperty(end, LAST, { value: true });

function beLast(): void {
  process.off('exit', end);
  process.on('exit', end);
}

export const host: Host = {
  clock: {
    now: performance.now.bind(performance),
    setTimeout,
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  },
  isMainThread: isMainThread && !isUnknown,
  processors: availableParallelism(),
  threadName: isUnknown ? 0 : threadId + 1,
  // Deno and Bun do not stop a thread that sleeps in Atomics.wait, nor at once a thread in a loop of wasm.
  exitIsDeath: !('Deno' in globalThis || 'Bun' in globalThis),
  // Contexts of node:vm have globals of their own, but share the modules of the runtime.
  anchor: getEnvironmentData,
  inherited: getEnvironmentData,
  setInherited: (key, value) => setEnvironmentData(key, value as never),
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
      // Other handlers may still use the library, so this one must be the last. That of another copy of the library
      // wants the same, and comes after this one or before, but not in turns for ever.
      process.on('newListener', (event, listener) => {
        if (event === 'exit' && !(LAST in listener)) queueMicrotask(beLast);
      });
    }
    exits.push(run);
  },
};
