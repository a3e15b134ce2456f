/** A host answers the questions that the library asks of its runtime. The hosts are node.ts, deno-bun.ts and web.ts. */

/**
 * The part of the answer of `Atomics.waitAsync` that the library needs: a promise, if there is something to wait for.
 */
export type WaitAsync = (
  words: Int32Array | BigInt64Array,
  index: number,
  value: number | bigint,
  timeout?: number,
) => { readonly async: false; readonly value: string } | { readonly async: true; readonly value: Promise<unknown> };

/** What the core tells of the threads of an arena; their indices go from 1 to `mostThreads()`. */
export interface Registry {
  mostThreads(): number;
  /** Returns the number by which the runtime knows a thread, and 1 more; 0 if there is none. */
  runtimeIdOf(thread: number): number;
  lifeIfAlive(thread: number): number;
  reap(thread: number, life: number, onlyAsleep: number): number;
}

/** A thread of an arena that may be declared dead. */
export interface Mortal {
  readonly core: Registry & {
    /** Returns the address of the doorbell in the record of this thread. */
    doorbell(): number;
  };
  readonly memory: WebAssembly.Memory;
  readonly thread: number;
  /** Cuts everything of the library in this thread off from the arena. */
  endObjects(): void;
}

/** A compiled module. A thread may sleep in some of its functions. */
export interface Sleeper {
  trapIfDead(): void;
}

/**
 * Notices the deaths of threads, with nobody's help: keeper.ts on Node, ports.ts in Deno and Bun, locks.ts in browsers.
 */
export interface Deaths {
  /** Makes an arena one in which no deaths are noticed. Called before any other thread knows the arena. */
  unwatch(memory: WebAssembly.Memory): void;
  /** Whether deaths are noticed in the arena. */
  isWatched(memory: WebAssembly.Memory): boolean;
  /** Prepares for threads that are about to attach to an arena. */
  watchOver(memory: WebAssembly.Memory, module: WebAssembly.Module, id: bigint, registry: Registry): void;
  /**
   * Opens a line, which closes when this thread dies: so the thread that notices deaths hears of it. Called before the
   * thread registers. Returns undefined if nobody listens. `share` is a function that calls `watchOver` again.
   */
  openLine(memory: WebAssembly.Memory, id: bigint, share: () => void): Line | undefined;
}

/** By this line, others hear of the death of a thread. */
export interface Line {
  /** Tells others of the thread, which has registered. */
  announce(): void;
  /** Is called when the thread was not registered, or is no longer registered. */
  close(): void;
}

/** Clocks and timers that no test has replaced, even if the library is loaded after the globals have been. */
export interface Clock {
  now(this: void): number;
  setTimeout(this: void, run: () => void, milliseconds: number): unknown;
  clearTimeout(this: void, timer: unknown): void;
}

export interface Host {
  readonly clock: Clock;
  /**
   * An object that all code of this thread sees, in whatever realm the code runs, as far as the runtime has such an
   * object.
   */
  readonly anchor: object;
  /** Whether this thread is the first one of the program, which may make the default arena. */
  readonly isMainThread: boolean;
  /**
   * A number that distinguishes this thread from the others of the program. If the runtime has a `threadId`, the
   * number is `threadId` + 1, from 1 on. Otherwise it is random and negative.
   */
  readonly threadName: number;
  /** The number of threads that can run at once, 1 or more. */
  readonly processors: number;
  /**
   * For how many milliseconds a worker may run on after the runtime has reported its `exit`, or after `terminate`. If
   * it is 0, the worker has stopped for good by then.
   */
  readonly grace: number;
  /** The end of a sentence that says what else helps if address space is short. */
  readonly moreSpace: string;
  /** What the programmer of a worker without a default arena does, as the end of a sentence. */
  readonly toShare: string;
  /** The value that `setInherited` left under this key for this thread before its start; undefined if there is none. */
  inherited(key: string): unknown;
  /** Leaves a value for threads that start later. `copied` is called when such a thread starts, where possible. */
  setInherited(key: string, value: object, copied: () => void): void;
  /** Adds a reason to keep the event loop alive, or takes one back. */
  keepAlive(on: boolean): void;
  /** Runs a function when the running code has ended, before the thread can sleep. */
  soon(run: () => void): void;
  /**
   * Runs a function when the running code has ended, and costs little: a call that can be cut short asks for it before it
   * begins (runtime/interrupts.ts). Node runs it after the last microtask, so that a thread that awaits call after call
   * pays for it once. A browser runs it as a microtask: there `soon` needs more than the thread of the audio has.
   */
  afterTurn(run: () => void): void;
  /** Tells the programmer of a likely mistake. */
  warn(message: string): void;
  /**
   * Is called when an object is opened by its name. Warns once in a process of `cluster`, whose programmer may believe
   * that the name is of all processes.
   */
  named?: (() => void) | undefined;
  /** Replaces Atomics.waitAsync where the runtime has none. */
  readonly waitAsync?: WaitAsync;
  /** Undefined where the runtime offers no way. */
  readonly deaths?: Deaths | undefined;
  /**
   * Is called with the functions of a module in which this thread may sleep, and may replace them. In a runtime that
   * leaves a terminated thread asleep, this ends the thread if it wakes after it was declared dead (deno-bun.ts). Where
   * threads look for deadlocks, a thread looks when it has slept for a while (src/report/long-sleeps.ts).
   */
  onSleep?(module: Sleeper, sleeping: readonly string[], thread: Mortal): void;
  /**
   * Reaps the thread of a worker when the worker reports its exit. Returns whether the value is a worker that reports
   * its exit. The function is missing in a runtime that has no such workers.
   * @throws {Error} if the worker has ended already.
   */
  watchExit?(worker: object, core: Registry, memory: WebAssembly.Memory): boolean;
  /**
   * Returns the name of the shared object at an address, in quotation marks, and then the text `after`. Undefined if
   * the object has no name. The call reads the name from the memory of the arena. The function is missing where the
   * program carries no code for reports (src/report/).
   */
  nameText?(memory: WebAssembly.Memory, address: number, after: string): string | undefined;
  /**
   * From now on, reaps each worker of `worker_threads` that this thread has started, if it is attached to the arena, at
   * its `exit`, before the program hears of the `exit`. Returns a function that undoes this. Missing in browsers.
   */
  reapWorkers?(thread: Mortal): () => void;
  /** Calls a function when a web worker has ended for good. Undefined where the runtime does not tell. */
  whenClosed?(worker: object, run: () => void): void;
  /** Runs a function when the thread ends in an orderly way. Returns a function that undoes this. */
  onExit(run: () => void): () => void;
}
