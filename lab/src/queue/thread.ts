/** A thread of the live queue. It acquires, holds, releases and thinks. If `timeout` is set, acquire has a time-out. */
import { Semaphore, type SemaphoreHandle, TimeoutError } from 'taketurns';
import type { Job } from '../crew/job.js';

export interface QueueOrder {
  readonly semaphore: SemaphoreHandle;
  /** Word 0 is 0 as long as the threads go on. */
  readonly words: Int32Array;
  /** Milliseconds. */
  readonly hold: number;
  readonly think: number;
  /** Milliseconds. With 0 the thread never cancels a request. */
  readonly timeout: number;
}

export const queue: Job<QueueOrder> = async ({ semaphore: handle, words, hold, think, timeout }) => {
  const semaphore = Semaphore.from(handle);
  const nap = new Int32Array(new SharedArrayBuffer(4));
  const pause = (ms: number): void => {
    if (ms > 0) Atomics.wait(nap, 0, 0, ms);
  };
  return () => {
    while (Atomics.load(words, 0) === 0) {
      try {
        semaphore.acquire(1, timeout > 0 ? { timeout } : undefined);
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        pause(think);
        continue;
      }
      pause(hold);
      semaphore.release();
      pause(think * Math.random() * 2);
    }
  };
};
