// Only the threads of a pool use a lock, and they find it by its name. The main thread makes no object. So it imports
// taketurns/share, before it starts a thread: from then on, threads inherit the arena in which they find names.
// Run: npm install piscina && node node_modules/taketurns/examples/piscina-names.mjs
// In a clone of the repository: node examples/piscina-names.mjs
import 'taketurns/share';
import { isMainThread } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Mutex } from 'taketurns';

if (isMainThread) {
  const pool = new Piscina({ filename: import.meta.url, minThreads: 3, maxThreads: 3 });
  const total = new Int32Array(new SharedArrayBuffer(4));
  await Promise.all(Array.from({ length: 60 }, (_, i) => pool.run({ total, add: i + 1 })));
  console.log(`60 jobs, in all ${total[0]}`);
  await pool.destroy();
}

/** Adds to the total, in steps that are not atomic. Piscina runs this in its threads. */
export default function job({ total, add }) {
  return Mutex.open('total').runExclusive(async () => {
    const before = total[0];
    await new Promise((done) => setTimeout(done, 1)); // here goes your call
    total[0] = before + add;
  });
}
