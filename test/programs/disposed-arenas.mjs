// A program makes arenas in turn, uses and leaves each, and says how many there were before the address space was used up.
import { setImmediate } from 'node:timers/promises';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { CapacitorLock, McsLock } from 'taketurns/algorithms';
import { AtomicSemaphore } from 'taketurns/p0514';

const words = new Int32Array(new SharedArrayBuffer(4));
let count = 0;
try {
  for (; count < 60; count++) {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    semaphore.acquire();
    const mutex = new Mutex({ arena });
    mutex.lock();
    new CapacitorLock(new McsLock({ arena })).lock();
    const pending = [
      semaphore.acquireAsync(),
      semaphore.acquireAsync(1, { timeout: 1e6 }),
      mutex.lockAsync(),
      new AtomicSemaphore({ arena }).waitAsync(words, 0, 0),
    ];
    // In this turn of the event loop the promises begin to listen.
    await setImmediate();
    if (!process.argv.includes('keep')) arena.dispose();
    for (const promise of pending) promise.catch(() => {});
    await setImmediate();
  }
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
console.log(`arenas: ${count}`);
process.exit();
