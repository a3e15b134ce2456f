/** Blocks in acquire until the time-out of `runInThisContext` interrupts the call. Then the thread goes on. */
import { runInThisContext } from 'node:vm';
import { attach } from '../attach.mjs';

export default function interrupt({ handle }) {
  globalThis.interrupted = attach(handle);
  try {
    runInThisContext('interrupted.acquire()', { timeout: 20 });
  } catch (error) {
    return error.code;
  }
  return 'not interrupted';
}
