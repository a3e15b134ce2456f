/** How errors and descriptions name a thread. */
import type { Core } from '../border/core.js';

/** @internal Returns the `threadId` of a thread in `worker_threads`; undefined if it has none, or the thread is 0. */
export function threadIdOf(core: Core, thread: number): number | undefined {
  const name = thread && core.runtimeIdOf(thread);
  return name > 0 ? name - 1 : undefined;
}

/** @internal Names a thread: `thread 2 (threadId 1)`. */
export function threadText(core: Core, thread: number): string {
  const id = threadIdOf(core, thread);
  return `thread ${thread}${id === undefined ? '' : ` (threadId ${id})`}`;
}
