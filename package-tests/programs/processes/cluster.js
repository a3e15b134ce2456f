/** A process of a cluster has an arena of its own, and a handle of another process is refused. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { Semaphore } from 'taketurns';

const semaphore = Semaphore.open('of each process', 1);
semaphore.acquire();
if (cluster.isPrimary) {
  const other = cluster.fork();
  await once(other, 'message');
  other.send(semaphore.handle);
  await once(other, 'exit');
  console.log(`${semaphore.available} available`);
} else {
  process.once('message', (handle) => {
    try {
      Semaphore.from(handle);
    } catch (error) {
      console.log(String(error));
    }
    process.disconnect();
  });
  process.send('ready');
}
