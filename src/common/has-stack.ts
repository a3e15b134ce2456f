/**
 * Looks for stack before a call begins that must not be cut in its midst:
 *
 *     a wait on a condition     unlocks a mutex, and must lock it again however the wait ends. If the stack overflowed in
 *                               between, the thread would come back without the mutex
 *     a rate of tasks           changes its schedule, which has no journal. If the stack overflowed in between, permits
 *                               would be lost, or would count for nobody
 *
 * So the call fails before it changes anything. (A rate of threads has a journal, because a thread may also die in a call.)
 */

/** So many calls of `hasStack` need more stack than the calls that lock the mutex again. */
export const TO_LOCK_AGAIN = 50;
/** So many calls of `hasStack` need more stack than the calls that begin to wait by a promise. */
export const TO_BEGIN_ASYNC = 200;
/** So many calls of `hasStack` need more stack than the calls that take permits of a rate of tasks. */
export const TO_TAKE = 40;
/** So many calls of `hasStack` need more stack than any change of a rate of tasks, with its promises and its timer. */
export const TO_CHANGE_RATE = 200;

/** Throws a RangeError if so many calls of this function do not fit on the stack. */
export function hasStack(calls: number): number {
  return calls > 0 ? hasStack(calls - 1) + 1 : 0;
}
