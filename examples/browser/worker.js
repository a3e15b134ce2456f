// A worker may block.
import { DisposedError, Semaphore } from 'taketurns';

addEventListener('message', ({ data: { turn, started, counts } }) => {
  const semaphore = Semaphore.from(turn);
  const take = () => {
    semaphore.acquire();
    counts[0]++; // the semaphore has one permit, so nobody else is here
    semaphore.release();
  };
  take();
  Semaphore.from(started).release();
  try {
    while (true) take();
  } catch (error) {
    if (!(error instanceof DisposedError)) throw error;
  }
});
