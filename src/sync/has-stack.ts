/**
 * Looks for stack before a wait begins. A wait unlocks a mutex, and must lock it again however the wait ends. If the
 * stack overflowed in between, the thread would come back without the mutex. So the call fails before it unlocks.
 */

/** So many calls of `hasStack` need more stack than the calls that lock the mutex again. */
export const TO_LOCK_AGAIN = 50;
/** So many calls of `hasStack` need more stack than the calls that begin to wait by a promise. */
export const TO_BEGIN_ASYNC = 200;

/** Throws a RangeError if so many calls of this function do not fit on the stack. */
export function hasStack(calls: number): number {
  return calls > 0 ? hasStack(calls - 1) + 1 : 0;
}
