// Four threads go through 50 phases of work together: none begins a phase before all have ended the one before. The
// barrier between two phases is a counter and two semaphores. The last thread to arrive releases as many permits as
// there are others, all in one step. Phases use the two semaphores in turn: a thread that is quick to come to the next
// barrier waits at the other semaphore, and so cannot take the permit of a thread that has not left this one yet.
// Run: node examples/barrier.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const THREADS = 4;
const PHASES = 50;

const gates = ['even', 'odd'].map((name) => Semaphore.open(name, 0));

class Barrier {
  #phase = 0; // of this thread
  #arrived; // how many have come, shared

  constructor(arrived) {
    this.#arrived = arrived;
  }

  /** Blocks until all threads have come. */
  wait() {
    const gate = gates[this.#phase++ % 2];
    if (Atomics.add(this.#arrived, 0, 1) < THREADS - 1) {
      gate.acquire();
    } else {
      Atomics.store(this.#arrived, 0, 0); // before anybody can leave, and so before anybody can come again
      gate.release(THREADS - 1);
    }
  }
}

if (isMainThread) {
  const shared = {
    arrived: new Int32Array(new SharedArrayBuffer(4)),
    done: new Int32Array(new SharedArrayBuffer(4 * THREADS)), // phases that each thread has ended
    apart: new Int32Array(new SharedArrayBuffer(4)), // how often a thread was seen a phase behind, or two ahead
  };
  const workers = Array.from(
    { length: THREADS },
    (_, me) => new Worker(new URL(import.meta.url), { workerData: { me, ...shared } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`each thread has ended ${shared.done.join(', ')} phases`);
  console.log(`seen more than a phase apart: ${shared.apart[0]} times`);
} else {
  const { me, arrived, done, apart } = workerData;
  const barrier = new Barrier(arrived);
  for (let phase = 1; phase <= PHASES; phase++) {
    if ((phase + me) % THREADS === 0) work(1); // another thread is the slow one in each phase
    Atomics.add(done, me, 1);
    barrier.wait();
    for (let other = 0; other < THREADS; other++) {
      const ended = Atomics.load(done, other);
      // All have ended this phase. Some may have ended the next one, which is as far as they get before this thread.
      if (ended < phase || ended > phase + 1) Atomics.add(apart, 0, 1);
    }
  }
}

/** Stands for work that takes some milliseconds. */
function work(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
