/** The features that runtimes have under different names. They are looked for once. */
import type * as workerThreads from 'node:worker_threads';

type Builtins = { getBuiltinModule?(name: string): unknown };
const { process } = globalThis as { process?: Builtins };

/** Node's `worker_threads`, in Node, Deno and Bun. */
export const threads = process?.getBuiltinModule?.('node:worker_threads') as typeof workerThreads | undefined;

/** Whether the runtime lets this thread block. */
export const mayBlock = ((): boolean => {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
})();
