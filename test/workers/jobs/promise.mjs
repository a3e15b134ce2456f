/** Queues a promise for each number of permits, and does not wait. Notes which are fulfilled, if `log` is given. */
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
