/** Makes semaphores, checks that no other thread touches them, and disposes of them. */
import { Arena, Semaphore } from 'taketurns';
import { meet, random } from '../attach.mjs';

export default function churnObjects({ arena, rounds, index, barrier, parties }) {
  const here = Arena.from(arena);
  const draw = random(index + 1);
  let made = 0;
  meet(barrier, parties);
  for (let i = 0; i < rounds; i++) {
    const permits = 1 + Math.floor(draw() * 1000);
    const semaphore = new Semaphore(permits, { arena: here, max: permits + index });
    semaphore.acquire(permits);
    if (semaphore.available !== 0 || semaphore.tryAcquire()) throw new Error('somebody else has released here');
    semaphore.release(permits);
    if (semaphore.available !== permits) throw new Error('somebody else has acquired here');
    if (semaphore.max !== permits + index) throw new Error('this is not what was made');
    semaphore.dispose();
    made++;
  }
  return made;
}
