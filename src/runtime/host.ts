/** What the library asks of the runtime it runs in. host/node.ts and host/web.ts answer. */
import type { WaitAsync } from './wait-async.js';

export interface Host {
  /** Whether this thread is the first one of the program, which may make the default arena. */
  readonly isMainThread: boolean;
  /** Tells this thread from the others of the program, a number from 1 on; 0 where the runtime has no name for threads. */
  readonly threadName: number;
  /** How many threads can run at once; 1 or more. */
  readonly processors: number;
  /** Whether a worker whose `exit` was told runs no more. */
  readonly exitIsDeath: boolean;
  /** What `bequeath` left for this thread before it was started; undefined if nothing. */
  inherited(): unknown;
  /** Leaves a value for the threads that are started from now on. */
  bequeath(value: unknown): void;
  /** Gives a reason to keep the event loop alive, or takes one back. */
  keepAlive(on: boolean): void;
  /** Runs a function in a later turn of the event loop, before the thread can sleep. */
  soon(run: () => void): void;
  /** In place of Atomics.waitAsync, where the engine has none. */
  readonly waitAsync?: WaitAsync;
  /** Runs a function when the thread ends in an orderly way. */
  onExit(run: () => void): void;
}
