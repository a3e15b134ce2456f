// A worker runs code after all exit handlers, and so after that of the library. By then the permits of the thread have
// gone back. No call of this code may give them back again.
import { isMainThread, Worker } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';

const robust = Semaphore.open('robust', 2, { robust: true });
const plain = Semaphore.open('plain', 0);
if (isMainThread) {
  const used = Arena.default.stats().elements.used;
  const worker = new Worker(new URL(import.meta.url), { stdout: false });
  worker.on('exit', () => {
    console.log(`${robust.available} of 2, ${plain.available} of 0, ${plain.waiting} waiting`);
    console.log(`${Arena.default.stats().elements.used - used} elements more, ${Arena.default.threads} thread`);
  });
} else {
  const held = robust.hold();
  const controller = new AbortController();
  plain.acquireAsync(1, { signal: controller.signal }).catch(() => {});
  const attempt = (name, call) => {
    try {
      call();
      console.log(`${name}: nothing`);
    } catch (error) {
      console.log(`${name}: ${error.name}, ${error.message}`);
    }
  };
  const { emit } = process;
  process.emit = (...event) => {
    emit.apply(process, event);
    if (event[0] !== 'exit') return;
    attempt('release', () => held.release());
    attempt('abort', () => controller.abort());
    attempt('acquire', () => robust.acquire());
    attempt('open', () => Semaphore.open('another', 1));
    attempt('make', () => new Semaphore(1));
  };
  process.exit();
}
