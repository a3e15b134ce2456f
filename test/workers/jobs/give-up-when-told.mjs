/**
 * Waits with a time-out, step by step: stands in line until word 0 of `told` is set, then gives up. Returns what
 * acquire and the last step answered. Word 1 says that it has entered its place in the array, word 2 what giving
 * up was answered; if that there is no element to leave behind, it waits on.
 */
import { coreOf } from '../core.mjs';

const TIMED_OUT = 6;
const ANSWER_FULL = -2;

export default function giveUpWhenTold({ handle, permits, told }) {
  const core = coreOf(handle);
  const { address } = handle;
  const queued = core.acquire(address, permits);
  let answer = core.parkFor(address, permits, queued, 0n);
  Atomics.store(told, 1, 1);
  Atomics.wait(told, 0, 0);
  if (answer === TIMED_OUT) answer = core.giveUp(address);
  Atomics.store(told, 2, answer);
  if (answer === ANSWER_FULL) answer = core.park(address, permits, TIMED_OUT);
  return [queued, answer];
}
