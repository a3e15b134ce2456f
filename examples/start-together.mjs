// Four threads wait until the main thread says go, by an event. Then they look up squares in a table. The first thread
// that needs the table fills it, and the others wait until the table is full. If the first thread died half-way,
// another thread would fill the table.
// Run: node node_modules/taketurns/examples/start-together.mjs
// In a clone of the repository: node examples/start-together.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Event, Latch, Once, WaitGroup } from 'taketurns/sync';

const THREADS = 4;
const SQUARES = 1000;

const ready = Latch.open('ready', THREADS);
const go = Event.open('go');
const table = Once.open('the table is full');
const running = WaitGroup.open('running');

if (isMainThread) {
  const shared = {
    squares: new Int32Array(new SharedArrayBuffer(4 * SQUARES)),
    counts: new Int32Array(new SharedArrayBuffer(8)), // how often the table was filled; how many squares were missing
  };
  for (let i = 0; i < THREADS; i++) new Worker(new URL(import.meta.url), { workerData: shared });
  await ready.waitAsync();
  go.set();
  await running.waitAsync();
  console.log(`the table was filled ${shared.counts[0]} time, and ${shared.counts[1]} squares were missing`);
} else {
  const { squares, counts } = workerData;
  const task = running.hold(); // before the latch opens, so that the main thread waits for this thread
  ready.countDown();
  go.wait();
  table.run(() => {
    for (let i = 0; i < SQUARES; i++) squares[i] = i * i;
    Atomics.add(counts, 0, 1);
  });
  for (let i = 0; i < SQUARES; i++) if (squares[i] !== i * i) Atomics.add(counts, 1, 1);
  task.done();
}
