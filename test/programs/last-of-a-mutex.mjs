// A promise is the head of a mutex over some iterations of the event loop, and gets the lock. Then nothing is left to
// wait for.
import { Mutex } from 'taketurns';

const mutex = new Mutex();
mutex.lock();
const promise = mutex.lockAsync();
await new Promise((resolve) => setTimeout(resolve, 20));
mutex.unlock();
await promise;
mutex.unlock();
console.log('unlocked');
