// A readers-writer lock made of a semaphore: a reader takes one permit, and the writer takes all permits. Readers and
// writer get in in the order of their arrival, because a semaphore serves its requests in order and gives a request all
// its permits at once.
// Run: node node_modules/taketurns/examples/readers-writer-in-order.mjs
// In a clone of the repository: node examples/readers-writer-in-order.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Semaphore } from 'taketurns';

const READERS = 4;
const WRITES = 50;

const record = Semaphore.open('record', READERS);

if (isMainThread) {
  const shared = {
    words: new Int32Array(new SharedArrayBuffer(8)), // the same number twice, except during a write
    reads: new Int32Array(new SharedArrayBuffer(8)), // reads, torn reads
  };
  const roles = ['writer', ...Array(READERS).fill('reader')];
  const workers = roles.map((role) => new Worker(new URL(import.meta.url), { workerData: { role, ...shared } }));
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(`${shared.words[0]} writes, ${shared.reads[1]} torn reads`);
} else {
  const { role, words, reads } = workerData;
  if (role === 'writer') for (let i = 0; i < WRITES; i++) write(words);
  else while (read(words, reads) < WRITES);
}

function write(words) {
  record.acquire(READERS);
  words[0]++;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // for a millisecond the two words differ
  words[1]++;
  record.release(READERS);
}

function read(words, reads) {
  record.acquire();
  const [first, second] = words;
  record.release();
  Atomics.add(reads, 0, 1);
  if (first !== second) Atomics.add(reads, 1, 1);
  return first;
}
