// Uses the library once, and leaves the outcome in a global variable.
import { Semaphore } from 'taketurns';

try {
  const semaphore = new Semaphore(1);
  semaphore.acquire();
  globalThis.outcome = `${semaphore.available} available`;
} catch (error) {
  globalThis.outcome = String(error);
}
