/**
 * Holds the only permit until the victim stands in line, releases it, and asks for it again at once. Returns how often
 * the hog was admitted before the victim.
 */
import { attach, poll } from '../attach.mjs';

export default function hog({ handle, shared, rounds }) {
  const semaphore = attach(handle);
  let passed = 0;
  semaphore.acquire();
  for (let round = 0; round < rounds; round++) {
    Atomics.add(shared, 0, 1);
    poll(() => semaphore.waiting > 0);
    const before = Atomics.load(shared, 1);
    semaphore.release();
    semaphore.acquire();
    if (Atomics.load(shared, 1) === before) passed++;
  }
  Atomics.store(shared, 2, 1);
  semaphore.release();
  return passed;
}
