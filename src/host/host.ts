/** The library asks this of the runtime in which it runs. node.ts and web.ts, beside this file, answer. */

/** As much of what `Atomics.waitAsync` answers as is needed: a promise, if there is something to wait for. */
export type WaitAsync = (
  words: Int32Array | BigInt64Array,
  index: number,
  value: number | bigint,
  timeout?: number,
) =>
  | { readonly async: false; readonly value: string }
  | { readonly async: true; readonly value: Promise<unknown> };

export interface Host {
  /** Whether this thread is the first one of the program, which may make the default arena. */
  readonly isMainThread: boolean;
  /** Tells this thread from the others of the program, a number from 1 on; 0 where the runtime has no name for threads. */
  readonly threadName: number;
  /** How many threads can run at once; 1 or more. */
  readonly processors: number;
  /** Whether a worker whose `exit` was told runs no more. */
  readonly exitIsDeath: boolean;
  /** What `setInherited` left for this thread before it was started; undefined if nothing. */
  inherited(): unknown;
  /** Leaves a value for the threads that are started from now on. */
  setInherited(value: unknown): void;
  /** Gives a reason to keep the event loop alive, or takes one back. */
  keepAlive(on: boolean): void;
  /** Runs a function in a later turn of the event loop, before the thread can sleep. */
  soon(run: () => void): void;
  /** In place of Atomics.waitAsync, where the engine has none. */
  readonly waitAsync?: WaitAsync;
  /** Runs a function when the thread ends in an orderly way. */
  onExit(run: () => void): void;
}
