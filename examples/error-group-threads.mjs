// A group of threads that ends at its first error: no other job begins, those that run are told to stop, and `wait`
// throws this error when all threads have ended. An AbortSignal stays in its thread, so an Event tells the threads.
// Run: node node_modules/taketurns/examples/error-group-threads.mjs
// In a clone of the repository: node examples/error-group-threads.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';
import { Event } from 'taketurns/sync';

const slots = Semaphore.open('slots', 2, { robust: true }); // at most two jobs run at once. A dead thread gives back its slot
const stop = Event.open('stop'); // set at the first error

class ThreadGroup {
  #ended = [];
  #errors = [];

  /** Starts a thread, which runs its job when there is a slot. */
  go(job) {
    const worker = new Worker(new URL(import.meta.url), { workerData: job });
    worker.on('error', (error) => {
      this.#errors.push(error);
      stop.set(); // also if the thread has died without a word, as of too little memory
    });
    this.#ended.push(new Promise((resolve) => worker.on('exit', resolve)));
  }

  /** Waits until all threads have ended, and throws the first error. */
  async wait() {
    await Promise.all(this.#ended);
    if (this.#errors.length > 0) throw this.#errors[0];
  }
}

/** What a thread does: waits for a slot, and looks whether the group still goes on. */
function run(job) {
  const held = slots.hold();
  try {
    if (!stop.isSet) job();
  } catch (error) {
    stop.set(); // before the slot goes to the next thread
    throw error;
  } finally {
    held.release();
  }
}

if (isMainThread) {
  const group = new ThreadGroup();
  const begun = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < 5; i++) group.go({ begun });
  await group.wait().catch((error) => console.log(error.message));
  console.log(`${slots.available} slots are free`);
} else {
  run(() => {
    const n = Atomics.add(workerData.begun, 0, 1) + 1;
    console.log(`${n} begins`);
    // A job that computes looks at `stop.isSet` now and then. This one sleeps, and wakes when it is set.
    if (stop.wait({ timeout: n === 2 ? 50 : 10_000 })) console.log(`${n} is stopped`);
    else throw new Error(`${n} has failed`);
  });
}
