/** Whom a signal unblocks. */
import { badType } from '../errors.js';

/**
 * P0514R1's `semaphore_notify`: whom a signal unblocks of those who wait. If nobody, a later signal must.
 */
export const Notify = {
  /** Everybody who waits. */
  all: 'all',
  /** At least one, if anybody waits. */
  one: 'one',
  /** Nobody. */
  none: 'none',
} as const;
/** One of the values of `Notify`. */
export type Notify = (typeof Notify)[keyof typeof Notify];

/** NOTIFY_* of core/memory/layout.ts. */
const NUMBERS = { all: 0, one: 1, none: 2 };

/** The number of a notify for the core, checked. */
export function notifyNumber(what: string, notify: Notify): number {
  if (!Object.hasOwn(NUMBERS, notify))
    throw badType(`${what}: notify`, "Notify.all, Notify.one or Notify.none ('all', 'one', 'none')", notify);
  return NUMBERS[notify];
}
