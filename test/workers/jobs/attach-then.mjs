/** Attaches, meets the others, and calls one method, all at the same moment. */
import { attach, meet } from '../attach.mjs';

export default function attachThen({ handle, method, args = [], barrier, parties }) {
  const semaphore = attach(handle);
  meet(barrier, parties);
  return semaphore[method](...args);
}
