/** A thread that locks two mutexes, works, and unlocks them, again and again. If it must give way, it begins anew. */
import { CancelledError, Mutex, type MutexHandle } from 'taketurns';
import { DeadlockError, nameThread, watchDeadlocks } from 'taketurns/report';
import type { Job } from '../crew/job.js';

export interface HangOrder {
  /** In the order in which the thread locks them. */
  readonly mutexes: readonly [MutexHandle, MutexHandle];
  readonly thread: number;
  /** Word 0 is 0 as long as the threads go on. Word 1 counts how often a thread has had both mutexes. */
  readonly words: Int32Array;
  /** How long the thread works before it locks the second mutex, and with both of them. Milliseconds. */
  readonly work: number;
}

export const hang: Job<HangOrder> = async ({ mutexes, thread, words, work }) => {
  const [first, second] = mutexes.map((handle) => Mutex.from(handle)) as [Mutex, Mutex];
  nameThread(`W${thread}`);
  // In a browser a thread looks for deadlocks only if it asks to. The page has said what then happens.
  watchDeadlocks();
  const nap = (): unknown => Atomics.wait(words, 0, 0, work);
  return () => {
    while (Atomics.load(words, 0) === 0) {
      try {
        first.lock();
        nap();
        second.lock();
        Atomics.add(words, 1, 1);
        nap();
      } catch (error) {
        if (!(error instanceof CancelledError || error instanceof DeadlockError)) throw error;
      } finally {
        for (const mutex of [second, first]) if (mutex.held) mutex.unlock();
      }
      nap();
    }
  };
};
