/** Queues a promise for each number of permits, and awaits none. With `log`, notes which promises are fulfilled. */
import { attach, note } from '../attach.mjs';

export default function promise({ handle, permits, log }) {
  const semaphore = attach(handle);
  for (const [i, n] of permits.entries()) {
    semaphore.acquireAsync(n).then(
      () => log && note(log, i),
      () => {},
    );
  }
}
