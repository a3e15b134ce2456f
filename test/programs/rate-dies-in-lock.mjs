/**
 * A thread dies while it has the lock of a RateLimiter, and another one lives on that was cut there. Prints what the
 * threads after them get, as a line of JSON.
 *
 *     node test/programs/rate-dies-in-lock.mjs
 *
 * The library reads the clock with the lock. So the clock of the worker is one that never returns, and that of the main
 * thread throws once.
 */
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const { hrtime } = process;
let act = () => {};
process.hrtime = () => {
  act();
  return hrtime();
};
const { Arena } = await import('taketurns');
const { RateLimiter } = await import('taketurns/keyed');

if (isMainThread) {
  const told = {};
  const limiter = new RateLimiter(3, 1_000_000, { burst: 3, arena: new Arena() });
  limiter.take();
  const cut = new Error('cut');
  act = () => {
    act = () => {};
    throw cut;
  };
  try {
    limiter.tryTake();
  } catch (error) {
    told.wasCut = error === cut;
  }
  told.afterCut = limiter.tryTake();
  const worker = new Worker(new URL(import.meta.url), { workerData: { handle: limiter.handle } });
  await once(worker, 'message');
  told.whileItHasTheLock = limiter.tryTake();
  await worker.terminate();
  for (told.afterDeath = false; !told.afterDeath; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    told.afterDeath = limiter.tryTake();
  }
  told.one = limiter.tryTake();
  console.log(JSON.stringify({ ...told, taken: limiter.inspect().taken, waiting: limiter.waiting }));
  process.exit();
} else {
  const { parentPort } = await import('node:worker_threads');
  const limiter = RateLimiter.from(workerData.handle);
  act = () => {
    parentPort.postMessage('has the lock');
    for (;;);
  };
  limiter.tryTake();
}
