/** Opens names, uses the semaphores, and disposes of them while others use them. */
import { Arena, Semaphore } from 'taketurns';
import { meet } from '../attach.mjs';

export default function churnNames({ arena, names, permits, rounds, index, barrier, parties }) {
  const here = Arena.from(arena);
  let used = 0;
  let closed = 0;
  meet(barrier, parties);
  for (let i = 0; i < rounds; i++) {
    const semaphore = Semaphore.open(names[(i + index) % names.length], permits, { arena: here });
    try {
      // There are as many permits as threads, and each thread has at most one. So no attempt can be refused.
      if (!semaphore.tryAcquire()) throw new Error('a permit is missing');
      semaphore.release();
      semaphore.acquire();
      semaphore.release();
      used++;
    } catch (error) {
      if (error.name !== 'DisposedError') throw error;
      closed++;
    }
    semaphore.dispose();
  }
  return { used, closed };
}
