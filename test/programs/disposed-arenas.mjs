// A program makes arenas in turn, uses and leaves each, and says how many there were before the address space was used up.
import { setImmediate } from 'node:timers/promises';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { CapacitorLock, McsLock } from 'taketurns/algorithms';
import { AtomicSemaphore } from 'taketurns/p0514';
import { Event, Latch } from 'taketurns/sync';

const words = new Int32Array(new SharedArrayBuffer(4));
let count = 0;
try {
  for (; count < 60; count++) {
    // A keeper would know the memory of an arena that is shared.
    const arena = new Arena({ watch: false });
    const semaphore = new Semaphore(1, { arena, robust: true });
    semaphore.acquire();
    const mutex = new Mutex({ arena });
    mutex.lock();
    new CapacitorLock(new McsLock({ arena })).lock();
    // Its one promise is over, and what has listened for it is still pending.
    const event = new Event({ arena });
    event.handle; // Other threads may know it, so it is not closed with the arena.
    await event.waitAsync({ timeout: 1 });
    const pending = [
      semaphore.acquireAsync(),
      semaphore.acquireAsync(1, { timeout: 1e6 }),
      mutex.lockAsync(),
      new AtomicSemaphore({ arena }).waitAsync(words, 0, 0),
      new Latch(1, { arena }).waitAsync(),
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
