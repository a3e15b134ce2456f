/**
 * Stands in line as soon as so many others wait, and then does the first half of a release; other-half.mjs has the
 * rest. It sets word 0 of `told` afterwards. It waits no longer for the others when word 1 is set.
 */
import { attach } from '../attach.mjs';
import { attached } from '../core.mjs';

export default function standBehind({ handle, others, permits, told }) {
  const semaphore = attach(handle);
  while (semaphore.waiting < others && Atomics.load(told, 1) === 0) Atomics.wait(told, 0, 0, 1);
  semaphore.acquireAsync();
  const answer = attached(handle).release(handle.address, permits);
  Atomics.store(told, 0, 1);
  return answer;
}
