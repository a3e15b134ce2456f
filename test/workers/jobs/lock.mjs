/** One of a crowd that locks and unlocks, and counts in words that only the lock guards. */
import { attach, meet, nap, random, spin } from '../attach.mjs';

export default function lock({ handle, shared, rounds, trying, think, index, barrier, parties }) {
  const lock = attach(handle);
  const draw = random(index + 1);
  let together = 0;
  meet(barrier, parties);
  for (let round = 0; round < rounds; round++) {
    if (!trying || draw() < 0.5 || !lock.tryLock()) lock.lock();
    // No atomic access: what one thread writes here is lost if another is inside.
    const before = shared[0];
    if (shared[1] !== before) together++;
    shared[0] = before + 1;
    if (draw() < 0.01) nap();
    else if (draw() < 0.2) spin(draw() * 500);
    shared[1] = before + 1;
    lock.unlock();
    if (think) spin(draw() * think);
  }
  return together;
}
