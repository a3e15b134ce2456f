/** Attaches, waits for the others to have done so too, and calls one method, all at once. */
import { attach, meet } from '../attach.mjs';

export default function attachThen({ handle, method, args = [], barrier, parties }) {
  const semaphore = attach(handle);
  meet(barrier, parties);
  return semaphore[method](...args);
}
