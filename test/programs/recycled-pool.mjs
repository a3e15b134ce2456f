/**
 * A piscina pool that ends its idle threads at once and starts others, and an arena with room for few threads: the
 * records of the ended ones come back, so no task finds the arena full.
 *
 *     node test/programs/recycled-pool.mjs [tasks]
 */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Arena, Semaphore } from 'taketurns';

export default (handle) => {
  const semaphore = Semaphore.from(handle);
  semaphore.acquire();
  semaphore.release();
};

if (isMainThread) {
  const tasks = Number(process.argv[2] ?? 12);
  const arena = new Arena({ threads: 4 });
  const { handle } = new Semaphore(1, { arena });
  const pool = new Piscina({ filename: import.meta.url, minThreads: 0, maxThreads: 2, idleTimeout: 0 });
  for (let i = 0; i < tasks; i++) {
    await pool.run(handle);
    const before = performance.now();
    while (pool.threads.length > 0 && performance.now() - before < 5000) await sleep(1);
  }
  await pool.destroy();
  console.log('done');
}
