/** Makes a semaphore outside of the default arena, and then a default arena, which a worker of this worker inherits. */
import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const apart = new Semaphore(1);
apart.acquire();
new Arena().makeDefault();
const semaphore = Semaphore.open('inherited', 2);
const nested = new Worker(new URL('./inherit.mjs', import.meta.url), { workerData: { nest: false } });
const [found] = await once(nested, 'message');
await once(nested, 'exit');
parentPort.postMessage({ unnamed: apart.available, nested: semaphore.available });
if (found === undefined) throw new Error('the nested worker has found nothing');
