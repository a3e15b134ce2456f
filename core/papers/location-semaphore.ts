/**
 * How threads wait over locations: Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 * near-and-far.ts has the semaphore itself, and locations.ts the wake-ups.
 *
 * A waiter waits at the location of its ticket until grant has passed a value.
 */
import { GRANT } from '../arena/words';
import { satisfied } from './chains';
import { countFutileWake } from './counting';
import { isEmplacedAt, locationWait } from './locations';
import { O_ALTERNATES } from './words';

/**
 * Waits until grant has passed `value` or is closed, and returns grant. The caller has looked at grant before. If the
 * thread is emplaced at this location already, it was emplaced before the caller looked at grant.
 */
export function locationWaitUntil(s: usize, location: usize, value: i64, polls: i32): i64 {
  const alternates = atomic.load<i32>(s, O_ALTERNATES) !== 0;
  // Every second call waits. The first call emplaces the thread, or waits if the thread is emplaced there already.
  let waits = isEmplacedAt(location);
  while (true) {
    locationWait(location, polls, alternates);
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, value)) return grant;
    if (waits) countFutileWake();
    waits = !waits;
  }
}
