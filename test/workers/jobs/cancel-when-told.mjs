/**
 * Waits with a time-out, step by step: stands in line until word 0 of `told` is set, then cancels. Returns what
 * acquire and the last step answered. Word 1 says that it has entered its place in the array, word 2 what giving
 * up was answered; if that there is no element to leave behind, it waits on.
 */
import { coreOf } from '../core.mjs';

const QUEUED = 3;
const TIMED_OUT = 6;
const ANSWER_FULL = -2;

export default function cancelWhenTold({ handle, permits, told }) {
  const core = coreOf(handle);
  const { address } = handle;
  const queued = core.acquire(address, permits);
  let answer = core.enqueue(address, permits, queued, 0);
  if (answer === QUEUED) answer = core.parkFor(0n, 0, 0);
  Atomics.store(told, 1, 1);
  Atomics.wait(told, 0, 0);
  if (answer === TIMED_OUT) answer = core.cancel(address, 0);
  Atomics.store(told, 2, answer);
  if (answer === ANSWER_FULL) answer = core.park(0, 0);
  return [queued, answer];
}
