/**
 * Stands in line behind so many others as soon as they wait, and then does the first half of a release (other-half.mjs is
 * the rest). Word 0 of `told` says that it has; it waits no longer for the others when word 1 is set.
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
