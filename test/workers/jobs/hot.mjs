/** Acquires and releases without a pause until it is killed, and counts in word `index` of `laps`. */
import { attach, random } from '../attach.mjs';

export default async function hot({ handle, most, ways, laps, index }) {
  const semaphore = attach(handle);
  const draw = random(index + 1);
  for (let i = 0; ; i++) {
    const n = 1 + Math.floor(draw() * most);
    const way = ways[i % ways.length];
    if (way === 'acquireAsync') await semaphore.acquireAsync(n);
    else if (way === 'acquire') semaphore.acquire(n);
    else if (!semaphore.tryAcquire(n)) continue;
    Atomics.add(laps, index, 1);
    semaphore.release(n);
  }
}
