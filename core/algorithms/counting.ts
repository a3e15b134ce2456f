/**
 * What diagnostics count: here and nowhere on a fast path, since whoever counts was asleep or is about to be.
 *
 * A collision: a waiter comes to a slot where another stands. A futile wake-up: a waiter is woken, asleep or polling
 * its own word, and its turn has not come. So a waiter on a word that all share (Listing 1) is counted when it slept.
 */
import { COLLISIONS, FUTILE_WAKES } from '../memory/layout';

export function countCollision(): void {
  atomic.add<i32>(COLLISIONS, 1);
}

export function countFutileWake(): void {
  atomic.add<i32>(FUTILE_WAKES, 1);
}
