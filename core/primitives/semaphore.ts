/**
 * The default semaphore: the queue, and nothing beside it (queue/tickets.ts).
 */
import { GRANT, O_MAX, TICKET } from '../memory/layout';
import { acquire, LIMIT, release } from '../queue/tickets';

/** acquire(s, 1), which most ask for: the engine need not carry a width through it (docs/internals/what-was-tried.md). */
export function acquireOne(s: usize): i32 {
  return acquire(s, 1);
}

/** release(s, 1). */
export function releaseOne(s: usize): i32 {
  return release(s, 1);
}

/** Whether n permits more would now be more than the semaphore's own max. */
export function exceeds(s: usize, n: i32): bool {
  // grant first: a ticket read later can only make the count smaller, so nobody is refused wrongly.
  const grant = atomic.load<i64>(s, GRANT);
  return grant - atomic.load<i64>(s, TICKET) + (n as i64) > (atomic.load<i32>(s, O_MAX) as i64);
}

/** Permits that tryAcquire could take now. Racy by nature. */
export function available(s: usize): i32 {
  const grant = atomic.load<i64>(s, GRANT);
  return max(0, min(grant - atomic.load<i64>(s, TICKET), LIMIT)) as i32;
}
