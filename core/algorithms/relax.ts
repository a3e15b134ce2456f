/**
 * The waiting policies. Each is a budget of turns that a waiter spends awake before it parks:
 *
 *     park             0
 *     spin-then-park   n      so many pauses
 *     spin             the greatest number of pauses: they last minutes, and after them the waiter parks
 *     yield            -n     so many turns in which the waiter yields the processor for a moment; then it parks
 *
 * A semaphore may also say that its far waiters park at once. The policy is then that of the near waiters alone.
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, section 2.
 */
import { NEVER } from '../arena/words';
import { pause } from '../queue/pause';
import { FAR_PARKS } from './words';

/** Nanoseconds of the shortest sleep. It lets other threads run, since WebAssembly cannot yield. */
const MOMENT: i64 = 1;

/** Spends one turn of a budget that is not 0. Returns the budget that is left. */
export function relax(budget: i32): i32 {
  if (budget > 0) {
    pause();
    return budget - 1;
  }
  atomic.wait<i32>(NEVER, 0, MOMENT);
  return budget + 1;
}

/** Returns the budget of a far waiter. `threshold` is the word O_THRESHOLD, `budget` that of a near waiter. */
export function farBudget(threshold: i32, budget: i32): i32 {
  return (threshold & FAR_PARKS) !== 0 ? 0 : budget;
}
