// Four threads go through 50 phases of work together: no thread begins a phase before all have ended the phase before.
// The main thread waits by a latch until all threads run, and by a wait group until all are done. If a thread died, the
// barrier would be broken, so the other threads would not wait for ever.
// Run: node node_modules/taketurns/examples/barrier.mjs
// In a clone of the repository: node examples/barrier.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Barrier, Latch, WaitGroup } from 'taketurns/sync';

const THREADS = 4;
const PHASES = 50;

const started = Latch.open('started', THREADS);
const running = WaitGroup.open('running');
const barrier = Barrier.open('between two phases', THREADS);

if (isMainThread) {
  const shared = {
    done: new Int32Array(new SharedArrayBuffer(4 * THREADS)), // phases that each thread has ended
    apart: new Int32Array(new SharedArrayBuffer(4)), // how often a thread was seen a phase behind or two phases ahead
  };
  for (let me = 0; me < THREADS; me++) new Worker(new URL(import.meta.url), { workerData: { me, ...shared } });
  await started.waitAsync();
  await running.waitAsync();
  console.log(`each thread has ended ${shared.done.join(', ')} phases`);
  console.log(`seen more than a phase apart: ${shared.apart[0]} times`);
} else {
  const { me, done, apart } = workerData;
  const task = running.hold(); // before the latch opens, so that the main thread waits for this thread
  started.countDown();
  for (let phase = 1; phase <= PHASES; phase++) {
    if ((phase + me) % THREADS === 0) work(1); // in each phase another thread is slow
    Atomics.add(done, me, 1);
    barrier.arriveAndWait();
    for (let other = 0; other < THREADS; other++) {
      const ended = Atomics.load(done, other);
      // All threads have ended this phase. Some may have ended the next phase, but nobody gets further before this
      // thread.
      if (ended < phase || ended > phase + 1) Atomics.add(apart, 0, 1);
    }
  }
  barrier.leave();
  task.done();
}

/** Stands for work that takes some milliseconds. */
function work(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
