// Two producers and two consumers share a ring of four slots without a lock. One sequencer orders the producers, and
// one orders the consumers. Two event counts show each side how far the other side has come (Reed and Kanodia).
// Run: node node_modules/taketurns/examples/bounded-buffer.mjs
// In a clone of the repository: node examples/bounded-buffer.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { EventCount, Sequencer } from 'taketurns/algorithms';

const SLOTS = 4n;
const EACH = 100;

if (isMainThread) {
  const shared = {
    put: new EventCount().handle, // items put in so far
    taken: new EventCount().handle, // items taken out so far
    putters: new Sequencer().handle,
    takers: new Sequencer().handle,
    ring: new Int32Array(new SharedArrayBuffer(4 * Number(SLOTS))),
    sum: new Int32Array(new SharedArrayBuffer(4)),
  };
  const workers = ['produce', 'produce', 'consume', 'consume'].map(
    (role) => new Worker(new URL(import.meta.url), { workerData: { role, ...shared } }),
  );
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.on('exit', resolve))));
  console.log(`the items put in add up to ${EACH * (EACH + 1)}, and those taken out to ${shared.sum[0]}`);
} else {
  const { role, ring, sum } = workerData;
  const put = EventCount.from(workerData.put);
  const taken = EventCount.from(workerData.taken);
  if (role === 'produce') {
    const putters = Sequencer.from(workerData.putters);
    for (let item = 1; item <= EACH; item++) {
      const turn = putters.ticket();
      put.await(turn); // my turn among the producers
      taken.await(turn - SLOTS + 1n); // my slot is empty
      ring[turn % SLOTS] = item;
      put.advance();
    }
  } else {
    const takers = Sequencer.from(workerData.takers);
    for (let i = 0; i < EACH; i++) {
      const turn = takers.ticket();
      taken.await(turn); // my turn among the consumers
      put.await(turn + 1n); // my slot is full
      Atomics.add(sum, 0, ring[turn % SLOTS]);
      taken.advance();
    }
  }
}
