/** Releases permits that another thread has acquired. */
import { attach } from '../attach.mjs';

export default function release({ handle, permits = [], times = 1 }) {
  const semaphore = attach(handle);
  for (let i = 0; i < times; i++) semaphore.release(...permits);
}
