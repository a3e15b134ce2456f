/**
 * The main thread does not use the library, so each worker that makes an arena has a keeper of its own. A thread
 * attaches to the arena of the second worker while the keeper of the first worker runs and that of the second is still
 * starting. Then the first worker ends, and its keeper with it. The deaths in the second arena must still be noticed.
 */
import { once } from 'node:events';
import { isMainThread, MessageChannel, parentPort, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, Semaphore } from 'taketurns';

const timeout = 5000;
const start = (role, data, transferList = []) =>
  new Worker(new URL(import.meta.url), { workerData: { role, ...data }, transferList });

/** Lets a thread die that holds a mutex, and waits until the death is noticed. */
function letOneDie(arena) {
  const [mutex, taken] = [new Mutex({ arena }), new Semaphore(0, { arena })];
  const worker = start('holder', { mutex: mutex.handle, taken: taken.handle });
  taken.acquire(1, { timeout });
  worker.terminate();
  mutex.lock({ timeout });
}

const roles = {
  first() {
    letOneDie(new Arena());
    parentPort.postMessage('noticed');
    setInterval(() => {}, 1000);
  },
  attaches({ port }) {
    // This makes the thread compile the core before the message comes.
    new Arena();
    parentPort.postMessage('ready');
    port.once('message', (handle) => Semaphore.from(handle).release());
  },
  async second({ port }) {
    const arena = new Arena();
    const attached = new Semaphore(0, { arena });
    port.postMessage(attached.handle);
    attached.acquire(1, { timeout });
    parentPort.postMessage('attached');
    await once(parentPort, 'message');
    letOneDie(arena);
    parentPort.close();
    port.close();
    console.log('noticed');
  },
  holder({ mutex, taken }) {
    globalThis.kept = Mutex.from(mutex);
    globalThis.kept.lock();
    Semaphore.from(taken).release();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
};

if (isMainThread) {
  const { port1, port2 } = new MessageChannel();
  const first = start('first');
  const attaches = start('attaches', { port: port1 }, [port1]);
  await Promise.all([once(first, 'message'), once(attaches, 'message')]);
  const second = start('second', { port: port2 }, [port2]);
  await once(second, 'message');
  await first.terminate();
  second.postMessage('alone');
} else await roles[workerData.role](workerData);
