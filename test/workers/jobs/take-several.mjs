/** One of a crowd of threads that take and release several permits of a counting semaphore at once, in all ways. */
import { attach, meet, nap, random } from '../attach.mjs';

export default async function takeSeveral({ handle, shared, ways, rounds, permits, index, barrier, parties }) {
  const semaphore = attach(handle);
  const draw = random(index + 1);
  const upTo = (most) => 1 + Math.floor(draw() * most);
  const score = { taken: 0, failed: 0, tooMany: 0 };
  meet(barrier, parties);
  for (let round = 0; round < rounds; round++) {
    const way = ways[Math.floor(draw() * ways.length)];
    const count = upTo(permits);
    const time = way.includes('Until') ? [Date.now() + 1] : way.includes('For') ? [draw() * 2] : [];
    if ((await semaphore[way](...time, count)) === false) {
      score.failed++;
      continue;
    }
    score.taken++;
    if (Atomics.add(shared, 0, count) + count > permits) score.tooMany++;
    if (draw() < 0.05) nap();
    Atomics.sub(shared, 0, count);
    giveBack(semaphore, count, upTo);
  }
  return score;
}

/**
 * Gives permits back in parts. A signal may notify all waiters, one or none. At the end a signal of 0 permits wakes the
 * waiters that signals with `one` or `none` have left asleep.
 */
function giveBack(semaphore, count, upTo) {
  for (let left = count; left > 0; ) {
    const part = upTo(left);
    semaphore.signal(part, ['all', 'one', 'none'][upTo(3) - 1]);
    left -= part;
  }
  semaphore.signal(0);
}
