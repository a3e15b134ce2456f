/**
 * Makes a semaphore. Then asks for the default arena three times: without a handle, after a handle of another arena,
 * and after a handle of the default arena.
 */
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const apart = new Semaphore(1);
try {
  Semaphore.open('shared', 1);
  parentPort.postMessage({ message: 'it made one' });
} catch ({ name, message }) {
  parentPort.postMessage({ name, message, handle: apart.handle });
}

const [other] = await once(parentPort, 'message');
Semaphore.from(other);
try {
  Arena.default;
  parentPort.postMessage('some arena');
} catch {
  parentPort.postMessage('no arena');
}

const [handle] = await once(parentPort, 'message');
const semaphore = Semaphore.from(handle);
semaphore.acquire();
const own = new Semaphore(1);
const same = Arena.from(handle.arena) === Arena.default && Arena.from(own.handle.arena) === Arena.default;
parentPort.postMessage(same ? 'the same arena' : 'another arena');
