/** Opens names in the first process of `cluster`, in a process that it has forked, and in a thread of that process. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';

new Mutex();
if (isMainThread && cluster.isWorker) process.stderr.write('forked\n');
for (const name of ['x', 'y']) Mutex.open(name).runExclusive(() => {});
Semaphore.open('z', 1);
if (cluster.isPrimary && isMainThread) cluster.fork();
else if (isMainThread) {
  await once(new Worker(fileURLToPath(import.meta.url)), 'exit');
  process.exit();
}
