// Four readers may read a record together, but the writer must be alone. Readers that keep coming cannot shut the
// writer out, and a reader waits for one write at most.
// Run: node node_modules/taketurns/examples/readers-writer.mjs
// In a clone of the repository: node examples/readers-writer.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { RwLock } from 'taketurns/sync';

const READERS = 4;
const WRITES = 50;

const record = RwLock.open('record');

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
  const alone = record.write();
  words[0]++;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // for a millisecond the two words differ
  words[1]++;
  alone.unlock();
}

function read(words, reads) {
  const shared = record.read();
  const [first, second] = words;
  shared.unlock();
  Atomics.add(reads, 0, 1);
  if (first !== second) Atomics.add(reads, 1, 1);
  return first;
}
