/**
 * The waiting policies. Each is a budget of polls, which a waiter spends before it parks:
 *
 *     park             0
 *     spin-then-park   n      so many polls, with a pause after each
 *     spin             FOR_EVER: a waiter polls until its turn comes
 *     yield            -n     so many polls; after each the waiter yields the processor for a moment
 *
 * A semaphore may also say that its far waiters park at once. The policy is then that of the near waiters alone.
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, section 2.
 */
import { NEVER } from '../arena/words';
import { pause } from '../queue/polling';
import { FAR_PARKS, FOR_EVER } from './words';

/** Nanoseconds of the shortest sleep. It lets other threads run, since WebAssembly cannot yield. */
const MOMENT: i64 = 1;

/** Spends one poll of a budget that is not 0. Returns the budget that is left. */
export function relax(budget: i32): i32 {
  if (budget > 0) {
    pause();
    return budget === FOR_EVER ? budget : budget - 1;
  }
  atomic.wait<i32>(NEVER, 0, MOMENT);
  return budget + 1;
}

/** Returns the budget of a far waiter. `threshold` is the word O_THRESHOLD, `budget` that of a near waiter. */
export function farBudget(threshold: i32, budget: i32): i32 {
  return (threshold & FAR_PARKS) !== 0 ? 0 : budget;
}
