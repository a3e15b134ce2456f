/** Shares an arena before the main thread shares one, so the keeper is a child of this thread. Ends when told. */
import { parentPort } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';

const mutex = new Mutex({ arena: new Arena() });
parentPort.postMessage(mutex.handle);
parentPort.once('message', () => parentPort.close());
