/** Makes a semaphore in an arena, and returns its handle. */
import { Arena, Semaphore } from 'taketurns';

export default function make({ arena, permits }) {
  return new Semaphore(permits, { arena: Arena.from(arena) }).handle;
}
