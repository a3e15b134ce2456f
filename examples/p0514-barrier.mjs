// A reusable barrier that is made only of the semaphores of P0514R1. A binary semaphore guards the count of the threads
// inside, and two counting semaphores are turnstiles. The last thread that comes in opens the first turnstile for all.
// The last thread that goes out opens the second turnstile for all. So nobody comes to the barrier again before all
// have passed the first turnstile. Four threads compute a row of four cells 50 times, each time from the row before.
// Run: node node_modules/taketurns/examples/p0514-barrier.mjs
// In a clone of the repository: node examples/p0514-barrier.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { BinarySemaphore, CountingSemaphore } from 'taketurns/p0514';

const THREADS = 4;
const PHASES = 50;

class Barrier {
  static share() {
    return {
      inside: new Int32Array(new SharedArrayBuffer(4)),
      guard: new BinarySemaphore(1).handle,
      entry: new CountingSemaphore(0).handle,
      exit: new CountingSemaphore(0).handle,
    };
  }

  constructor({ inside, guard, entry, exit }) {
    this.inside = inside;
    this.guard = BinarySemaphore.from(guard);
    this.entry = CountingSemaphore.from(entry);
    this.exit = CountingSemaphore.from(exit);
  }

  /** Blocks until all threads have come. */
  wait() {
    this.#pass(this.entry, 1, THREADS);
    this.#pass(this.exit, -1, 0);
  }

  /** Counts this thread in or out. The last thread opens the turnstile for all. */
  #pass(turnstile, step, last) {
    this.guard.wait();
    this.inside[0] += step;
    if (this.inside[0] === last) turnstile.signal(THREADS);
    this.guard.signal();
    turnstile.wait();
  }
}

if (isMainThread) {
  const barrier = Barrier.share();
  const cells = [0, 1].map(() => new Int32Array(new SharedArrayBuffer(4 * THREADS)).fill(1));
  cells[0][0] = 2;
  const alone = cells.map((row) => row.slice());
  const start = (me) => new Worker(new URL(import.meta.url), { workerData: { me, barrier, cells } });
  await Promise.all(Array.from({ length: THREADS }, (_, me) => once(start(me), 'exit')));
  for (let phase = 0; phase < PHASES; phase++) for (let me = 0; me < THREADS; me++) step(alone, phase, me);
  const same = cells[0].every((value, i) => value === alone[0][i]);
  console.log(`${THREADS} threads, ${PHASES} phases: ${same ? 'the same as' : 'not'} what one thread computes`);
} else {
  const { me, cells } = workerData;
  const barrier = new Barrier(workerData.barrier);
  for (let phase = 0; phase < PHASES; phase++) {
    if ((phase + me) % THREADS === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // the slow one
    step(cells, phase, me);
    barrier.wait();
  }
}

/** Computes a thread's cell from its neighbours' in the phase before. The two rows take turns at being old and new. */
function step(cells, phase, me) {
  const old = cells[phase % 2];
  const row = cells[(phase + 1) % 2];
  row[me] = 3 * old[(me + THREADS - 1) % THREADS] + old[(me + 1) % THREADS];
}
