/** Does the two halves of acquire. Between them it changes words, as another thread might have done unnoticed. */
import { coreOf } from '../core.mjs';

const QUEUED = 3;
const GRANT = 8;
const CLOSED_GRANT = -(2n ** 62n);

export default function queueThenPark({ handle, permits, between }) {
  const core = coreOf(handle);
  const words = new BigInt64Array(handle.arena.memory.buffer);
  const grant = (handle.address + GRANT) >> 3;
  const queued = core.acquire(handle.address, permits);
  if (between.grant) Atomics.add(words, grant, BigInt(between.grant));
  if (between.close) Atomics.store(words, grant, CLOSED_GRANT);
  let answer = core.enqueue(handle.address, permits, queued, 0);
  if (answer === QUEUED) answer = core.park(0, 0);
  return [queued, answer];
}
