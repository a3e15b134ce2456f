/**
 * A thread that blocks in `select` waits by promises. Each of them has a mark in its wait element, so that reports tell
 * it from promises for which the thread does not block. The mark lies in E_ASLEEP, which a promise does not need, and
 * contains the epoch of the element: so it ends with the wait. It is neither 0 nor 1, which a blocked waiter has there.
 */
const EPOCHS = ~15;
const MARK = 2;

/** Returns the mark of a wait whose element has this state (its low half). */
export function caseMark(state: number): number {
  return (state & EPOCHS) | MARK;
}
