/**
 * Each task takes the one permit of a robust semaphore, and does not release it. Then the pool ends the thread of the
 * task, because the thread is idle or because the task is aborted. The permit must come back, and so must the records
 * of the threads, because the arena has room for only three. Nobody calls `watch`.
 */
import { Arena, Semaphore } from 'taketurns';

const ROUNDS = 3;
const timeout = 10_000;
const [, , library, options] = process.argv;
const { default: Pool } = await import(library);

const arena = new Arena({ threads: 3 });
const permit = new Semaphore(1, { arena, robust: true });
const taken = new Semaphore(0, { arena });
const task = { permit: permit.handle, taken: taken.handle };
const filename = new URL('./task.js', import.meta.url).href;
const pool = new Pool({ filename, minThreads: 0, maxThreads: 1, idleTimeout: 0, ...JSON.parse(options) });

for (let i = 0; i < ROUNDS; i++) {
  await pool.run(task);
  await permit.acquireAsync(1, { timeout });
  permit.release();
  await taken.acquireAsync();

  const abort = new AbortController();
  const aborted = pool.run({ ...task, stays: true }, { signal: abort.signal }).catch(({ name }) => name);
  await taken.acquireAsync();
  abort.abort();
  // This thread blocks, so it cannot hear that the worker has ended.
  permit.acquire(1, { timeout });
  permit.release();
  if ((await aborted) !== 'AbortError') throw new Error('the task was not aborted');
}
await pool.destroy();
const { used } = arena.stats().objects;
console.log(`${permit.available} permit, ${permit.inspect().ownerDeaths} deaths, ${used} objects`);
