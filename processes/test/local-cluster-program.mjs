/** Processes of `cluster`, and threads, that try to lock one mutex: `node local-cluster-program.mjs DIRECTORY KIND`. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Space } from 'taketurns-processes';

const COUNT = 4;
const [, , directory = workerData, kind] = process.argv;

/** Tells whether the lock was free, and holds it as long as this process or thread lives. */
async function compete(directory, tell) {
  const space = await Space.local({ space: 'cluster', directory });
  const mutex = await space.mutex('job');
  tell((await mutex.tryHold()) !== undefined);
}

if (cluster.isWorker) await compete(directory, (isFree) => process.send(isFree));
else if (!isMainThread) await compete(workerData, (isFree) => parentPort.postMessage(isFree));
else {
  const told = [];
  for (let at = 0; at < COUNT; at++) {
    const worker =
      kind === 'cluster'
        ? cluster.fork()
        : new Worker(fileURLToPath(import.meta.url), { workerData: directory, argv: [] });
    const [isFree] = await once(worker, 'message');
    told.push(isFree);
  }
  console.log(JSON.stringify(told));
  process.exit();
}
