/** Opens names, uses what it gets, and disposes of it under the feet of the others. */
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
      // As many permits as threads, and each gives back what it took: nobody can be refused.
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
