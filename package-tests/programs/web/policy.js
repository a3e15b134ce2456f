// Uses the library once, and leaves what comes of it in a global.
import { Semaphore } from 'taketurns';

try {
  const semaphore = new Semaphore(1);
  semaphore.acquire();
  globalThis.outcome = `${semaphore.available} available`;
} catch (error) {
  globalThis.outcome = String(error);
}
