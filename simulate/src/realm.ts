/**
 * A realm is a simulated thread: a context of node:vm with its own microtask queue, in which the library has been
 * evaluated. The realm gives the library everything that it uses of the runtime. Each call of the core, and each call
 * of `Atomics`, is a step.
 *
 * All promises of the thread, and the functions that react to them, are made in its context. A function of another
 * context would run in the microtask queue of that other context.
 */
import vm from 'node:vm';
import { MODULES, type ModuleName, moduleOf } from './core.js';
import { type Event, Failure, KILLED, type Thread } from './event.js';
import type { Scheduler } from './schedule.js';

type Call = (...values: unknown[]) => unknown;
type Exports = Record<string, unknown>;
/** The exports of the library in one thread, or an object of the library. */
// biome-ignore lint/suspicious/noExplicitAny: classes of another context, whose faults are what is looked for.
export type Library = any;

/** The script that puts the simulated runtime into the context. It returns tools that are functions of the context. */
const SET_UP = `($) => {
  const global = globalThis;
  Error.stackTraceLimit = $.depth;
  global.$host = $.host;
  global.queueMicrotask = (run) => { Promise.resolve().then(() => run()); };
  const gone = new WeakSet();
  let registered = [];
  global.WeakRef = class {
    constructor(target) { this.target = target; }
    deref() { return gone.has(this.target) ? undefined : this.target; }
  };
  global.FinalizationRegistry = class {
    constructor(run) { this.run = run; }
    register(target, held) { registered.push({ registry: this, target, held }); }
    unregister(target) { registered = registered.filter((one) => one.registry !== this || one.target !== target); }
  };
  Date.now = () => $.now();
  const { Memory } = WebAssembly;
  function Given() { return $.memory; }
  Given.prototype = Memory.prototype;
  WebAssembly.Memory = Given;
  WebAssembly.Module = class { constructor(name) { this.name = name; } };
  WebAssembly.Instance = class { constructor(module) { this.exports = $.instance(module.name); } };
  for (const name of ['load', 'store', 'exchange', 'compareExchange', 'add']) {
    const real = Atomics[name];
    Atomics[name] = (words, index, ...values) => { $.step(name); return real(words, index, ...values); };
  }
  Atomics.notify = (words, index, count = -1) => $.notify(index * words.BYTES_PER_ELEMENT, count);
  const { load } = Atomics;
  Atomics.wait = (words, index, value, timeout = Infinity) =>
    load(words, index) !== value ? 'not-equal' : $.sleep(timeout) ? 'ok' : 'timed-out';
  Atomics.waitAsync = (words, index, value, timeout = Infinity) => {
    let woken;
    const promise = new Promise((resolve) => { woken = (how) => resolve(how); });
    return $.waitAsync(index * words.BYTES_PER_ELEMENT, () => load(words, index) === value, timeout, woken)
      ? { async: true, value: promise }
      : { async: false, value: 'not-equal' };
  };
  return {
    reacts: (promise, got, refused) => { promise.then((value) => got(value), (error) => refused(error)); },
    pending: () => {
      let settle, refuse;
      const promise = new Promise((yes, no) => { settle = yes; refuse = no; });
      return { promise, settle, refuse };
    },
    error: (name, message) => { const error = new Error(message); error.name = name; return error; },
    cut: () => new RangeError('Maximum call stack size exceeded'),
    collects: (object) => {
      const { shared } = registered.find(({ target }) => target === object)?.held ?? {};
      const collected = registered.filter(({ held }) => held.shared === shared);
      return () => {
        registered = registered.filter((one) => !collected.includes(one));
        for (const { target } of collected) gone.add(target);
        return () => { for (const { registry, held } of collected) registry.run(held); };
      };
    },
    forget: () => { registered = []; },
  };
}`;

const setUp = new vm.Script(SET_UP, { filename: 'set-up.js' });
const drain = new vm.Script('0');
const scripts = new Map<string, vm.Script>();

function scriptOf(text: string): vm.Script {
  const script = scripts.get(text) ?? new vm.Script(text, { filename: 'library.js' });
  scripts.set(text, script);
  return script;
}

interface Pending {
  readonly promise: Promise<unknown>;
  settle(value?: unknown): void;
  refuse(error: unknown): void;
}

interface Tools {
  reacts(promise: unknown, got: (value: unknown) => void, refused: (error: unknown) => void): void;
  pending(): Pending;
  error(name: string, message: string): Error;
  cut(): unknown;
  /**
   * Returns a function that collects a library object, together with the other library objects that the thread has for
   * the same shared object now. When the returned function is called, it returns a second function, which runs the
   * finalizers of these objects.
   */
  collects(object: Library): () => () => void;
  /** Forgets all finalizers. */
  forget(): void;
}

export class Realm implements Thread {
  readonly index: number;
  readonly events: Event[] = [];
  readonly soon: (() => void)[] = [];
  isDead = false;
  isSafe = false;
  mayBeCut = false;
  readonly library: Library;
  readonly tools: Tools;
  /** The warnings of the library. */
  readonly warnings: string[] = [];
  /** How many reasons the library has to keep the event loop alive. */
  reasons = 0;
  readonly #context: vm.Context;

  readonly #anchor: Record<symbol, { readonly memberships: Map<unknown, unknown> }> = {};

  /** @param depth how many calls the stack trace of an error has; each takes time */
  constructor(scheduler: Scheduler, index: number, memory: WebAssembly.Memory, text: string, depth: number) {
    this.index = index;
    this.#context = vm.createContext({}, { microtaskMode: 'afterEvaluate' });
    const instances = new Map<ModuleName, Exports>();
    for (const name of MODULES) instances.set(name, instantiate(scheduler, name, memory, instances));
    const given = {
      host: this.#host(scheduler),
      memory,
      depth,
      now: () => scheduler.clock,
      step: (what: string) => scheduler.step(what),
      notify: (address: number, count: number) => scheduler.notify(address, count),
      sleep: (timeout: number) => scheduler.sleep(-1, timeout),
      waitAsync: (address: number, isAsExpected: () => boolean, timeout: number, woken: (how: string) => void) =>
        scheduler.waitAsync(this, address, isAsExpected, timeout, woken),
      instance: (name: ModuleName) => {
        const exports = instances.get(name) as Exports;
        const { reset } = exports as { reset(): void };
        reset();
        return exports;
      },
    };
    this.tools = (setUp.runInContext(this.#context) as (given: unknown) => Tools)(given);
    scriptOf(text).runInContext(this.#context);
    this.library = vm.runInContext('library', this.#context);
  }

  #host(scheduler: Scheduler): object {
    return {
      clock: {
        now: () => scheduler.clock,
        setTimeout: (run: () => void, ms: number) =>
          scheduler.add(this, () => 'timer', run, { at: scheduler.clock + ms }),
        clearTimeout: (timer: Event) => scheduler.remove(timer),
      },
      anchor: this.#anchor,
      isMainThread: this.index === 1,
      threadName: this.index,
      // With one processor, nobody polls before it sleeps.
      processors: 1,
      grace: 0,
      moreSpace: '',
      inherited: () => undefined,
      setInherited() {},
      keepAlive: (on: boolean) => {
        this.reasons += on ? 1 : -1;
      },
      soon: (run: () => void) => void this.soon.push(run),
      afterTurn: (run: () => void) => void this.soon.push(run),
      warn: (message: string) => void this.warnings.push(message),
      onExit: () => () => {},
    };
  }

  /** Whether a timer of the thread should have come by now. */
  isLate(clock: number): boolean {
    return this.events.some(({ at }) => at !== undefined && at <= clock);
  }

  /** Makes a dead thread live again, for another run. It forgets which objects it was attached to. */
  revive(): void {
    for (const key of Object.getOwnPropertySymbols(this.#anchor)) this.#anchor[key]?.memberships.clear();
    this.events.length = this.soon.length = this.reasons = 0;
    this.isDead = false;
  }

  cut(): unknown {
    return this.tools.cut();
  }

  drain(): void {
    drain.runInContext(this.#context);
  }
}

function instantiate(
  scheduler: Scheduler,
  name: ModuleName,
  memory: WebAssembly.Memory,
  before: ReadonlyMap<string, Exports>,
): Exports {
  const env = {
    memory,
    wait: (address: number, expected: number, nanoseconds: bigint) => scheduler.wait(address, expected, nanoseconds),
    notify: (offset: number, address: number, count: number) => scheduler.notify(address + offset, count),
    wait64: (offset: number, address: number, expected: bigint, nanoseconds: bigint) =>
      scheduler.wait64(address + offset, expected, nanoseconds),
  };
  const modules = Object.fromEntries(before) as Record<string, WebAssembly.ModuleImports>;
  const { exports } = new WebAssembly.Instance(moduleOf(name), { ...modules, env });
  /** Replacements for exports that only take time and do nothing that other threads can see. */
  const idle: Exports = { spend() {} };
  return Object.fromEntries(
    Object.entries(exports).map(([call, value]) => [
      call,
      idle[call] ?? (typeof value === 'function' && call !== 'reset' ? stepped(scheduler, call, value as Call) : value),
    ]),
  );
}

/** Makes each call of an export a step. For calls with few arguments, which are the usual ones, no array is made. */
function stepped(scheduler: Scheduler, name: string, call: Call): Call {
  switch (call.length) {
    case 0:
      return () => {
        scheduler.step(name);
        return call();
      };
    case 1:
      return (a) => {
        scheduler.step(name);
        return call(a);
      };
    case 2:
      return (a, b) => {
        scheduler.step(name);
        return call(a, b);
      };
    case 3:
      return (a, b, c) => {
        scheduler.step(name);
        return call(a, b, c);
      };
    default:
      return (...values) => {
        scheduler.step(name);
        return call(...values);
      };
  }
}

/** The reasons of rejected promises that nobody handles. The code that looks at these reasons takes them out. */
export const unhandled: unknown[] = [];

let isListening = false;
let isCollecting = false;

/** From now on, reasons are collected in `unhandled` (`isOn`), or are told to the listeners that were there before. */
export function collectRejections(isOn: boolean): void {
  isCollecting = isOn;
}

/** Listens to rejections. They do not count if their thread was killed or their run has failed. */
export function listenToRejections(): void {
  if (isListening) return;
  isListening = true;
  const event = 'unhandledRejection';
  const listeners = process.listeners(event);
  process.removeAllListeners(event);
  process.on(event, (reason, promise) => {
    if (reason === KILLED || reason instanceof Failure) return;
    if (isCollecting) unhandled.push(reason);
    else if (listeners.length === 0) throw reason;
    else for (const listener of listeners) listener(reason, promise);
  });
}
