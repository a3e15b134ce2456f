/**
 * Blocks the thread outside of the library, so that it sees nothing of what comes: with promises in the queue, one
 * for each number of permits. Word 0 of `told` says that it does.
 */
import { attach } from '../attach.mjs';

export default function stare({ handle, permits, told }) {
  const semaphore = attach(handle);
  for (const n of permits) semaphore.acquireAsync(n);
  Atomics.store(told, 0, 1);
  Atomics.wait(told, 1, 0);
}
