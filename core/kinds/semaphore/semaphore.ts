/**
 * The default semaphore. It consists of the queue alone (queue/tickets.ts).
 */
import { GRANT, O_MAX, TICKET } from '../../arena/words';
import { acquire, release } from '../../queue/tickets';
import { LIMIT } from '../../queue/words';

/**
 * Takes one permit. This usual request has a function of its own: without the width as an argument, V8 makes the call
 * faster (docs/internals/what-was-tried.md).
 * @replaced by src/runtime/membership.ts
 */
export function acquireOne(s: usize): i32 {
  return acquire(s, 1);
}

/** Gives one permit back. */
export function releaseOne(s: usize): i32 {
  return release(s, 1);
}

/** Whether n more permits would exceed the max of the semaphore. */
export function exceeds(s: usize, n: i32): bool {
  // The function reads grant before ticket. Ticket may rise between the two loads, and then the number of available
  // permits comes out too small, never too large. So no release is refused wrongly.
  const grant = atomic.load<i64>(s, GRANT);
  return grant - atomic.load<i64>(s, TICKET) + (n as i64) > (atomic.load<i32>(s, O_MAX) as i64);
}

/** Returns the permits that tryAcquire could take. It may be out of date at once. */
export function available(s: usize): i32 {
  const grant = atomic.load<i64>(s, GRANT);
  return max(0, min(grant - atomic.load<i64>(s, TICKET), LIMIT)) as i32;
}
