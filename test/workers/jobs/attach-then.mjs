/** Attaches, meets the other threads, and calls one method at the same moment as they do. */
import { attach, meet } from '../attach.mjs';

export default function attachThen({ handle, method, args = [], barrier, parties }) {
  const semaphore = attach(handle);
  meet(barrier, parties);
  return semaphore[method](...args);
}
