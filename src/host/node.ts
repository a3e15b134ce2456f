/** This is the host of Node. In Deno and Bun (deno-bun.ts) it runs in bundles that were made for Node. */
import type { Cluster } from 'node:cluster';
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setInterval as repeat, setTimeout as start, clearTimeout as stop } from 'node:timers';
import { getEnvironmentData, isMainThread, setEnvironmentData, threadId, type Worker } from 'node:worker_threads';
import { STILL_AWAKE, T_DOORBELL, T_RUNTIME_ID, THREAD_SIZE } from '../border/numbers.js';
import { isFake, realNow, realTimers } from '../common/real-clock.js';
import { anchored } from './anchored.js';
import type { Host, Mortal, Registry } from './host.js';
import { deaths } from './keeper.js';
import { BY_IMPORT, BY_MESSAGE } from './to-share.js';
import { isWatched } from './watched.js';

// These functions are taken at load: a test that replaces timers must not keep promises from settling. A test may have
// replaced them before, also in the modules of Node.
const { setTimeout, clearTimeout } = realTimers(start, stop);
const setInterval = isFake(repeat) ? setTimeout : repeat;
const nextTick = isFake(process.nextTick) ? (run: () => void) => setTimeout(run, 0) : process.nextTick;

/** The key of the exit handlers of all copies and versions of this package. */
const LAST = Symbol.for('taketurns:exit');

/** A web worker of Deno claims in `worker_threads` to be the first thread. */
const isUnknown = isMainThread && 'WorkerGlobalScope' in globalThis;

/** Deno reports the `exit` of a thread at once, and lets the thread run on for seconds. */
const isDeno = 'Deno' in globalThis;
const isNode = !(isDeno || 'Bun' in globalThis);

let timer: NodeJS.Timeout | undefined;
let reasons = 0;
const exits = new Set<() => void>();
let listens = false;
/** Whether the thread is in a call of `process.emit('exit')`. All exit handlers have run when this call ends. */
let exiting = false;

/** Returns a copy of an object. The copy calls the function when its first property is read. */
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
  for (const exit of exits) {
    exits.delete(exit);
    exit();
  }
}

function onExitEvent(): void {
  if (!exiting) end();
}

Object.defineProperty(onExitEvent, LAST, { value: true });

function beLast(): void {
  process.off('exit', onExitEvent);
  process.on('exit', onExitEvent);
}

/**
 * Calls `end` after the last exit handler, because the handlers may still use the library. This must hold for
 * handlers that are added in the very task that exits, that throw, or that remove all others. So `end` is called where
 * `process.emit` returns. Bun does not call `process.emit`. There the listener is called, which moves behind handlers
 * added later.
 */
function listen(): void {
  listens = true;
  const { emit } = process;
  process.emit = function (this: NodeJS.Process, ...args: unknown[]): boolean {
    if (args[0] !== 'exit') return Reflect.apply(emit, this, args);
    exiting = true;
    try {
      return Reflect.apply(emit, this, args);
    } finally {
      exiting = false;
      end();
    }
  } as typeof process.emit;
  process.on('exit', onExitEvent);
  // A handler of another copy of the library also moves behind every handler that is added later. The two must not move
  // behind each other for ever.
  process.on('newListener', (event, listener) => {
    if (event === 'exit' && !(LAST in listener)) queueMicrotask(beLast);
  });
  if (!('Bun' in globalThis)) return;
  // Bun does not call `process.emit`, and the thread may exit before the microtask runs.
  for (const name of ['on', 'addListener', 'once'] as const) {
    const add = process[name] as (...args: unknown[]) => NodeJS.Process;
    process[name] = function (this: NodeJS.Process, ...args: unknown[]): NodeJS.Process {
      const answer = Reflect.apply(add, this, args);
      if (args[0] === 'exit' && !(LAST in (args[1] as object))) beLast();
      return answer;
    } as never;
  }
}

/**
 * Reaps the thread of this name, if it is attached. Deno lets a worker run on, or even attach, after Deno has reported
 * the end of the worker. So this function looks at the thread every LOOK milliseconds, for `left` milliseconds in all.
 * @param isProof whether the thread then counts as ended, even if it does not sleep.
 */
function reapNamed(core: Registry, name: number, left: number, isProof: boolean): void {
  const LOOK = 20;
  for (let i = core.mostThreads(); i > 0; i--) {
    const life = core.lifeIfAlive(i);
    if (life !== 0 && core.runtimeIdOf(i) === name) core.reap(i, life, Number(left > 0 || !isProof));
  }
  if (left > 0) setTimeout(() => reapNamed(core, name, left - LOOK, isProof), LOOK);
}

/**
 * Reaps the thread of this name, a worker that has ended. The thread that notices deaths may not have heard of this
 * one yet, or may be in the middle of its reap. But the program is about to hear of the end, and whatever it then asks of
 * any object must not count the worker. So this thread reaps the worker itself, or waits for the other reaper.
 */
function reapEnded({ core, memory, thread: me }: Mortal, name: number): void {
  /** For how many milliseconds this thread waits for another reaper. */
  const PATIENCE = 100;
  // Where nobody notices deaths, the program decides.
  if (!isWatched(memory)) return;
  const words = new Int32Array(memory.buffer);
  for (let i = core.mostThreads(); i > 0; i--) {
    const named = (core.doorbell() - T_DOORBELL + (i - me) * THREAD_SIZE + T_RUNTIME_ID) / 4;
    if (Atomics.load(words, named) !== name) continue;
    const life = core.lifeIfAlive(i);
    // In Deno only a worker that sleeps has certainly ended.
    if (life !== 0 && core.reap(i, life, Number(isDeno)) === STILL_AWAKE) continue;
    const end = host.clock.now() + PATIENCE;
    while (Atomics.load(words, named) === name && host.clock.now() < end) {
      try {
        Atomics.wait(words, named, name, 1);
      } catch {
        // This thread must not block, so it looks again at once.
      }
      // If the other reaper has died, this thread takes its place.
      core.reap(0, 0, 0);
    }
  }
}

/**
 * The parts of this thread in arenas, in which it reaps its workers. The first copy of the library listens for all
 * copies, and does so at load: a worker that starts before this thread attaches to an arena may get a handle later.
 */
const parts = anchored(getEnvironmentData, 'parts', () => {
  const parts = new Set<Mortal>();
  // Node tells of a new worker after the code that has made it, which may have given it listeners. This listener comes
  // before them.
  process.on('worker', (worker: Worker) => {
    // Bun also tells of a web worker, which has no such function.
    if (!('prependListener' in worker)) return;
    const name = worker.threadId + 1;
    worker.prependListener('exit', () => {
      for (const part of parts) reapEnded(part, name);
    });
  });
  return parts;
});

export const host: Host = {
  clock: {
    now: realNow(performance, start),
    setTimeout,
    clearTimeout: clearTimeout as (timer: unknown) => void,
  },
  isMainThread: isMainThread && !isUnknown,
  processors: availableParallelism(),
  threadName: isUnknown ? 0 : threadId + 1,
  grace: isNode ? 0 : 3000,
  moreSpace: ', or raise the limit (ulimit -v), or reserve nothing (node --disable-wasm-trap-handler)',
  toShare: isUnknown ? BY_MESSAGE : BY_IMPORT,
  // Contexts of node:vm have globals of their own, but share the modules of the runtime.
  anchor: getEnvironmentData,
  inherited: getEnvironmentData,
  setInherited(key, value, copied) {
    // Node copies the environment data whenever a worker is started, and the copying calls the getter.
    setEnvironmentData(key, withGetter(value, copied) as never);
  },
  deaths: isNode ? deaths : undefined,
  keepAlive(on) {
    const LONGEST_INTERVAL = 0x7fffffff;
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
  afterTurn(run) {
    nextTick(run);
  },
  warn(message) {
    process.emitWarning(message, 'TaketurnsWarning');
  },
  named() {
    // A process that `cluster` has forked has a channel, and has loaded the module. Node has the function since 20.16.
    // In a worker of Deno, to ask for the channel is an error.
    if (
      !this.isMainThread ||
      !process.channel ||
      !(process.getBuiltinModule?.('cluster') as Partial<Cluster> | undefined)?.isWorker
    )
      return;
    this.warn('names are of one process: see taketurns-processes');
    this.named = undefined;
  },
  watchExit(worker, core, memory) {
    const { threadId, once } = worker as Partial<Worker>;
    if (threadId === undefined || typeof once !== 'function') return false;
    if (threadId < 0) throw new Error('Arena.watch: the worker has ended already');
    // If deaths are noticed in the arena, the thread that notices the end decides.
    const isProof = this.grace === 0 || !this.deaths?.isWatched(memory);
    once.call(worker, 'exit', () => reapNamed(core, threadId + 1, this.grace, isProof));
    return true;
  },
  reapWorkers(part) {
    parts.add(part);
    return () => parts.delete(part);
  },
  onExit(run) {
    if (!listens) listen();
    exits.add(run);
    return () => exits.delete(run);
  },
};
