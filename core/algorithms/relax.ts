/**
 * The waiting policies, as a budget of turns that a waiter spends awake before it parks:
 *
 *     park             0
 *     spin-then-park   n      so many pauses
 *     spin             the most that there are: minutes, after which it parks all the same
 *     yield            -n     so many turns in which it gives the processor away for a moment; likewise
 */
import { NEVER } from '../memory/layout';
import { pause } from '../queue/pause';

/** Nanoseconds. WebAssembly cannot yield; the shortest sleep lets others run. */
const MOMENT: i64 = 1;

/** One turn. The budget that is left; it was not 0. */
export function relax(budget: i32): i32 {
  if (budget > 0) {
    pause();
    return budget - 1;
  }
  atomic.wait<i32>(NEVER, 0, MOMENT);
  return budget + 1;
}
