/** What the waits have in common: the time arguments of the timed ones, a duration and a point of time. */
import { badType } from '../errors.js';

/** Longest time that a timer can be set to; see `setTimeout`. */
export const LONGEST = 2 ** 31 - 1;

/** Checks a duration, and returns it. */
export function checkDuration(what: string, milliseconds: number): number {
  if (typeof milliseconds !== 'number')
    throw badType(`${what}: ms`, 'a number of milliseconds', milliseconds);
  if (!((milliseconds >= 0 && milliseconds <= LONGEST) || milliseconds === Infinity))
    throw new RangeError(
      `${what}: ms must be from 0 to ${LONGEST} milliseconds or Infinity, got ${milliseconds}`,
    );
  return milliseconds;
}

/** The milliseconds from now to a point of the system's clock, as far as a timer reaches; 0 when it has passed. */
export function untilThen(what: string, epochMs: number): number {
  if (typeof epochMs !== 'number')
    throw badType(`${what}: epochMs`, 'a number of milliseconds since 1970, as Date.now() has it', epochMs);
  if (Number.isNaN(epochMs)) throw new RangeError(`${what}: epochMs must be a point of time, got NaN`);
  if (epochMs === Infinity) return Infinity;
  return Math.min(Math.max(0, epochMs - Date.now()), LONGEST);
}

/** The error of a wait on a thread that may not block. */
export function mayNotBlock(): TypeError {
  return new TypeError(
    'this thread may not block (a browser forbids it on the main thread): use the async form, or try without waiting',
  );
}
