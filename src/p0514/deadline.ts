/** The timed waits share these checks of their time arguments: a duration or a point of time. */
import { badType, checkMilliseconds } from '../errors.js';
import { LONGEST } from '../runtime/numbers.js';

/** Checks a duration, and returns it. */
export function checkDuration(what: string, milliseconds: number): number {
  return checkMilliseconds(what, 'ms', milliseconds);
}

/** Returns the milliseconds from now to a point of the system clock, at most those of a timer; 0 when it has passed. */
export function untilThen(what: string, epochMs: number): number {
  if (typeof epochMs !== 'number')
    throw badType(`${what}: epochMs`, 'a number of milliseconds since 1970, as Date.now() has it', epochMs);
  if (Number.isNaN(epochMs)) throw new RangeError(`${what}: epochMs must be a point of time, got NaN`);
  if (epochMs === Infinity) return Infinity;
  // This is the clock by which the caller has made `epochMs`, though a test may have set it.
  return Math.min(Math.max(0, epochMs - Date.now()), LONGEST);
}

/** The calls that a thread must use instead of a wait if it must not block. */
export const INSTEAD = 'the async form, or try without waiting';
