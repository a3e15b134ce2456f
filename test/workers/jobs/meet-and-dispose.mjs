/** In each round meets the other thread, and disposes of a semaphore at the moment when that thread begins to wait. */
import { Arena, Semaphore } from 'taketurns';
import { poll, random, spin } from '../attach.mjs';

export default function meetAndDispose({ arena, rounds, shared }) {
  const here = Arena.from(arena);
  const draw = random(1);
  for (let round = 1; round <= rounds; round++) {
    const semaphore = Semaphore.open('met', 0, { arena: here });
    // Word 0 has the round for which this thread is ready, word 1 that of the other thread.
    Atomics.store(shared, 0, round);
    poll(() => Atomics.load(shared, 1) >= round);
    spin(draw() * 100);
    semaphore.dispose();
  }
}
