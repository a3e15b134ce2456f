/**
 * What diagnostics count. No fast path counts: a thread that counts was asleep, or is about to sleep.
 *
 * A collision: a waiter comes to a slot where another waiter stands. A futile wake-up: a waiter that sleeps, or polls
 * its own word, is woken before its turn. So a waiter on a word that all share (Listing 1) is counted only if it slept.
 */
import { COLLISIONS, FUTILE_WAKES } from '../memory/layout';

export function countCollision(): void {
  atomic.add<i32>(COLLISIONS, 1);
}

export function countFutileWake(): void {
  atomic.add<i32>(FUTILE_WAKES, 1);
}
