// The three locks of P0514R1. Each lock guards a counter that four threads raise together.
// Run: node node_modules/taketurns/examples/p0514-locks.mjs
// In a clone of the repository: node examples/p0514-locks.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { AtomicSemaphore, atomicSignal, atomicWait, BinarySemaphore } from 'taketurns/p0514';

/** A lock from a binary semaphore. */
class SemLock {
  constructor(handle) {
    this.s = handle ? BinarySemaphore.from(handle) : new BinarySemaphore(1);
  }
  lock() {
    this.s.wait();
  }
  unlock() {
    this.s.signal();
  }
}

/** A lock on a byte. Its waiters meet in a table of the library, which they share with waiters for other words. */
class SimpleLock {
  constructor(flag) {
    this.b = flag;
  }
  lock() {
    while (Atomics.compareExchange(this.b, 0, 0, 1) !== 0) atomicWait(this.b, 0, 1);
  }
  unlock() {
    Atomics.store(this.b, 0, 0);
    atomicSignal(this.b, 0);
  }
}

/** A lock on a byte with a semaphore of its own. So no signal for another word wakes its waiters. */
class ImprovedSimpleLock {
  constructor(flag, handle) {
    this.b = flag;
    this.s = handle ? AtomicSemaphore.from(handle) : new AtomicSemaphore();
  }
  lock() {
    while (Atomics.compareExchange(this.b, 0, 0, 1) !== 0) this.s.wait(this.b, 0, 1);
  }
  unlock() {
    Atomics.store(this.b, 0, 0);
    this.s.signal(this.b, 0);
  }
}

const THREADS = 4;
const ROUNDS = 2000;

if (isMainThread) {
  const flags = [1, 2].map(() => new Uint8Array(new SharedArrayBuffer(1)));
  const counters = new Int32Array(new SharedArrayBuffer(12));
  const data = {
    flags,
    counters,
    semaphore: new SemLock().s.handle,
    own: new ImprovedSimpleLock(flags[1]).s.handle,
  };
  const workers = Array.from({ length: THREADS }, () => new Worker(new URL(import.meta.url), { workerData: data }));
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))));
  for (const [i, name] of ['semlock', 'simple_lock', 'improved_simple_lock'].entries())
    console.log(`${name}: counted to ${counters[i]}`);
} else {
  const { flags, counters, semaphore, own } = workerData;
  const locks = [new SemLock(semaphore), new SimpleLock(flags[0]), new ImprovedSimpleLock(flags[1], own)];
  for (const [i, lock] of locks.entries()) {
    for (let round = 0; round < ROUNDS; round++) {
      lock.lock();
      counters[i] = counters[i] + 1; // not atomic: only the lock keeps the other threads out
      lock.unlock();
    }
  }
}
