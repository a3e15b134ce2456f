/**
 * What diagnostics count. No fast path counts: a thread that counts was asleep, or is about to sleep.
 *
 * A collision: a waiter comes to a slot where another waiter stands. A futile wake-up: a waiter that sleeps, or polls
 * its own word, is woken before its turn. So a waiter on a word that all share (Listing 1) is counted only if it slept.
 */

import { count } from '../arena/threads';
import { T_COLLISIONS, T_FUTILE_WAKES } from '../arena/words';

export function countCollision(): void {
  count(T_COLLISIONS);
}

export function countFutileWake(): void {
  count(T_FUTILE_WAKES);
}
