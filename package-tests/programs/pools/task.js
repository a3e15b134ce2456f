/** Takes the one permit, and never releases it. */
import { Semaphore } from 'taketurns';

export default ({ permit, taken, stays }) => {
  Semaphore.from(permit).acquire();
  Semaphore.from(taken).release();
  if (stays) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
