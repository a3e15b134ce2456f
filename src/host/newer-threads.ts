/**
 * What only newer runtimes have in `node:worker_threads`. A module cannot import by its name what may be missing. If it
 * imported the whole of `node:worker_threads`, the bundle for Node would copy that when it is loaded, with a getter for
 * each property, which takes each thread 0.1 ms.
 */
interface NewerThreads {
  /** Node tells a worker its name since version 24. */
  readonly threadName?: string | null;
  /** Earlier versions of Deno and Bun have no such function. */
  readonly postMessageToThread?: (thread: number, value: unknown, transferred: readonly unknown[]) => Promise<void>;
}

// Node has `getBuiltinModule` since 20.16.
const { threadName, postMessageToThread } = (process.getBuiltinModule?.('node:worker_threads') ?? {}) as NewerThreads;

export { postMessageToThread, threadName };
