/**
 * Attaches to one semaphore after another, releases a permit to each, and forgets the library object. The other thread
 * makes the semaphores in the arena of `handle`. It writes into word 0 of `shared` one more than the number of
 * semaphores made so far, and into words 1 and 2 the address and the generation of the last one.
 */
import { Semaphore } from 'taketurns';

export default function releaseAndDrop({ handle, shared, rounds }) {
  Atomics.store(shared, 0, 1);
  for (let i = 1; i <= rounds; i++) {
    // The notify for the last semaphore may come after this thread has seen it, and then wakes the thread for nothing.
    while (Atomics.load(shared, 0) === i) Atomics.wait(shared, 0, i);
    Semaphore.from({ ...handle, address: shared[1], generation: shared[2] }).release();
  }
}
