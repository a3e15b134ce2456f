/**
 * Stands in line as soon as `others` other requests wait, or when word 1 of `told` is set. Then does the first half of
 * a release, and sets word 0 of `told`. other-half.mjs does the second half.
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
