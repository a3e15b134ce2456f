/** One of a crowd of threads that use a binary semaphore as a lock, by all calls of the semaphore. */
import { attach, meet, nap, random } from '../attach.mjs';

export default async function lockWith({ handle, shared, ways, rounds, permits = 1, index, barrier, parties }) {
  const semaphore = attach(handle);
  const draw = random(index + 1);
  const score = { taken: 0, tooMany: 0 };
  meet(barrier, parties);
  while (score.taken < rounds) {
    const way = ways[Math.floor(draw() * ways.length)];
    const time = way.includes('Until') ? [Date.now() + 1] : way.includes('For') ? [draw() * 2] : [];
    const answer = await semaphore[way](...time);
    if (answer === false) continue;
    score.taken++;
    if (Atomics.add(shared, 0, 1) >= permits) score.tooMany++;
    if (draw() < 0.02) nap();
    Atomics.sub(shared, 0, 1);
    semaphore.signal();
  }
  return score;
}
