/** Attaches to an arena that at first has no room, and locks the mutex, all in one iteration of the event loop. */
import { workerData } from 'node:worker_threads';
import { ArenaFullError, Mutex } from 'taketurns';

const { handle, told } = workerData;
function tell(word) {
  Atomics.store(told, word, 1);
  Atomics.notify(told, word);
}

let mutex;
while (!mutex) {
  try {
    mutex = Mutex.from(handle);
  } catch (error) {
    if (!(error instanceof ArenaFullError)) throw error;
    tell(0);
    Atomics.wait(told, 2, 0, 20);
  }
}
mutex.lock();
tell(1);
Atomics.wait(told, 2, 0);
