/** Calls a method of a shared object, notes when it returns, and sends its result back. */
import { attach, note } from '../attach.mjs';

export default async function call({ handle, method, args = [], log, entry }) {
  const answer = await attach(handle)[method](...args);
  if (log) note(log, entry);
  return answer;
}
