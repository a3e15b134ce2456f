/**
 * Waits with a time-out, step by step: stands in line until word 0 of `told` is set, and then cancels. Returns the
 * answers of acquire and of the last step. Word 1 says that the request is in the array. Word 2 has the answer of
 * cancel.
 */
import { coreOf } from '../core.mjs';

const QUEUED = 3;
const TIMED_OUT = 6;

export default function cancelWhenTold({ handle, permits, told }) {
  const core = coreOf(handle);
  const { address } = handle;
  if (!core.reserveSecond()) throw new Error('no element is free');
  const queued = core.acquire(address, permits);
  let answer = core.enqueue(address, permits, queued, 0);
  if (answer === QUEUED) answer = core.parkFor(0n, 0, 0);
  Atomics.store(told, 1, 1);
  Atomics.wait(told, 0, 0);
  if (answer === TIMED_OUT) answer = core.cancel(address, 0);
  Atomics.store(told, 2, answer);
  return [queued, answer];
}
