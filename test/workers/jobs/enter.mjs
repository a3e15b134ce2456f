/** Acquires, notes when it is admitted, and keeps the permits. */
import { attach, note } from '../attach.mjs';

export default async function enter({ handle, permits = [], log, entry, async = false }) {
  const semaphore = attach(handle);
  if (async) await semaphore.acquireAsync(...permits);
  else semaphore.acquire(...permits);
  if (log) note(log, entry);
}
