/** Makes `times` requests for permits that never come. A time-out cancels each request. */
import { TimeoutError } from 'taketurns';
import { attach } from '../attach.mjs';

export default function timeOut({ handle, times, timeout }) {
  const semaphore = attach(handle);
  for (let i = 0; i < times; i++) {
    try {
      semaphore.acquire(1 + (i % 3), { timeout });
    } catch (error) {
      if (error instanceof TimeoutError) continue;
      throw error;
    }
    throw new Error('nobody has released');
  }
}
