/** The other side of meet-and-dispose: waits for the semaphores. Returns how often it got a DisposedError. */
import { Arena, Semaphore } from 'taketurns';
import { poll, random, spin } from '../attach.mjs';

export default async function meetAndWait({ arena, rounds, shared, how }) {
  const here = Arena.from(arena);
  const draw = random(2);
  let told = 0;
  for (let round = 1; round <= rounds; round++) {
    poll(() => Atomics.load(shared, 0) >= round);
    const semaphore = Semaphore.open('met', 0, { arena: here });
    Atomics.store(shared, 1, round);
    spin(draw() * 100);
    try {
      await semaphore[how]();
    } catch (error) {
      if (error.name !== 'DisposedError') throw error;
      told++;
    }
    semaphore.dispose();
  }
  return told;
}
