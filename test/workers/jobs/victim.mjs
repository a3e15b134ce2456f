/** Asks for the permit now and then. Returns how often at most the hog was admitted during one wait of the victim. */
import { attach, poll, spin } from '../attach.mjs';

export default function victim({ handle, shared }) {
  const semaphore = attach(handle);
  poll(() => Atomics.load(shared, 0) > 0);
  let most = 0;
  for (let i = 0; Atomics.load(shared, 2) === 0; i++) {
    const before = Atomics.load(shared, 0);
    semaphore.acquire();
    most = Math.max(most, Atomics.load(shared, 0) - before);
    Atomics.add(shared, 1, 1);
    semaphore.release();
    spin(i % 300);
  }
  return most;
}
