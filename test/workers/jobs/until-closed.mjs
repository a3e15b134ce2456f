/** Acquires and releases until the semaphore is disposed of; returns the name of the resulting error. */
import { attach, random } from '../attach.mjs';

export default async function untilClosed({ handle, count, index }) {
  const draw = random(index + 1);
  let semaphore;
  try {
    semaphore = attach(handle);
    while (true) {
      if (draw() < 0.3) await semaphore.acquireAsync();
      else semaphore.acquire();
      Atomics.add(count, 0, 1);
      semaphore.release();
    }
  } catch (error) {
    // The thread lets go of the object now, even if the error has not made it do so.
    semaphore?.dispose();
    return error.name;
  }
}
