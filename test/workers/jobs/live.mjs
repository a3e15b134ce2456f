/** Uses semaphores of its own in every way until word 0 of `progress` is set, or until it is killed. */
import { Arena, Semaphore } from 'taketurns';

export default async function live({ arena, progress, index }) {
  const here = Arena.from(arena);
  const named = Semaphore.open(`of ${index}`, 2, { arena: here });
  let laps = 0;
  while (Atomics.load(progress, 0) === 0) {
    const own = new Semaphore(3, { arena: here, max: 3 });
    own.acquire(2);
    const promises = [own.acquireAsync(2), own.acquireAsync(), own.acquireAsync(3)];
    if (own.waiting !== 3) throw new Error('three must wait');
    own.release(2);
    await promises[0];
    await promises[1];
    own.release(3);
    await promises[2];
    own.release(3);
    if (own.available !== 3) throw new Error('permits are lost');
    const late = own.acquireAsync(3).then(() => own.acquireAsync());
    own.dispose();
    await late.catch((error) => {
      if (error.name !== 'DisposedError') throw error;
    });
    named.acquire();
    named.release();
    laps++;
    Atomics.add(progress, 1 + index, 1);
  }
  return laps;
}
