/** One of a crowd of threads that use the proposal's simple_lock. Counts how often the thread was not alone inside. */
import { Arena } from 'taketurns';
import { atomicSignal, atomicTryWaitForAsync, atomicWait } from 'taketurns/p0514';
import { attach, meet, nap, random } from '../attach.mjs';

export default async function simpleLock(args) {
  const { lock, inside, which, rounds, arena, handle, barrier, parties, index } = args;
  const options = { arena: Arena.from(arena) };
  const semaphore = handle && attach(handle);
  const draw = random(index + 1);
  let tooMany = 0;
  meet(barrier, parties);
  for (let round = 0; round < rounds; round++) {
    while (Atomics.compareExchange(lock, 0, 0, 1) !== 0) {
      const way = draw();
      if (semaphore) {
        if (way < 0.9) semaphore.wait(lock, 0, 1);
        else await semaphore.tryWaitForAsync(lock, 0, 1, 1);
      } else if (way < 0.9) atomicWait(lock, 0, 1, options);
      else await atomicTryWaitForAsync(lock, 0, 1, 1, options);
    }
    if (Atomics.add(inside, which, 1) !== 0) tooMany++;
    if (draw() < 0.01) nap();
    Atomics.sub(inside, which, 1);
    Atomics.store(lock, 0, 0);
    if (semaphore) semaphore.signal(lock, 0);
    else atomicSignal(lock, 0, 'all', options);
  }
  return tooMany;
}
