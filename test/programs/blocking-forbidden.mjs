/** A thread that may not block: Atomics.wait throws, as on a browser's main thread. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

Atomics.wait = () => {
  throw new TypeError('Atomics.wait cannot be called in this context');
};
const { Semaphore } = await import('taketurns');
const { BinarySemaphore, CountingSemaphore } = await import('taketurns/p0514');
const algorithms = await import('taketurns/algorithms');
const { Capacitor, ChainSemaphore, ChannelSemaphore, EventCount, LocationSemaphore, TicketSemaphore, TwaSemaphore } =
  algorithms;

const semaphore = new Semaphore(2);
const empty = new Semaphore(0);
const errors = {};
for (const [what, call] of Object.entries({
  acquire: () => empty.acquire(),
  'acquire free': () => semaphore.acquire(),
  'acquire(2)': () => semaphore.acquire(2),
  hold: () => semaphore.hold(),
  'TicketSemaphore.acquire': () => new TicketSemaphore(0).acquire(),
  'TwaSemaphore.acquire': () => new TwaSemaphore(0).acquire(),
  'ChainSemaphore.acquire': () => new ChainSemaphore(0).acquire(),
  'ChannelSemaphore.acquire': () => new ChannelSemaphore(0).acquire(),
  'LocationSemaphore.acquire': () => new LocationSemaphore(0).acquire(),
  'EventCount.await': () => new EventCount().await(1n),
  addressWaitUntil: () => algorithms.addressWaitUntil(1, () => false),
  keyWait: () => algorithms.keyWait(1, 0n),
  keyWaitLazy: () => algorithms.keyWaitLazy(1, 0n),
  locationWait: () => algorithms.locationWait(1),
})) {
  try {
    call();
  } catch ({ name, message }) {
    errors[what] = { name, message };
  }
}

const locks = {};
for (const [kind, Lock] of Object.entries(algorithms)) {
  if (!kind.endsWith('Lock') || kind === 'CapacitorLock') continue;
  const lock = new Lock();
  try {
    lock.lock();
  } catch ({ name, message }) {
    locks[kind] = { name, message, tried: [lock.tryLock(), lock.tryLock()] };
  }
}

const works = { availableAfterErrors: semaphore.available };
// A wait of P0514 tries first, and throws only if it would have to wait.
const counting = new CountingSemaphore(3);
new BinarySemaphore(1).wait();
counting.wait(2);
works.waited = [counting.tryWaitFor(5), counting.tryWaitFor(-1), counting.value];
for (const [what, call] of Object.entries({
  'CountingSemaphore.wait': () => counting.wait(),
  'CountingSemaphore.tryWaitFor': () => counting.tryWaitFor(5),
  'CountingSemaphore.tryWaitUntil': () => counting.tryWaitUntil(Date.now() + 1000),
})) {
  try {
    call();
  } catch ({ name, message }) {
    works[what] = `${name}: ${message}`;
  }
}
works.tryAcquire = [semaphore.tryAcquire(), semaphore.tryAcquire(), semaphore.tryAcquire()];
const own = new Semaphore(2);
const capacitor = new Capacitor(2, { semaphore: own });
const tryArrive = () => capacitor.tryArrive();
works.tryArrive = [tryArrive(), tryArrive(), tryArrive()];
capacitor.depart();
capacitor.depart();
works.tryArrive.push(own.available, tryArrive());
works.settledInOrder = [];
const all = ['a', 'b', 'c'].map((name) => semaphore.acquireAsync().then(() => works.settledInOrder.push(name)));
semaphore.release(2);
semaphore.release();
await Promise.all(all);

const worker = new Worker(new URL('./workers/release-late.mjs', import.meta.url), {
  workerData: empty.handle,
});
await empty.acquireAsync();
works.releasedByWorker = true;
await worker.terminate();
if (worker.threadId !== -1) await once(worker, 'exit');

semaphore.release();
{
  const held = await semaphore.holdAsync();
  works.held = semaphore.available;
  held.release();
}
semaphore.release();
works.availableAtEnd = semaphore.available;
const late = semaphore.acquireAsync(2).then(() => semaphore.acquireAsync());
await undefined;
setImmediate(() => semaphore.dispose());
works.disposed = await late.catch((error) => error.name);
console.log(JSON.stringify({ errors, locks, works }));
