/**
 * Does only the first steps of a blocking request: `acquire`, or `acquire` and `enqueue`. Then the thread notices
 * nothing any more. Word 0 of `told` says that it has done these steps.
 */
import { attached } from '../core.mjs';

export default function stopAfter({ handle, permits, step, told }) {
  const core = attached(handle);
  const queued = core.acquire(handle.address, permits);
  if (step === 'enqueue') core.enqueue(handle.address, permits, queued, 0);
  Atomics.store(told, 0, 1);
  Atomics.wait(told, 1, 0);
}
