// Imports every entry of the package, and uses its classes a little.
import { Mutex, Semaphore } from 'taketurns';
import { CapacitorLock, TtsLock, TwaSemaphore } from 'taketurns/algorithms';
import { KeyedMutex } from 'taketurns/keyed';
import { metrics } from 'taketurns/metrics';
import { BinarySemaphore, CountingSemaphore } from 'taketurns/p0514';
import own from 'taketurns/package.json' with { type: 'json' };
import { report } from 'taketurns/report';
import 'taketurns/share';
import * as tasks from 'taketurns/tasks';

for (const semaphore of [new Semaphore(1), new TwaSemaphore(1)]) {
  semaphore.acquire();
  semaphore.release();
}
for (const lock of [new Mutex(), new CapacitorLock(new TtsLock())]) {
  lock.lock();
  lock.unlock();
}
for (const semaphore of [new BinarySemaphore(1), new CountingSemaphore(1)]) semaphore.wait();
new KeyedMutex().hold('key').unlock();
if (metrics().length === 0 || report().threads.length !== 1) throw new Error('this thread is not seen');
await new tasks.Mutex().runExclusive(() => {});
await new tasks.KeyedMutex().runExclusive('key', () => {});
console.log(own.name);
