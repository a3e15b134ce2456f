/**
 * Attaches to one semaphore after another, gives each a permit, and forgets the library object. The other thread writes
 * into `shared` how many it has made and one more, then the address and the generation of the last one. The arena is that
 * of `handle`.
 */
import { Semaphore } from 'taketurns';

export default function releaseAndDrop({ handle, shared, rounds }) {
  Atomics.store(shared, 0, 1);
  for (let i = 1; i <= rounds; i++) {
    Atomics.wait(shared, 0, i);
    Semaphore.from({ ...handle, address: shared[1], generation: shared[2] }).release();
  }
}
