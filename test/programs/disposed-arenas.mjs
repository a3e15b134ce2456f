// A program makes arenas in turn, and uses and leaves each. It says how many arenas there were before the address space
// was used up.
import { setImmediate } from 'node:timers/promises';
import { Arena, Mutex, Semaphore } from 'taketurns';
import { CapacitorLock, McsLock } from 'taketurns/algorithms';
import { AtomicSemaphore } from 'taketurns/p0514';
import { Event, Latch } from 'taketurns/sync';

const words = new Int32Array(new SharedArrayBuffer(4));
let count = 0;
try {
  for (; count < 60; count++) {
    // This arena has no keeper: a keeper would keep the memory of a shared arena.
    const arena = new Arena({ watch: false });
    const semaphore = new Semaphore(1, { arena, robust: true });
    semaphore.acquire();
    const mutex = new Mutex({ arena });
    mutex.lock();
    new CapacitorLock(new McsLock({ arena })).lock();
    // The only promise of this event is over, but the library still listens for it.
    const event = new Event({ arena });
    event.handle; // Now other threads may know the event, so it is not closed with the arena.
    await event.waitAsync({ timeout: 1 });
    const pending = [
      semaphore.acquireAsync(),
      semaphore.acquireAsync(1, { timeout: 1e6 }),
      mutex.lockAsync(),
      new AtomicSemaphore({ arena }).waitAsync(words, 0, 0),
      new Latch(1, { arena }).waitAsync(),
    ];
    // In the next iteration of the event loop the promises begin to listen.
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
