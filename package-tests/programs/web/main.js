// Two workers raise a counter in steps that are not atomic, so only the mutex keeps the workers apart. The page awaits
// both workers with a promise.
import { Mutex, Semaphore } from 'taketurns';

const WORKERS = 2;
const tell = (result) => fetch('/result', { method: 'POST', body: result });
addEventListener('error', (event) => tell(`error: ${event.message}`));
addEventListener('unhandledrejection', (event) => tell(`error: ${event.reason}`));

const mutex = new Mutex();
const done = new Semaphore(0);
const counter = new Int32Array(new SharedArrayBuffer(4));

for (let i = 0; i < WORKERS; i++) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  worker.onerror = (event) => tell(`error in a worker: ${event.message}`);
  worker.postMessage({ mutex: mutex.handle, done: done.handle, counter });
}
done.acquireAsync(WORKERS).then(() => tell(`counted to ${counter[0]}`));
