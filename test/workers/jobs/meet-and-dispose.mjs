/** Round after round: meets the other thread and disposes of the semaphore that it begins to wait for. */
import { Arena, Semaphore } from 'taketurns';
import { poll, random, spin } from '../attach.mjs';

export default function meetAndDispose({ arena, rounds, shared }) {
  const here = Arena.from(arena);
  const draw = random(1);
  for (let round = 1; round <= rounds; round++) {
    const semaphore = Semaphore.open('met', 0, { arena: here });
    // Word 0: the round that this thread is ready for. Word 1: the other one's.
    Atomics.store(shared, 0, round);
    poll(() => Atomics.load(shared, 1) >= round);
    spin(draw() * 100);
    semaphore.dispose();
  }
}
