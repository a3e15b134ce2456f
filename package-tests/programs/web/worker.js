import { Mutex, Semaphore } from 'taketurns';

const ROUNDS = 20_000;

addEventListener('message', ({ data }) => {
  const mutex = Mutex.from(data.mutex);
  const { counter } = data;
  for (let i = 0; i < ROUNDS; i++) {
    mutex.lock();
    counter[0] = counter[0] + 1;
    mutex.unlock();
  }
  Semaphore.from(data.done).release();
});
