/** Tries so often; returns how often it was refused. What it gets it keeps. */
import { attach } from '../attach.mjs';

export default function attempts({ handle, permits = [], rounds }) {
  const semaphore = attach(handle);
  let refused = 0;
  for (let i = 0; i < rounds; i++) if (!semaphore.tryAcquire(...permits)) refused++;
  return refused;
}
