/**
 * Robust semaphores: what a thread holds is recorded with its attachment (memory/attachments.ts), so that the permits of a
 * dead thread go back, and the next one that acquires learns of the death. Requests record what they get in the queue.
 */
import { E_HELD, GRANT, O_DEATHS, O_DIED } from '../memory/layout';
import { wakeDue } from '../queue/waking';

/** The permits of a dead owner, whose attachment this is, go back. May be begun again if the caller dies. */
export function releaseOfDead(s: usize, e: usize): void {
  const held = atomic.load<i64>(e, E_HELD);
  if (held === 0) return;
  atomic.add<i32>(s, 1, O_DEATHS); // R7 begins
  atomic.add<i32>(s, 1, O_DIED);
  atomic.store<i64>(e, 0, E_HELD);
  wakeDue(s, atomic.add<i64>(s, held, GRANT), held); // R7 ends with the add
}

/** How many owners have died since somebody last asked: whoever acquires next learns of it. */
export function ownersDied(s: usize): i32 {
  return atomic.load<i32>(s, O_DIED) === 0 ? 0 : atomic.xchg<i32>(s, 0, O_DIED);
}
