/** Waits for a word to change, by a free function or by a method of an AtomicSemaphore. */
import { Arena } from 'taketurns';
import * as p0514 from 'taketurns/p0514';
import { attach } from '../attach.mjs';

const functions = new Map(Object.entries(p0514));

export default async function waitForWord({ array, index, old, arena, method, handle, ms }) {
  const time = ms === undefined ? [] : [ms];
  if (handle) return attach(handle)[method](array, index, old, ...time);
  return functions.get(method)(array, index, old, ...time, { arena: Arena.from(arena) });
}
