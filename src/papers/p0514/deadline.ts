/** The checks of the time arguments of timed waits: a duration or a point of time. */
import { badType, checkMilliseconds } from '../../runtime/errors.js';
import { LONGEST } from '../../runtime/numbers.js';

/** Checks a duration, and returns it. A negative duration is over, as in C++, so the result is 0. */
export function checkDuration(what: string, milliseconds: number): number {
  if (typeof milliseconds === 'number' && milliseconds < 0) return 0;
  return checkMilliseconds(what, 'ms', milliseconds);
}

/**
 * Returns the milliseconds from now to a point of the system clock: 0 if the point has passed, and at most LONGEST, the
 * longest time that a timer can be set to. If the result is LONGEST, the caller must ask again after that time. For
 * Infinity the result is Infinity.
 */
export function untilThen(what: string, epochMs: number): number {
  if (typeof epochMs !== 'number')
    throw badType(`${what}: epochMs`, 'a number of milliseconds since 1970, as Date.now() has it', epochMs);
  if (Number.isNaN(epochMs)) throw new RangeError(`${what}: epochMs must be a point of time, got NaN`);
  if (epochMs === Infinity) return Infinity;
  // Date.now() is the clock by which the caller has made `epochMs`. A test may have set this clock.
  return Math.min(Math.max(0, epochMs - Date.now()), LONGEST);
}

/** For error messages: the calls that a thread must use instead of a wait if it must not block. */
export const INSTEAD = 'the async form, or try without waiting';
