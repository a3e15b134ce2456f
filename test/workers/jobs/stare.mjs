/**
 * Queues a promise for each number of permits. Then blocks the thread outside of the library, so that the thread
 * notices nothing. Word 0 of `told` says that the thread blocks.
 */
import { attach } from '../attach.mjs';

export default function stare({ handle, permits, told }) {
  const semaphore = attach(handle);
  for (const n of permits) semaphore.acquireAsync(n);
  Atomics.store(told, 0, 1);
  Atomics.wait(told, 1, 0);
}
