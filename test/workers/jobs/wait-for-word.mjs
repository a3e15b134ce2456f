/** Waits for a word to change, by a free function or a method of an AtomicSemaphore. */
import { Arena } from 'taketurns';
import * as p0514 from 'taketurns/p0514';
import { attach } from '../attach.mjs';

export default async function waitForWord({ array, index, old, arena, method, handle, ms }) {
  const time = ms === undefined ? [] : [ms];
  if (handle) return attach(handle)[method](array, index, old, ...time);
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: the test names the function.
  return p0514[method](array, index, old, ...time, { arena: Arena.from(arena) });
}
