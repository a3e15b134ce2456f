/** Tries `rounds` times, keeps the permits that it gets, and returns how often it was refused. */
import { attach } from '../attach.mjs';

export default function attempts({ handle, permits = [], rounds }) {
  const semaphore = attach(handle);
  let refused = 0;
  for (let i = 0; i < rounds; i++) if (!semaphore.tryAcquire(...permits)) refused++;
  return refused;
}
