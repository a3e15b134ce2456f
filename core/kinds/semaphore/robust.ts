/**
 * Robust semaphores: the attachment of a thread (arena/attachments.ts) records how many permits the thread holds. So
 * the permits of a dead thread go back, and the thread that acquires next learns of the death. This file does both. If the
 * code of the user that is told throws, `restoreOwnerDeaths` (core/kinds/kinds.ts) puts the death back.
 * core/queue/ writes the record: it adds the permits of each request that is admitted, and takes off what is released.
 */
import { E_HELD, GRANT, O_DEATHS, O_UNREPORTED_DEATHS } from '../../arena/words';
import { wakeDue } from '../../queue/queue';

/**
 * Gives back the permits that the attachment of a dead owner records. If the caller dies, another thread may call this
 * function again.
 */
export function releaseOfDead(s: usize, e: usize): void {
  const held = atomic.load<i64>(e, E_HELD);
  if (held === 0) return;
  atomic.add<i32>(s, 1, O_DEATHS);
  atomic.add<i32>(s, 1, O_UNREPORTED_DEATHS); // R7 begins
  const grant = atomic.add<i64>(s, held, GRANT);
  atomic.store<i64>(e, 0, E_HELD); // R7 ends
  wakeDue(s, grant, held);
}

/**
 * Returns how many owners have died since the last call of this function. A thread calls the function when it has
 * acquired.
 */
export function ownersDied(s: usize): i32 {
  return atomic.load<i32>(s, O_UNREPORTED_DEATHS) === 0 ? 0 : atomic.xchg<i32>(s, 0, O_UNREPORTED_DEATHS);
}
