/** Raises the number, in steps that are not atomic. */
import { Mutex } from 'taketurns';

export default ({ number }) =>
  Mutex.open('of all workers').runExclusive(async () => {
    const before = number[0];
    await new Promise((done) => setTimeout(done, 1));
    number[0] = before + 1;
  });
