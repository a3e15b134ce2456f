/** A signal names the waiters that it unblocks: all, one or none. */
import { NOTIFY_ALL, NOTIFY_NONE, NOTIFY_ONE } from '../../border/numbers.js';
import { badType } from '../../runtime/errors.js';

/**
 * P0514R1's `semaphore_notify`: the waiters that a signal unblocks. After a signal with `none`, a waiter sleeps on
 * until a later signal unblocks it.
 */
export const Notify = {
  /** All waiters. */
  all: 'all',
  /** At least one waiter, if there is any. */
  one: 'one',
  /** No waiter. */
  none: 'none',
} as const;
/** One of the values of `Notify`. */
export type Notify = (typeof Notify)[keyof typeof Notify];

const NUMBERS = { all: NOTIFY_ALL, one: NOTIFY_ONE, none: NOTIFY_NONE };

/** Checks a value of `Notify`, and returns the number by which the core knows it. */
export function notifyNumber(what: string, notify: Notify): number {
  if (!Object.hasOwn(NUMBERS, notify))
    throw badType(`${what}: notify`, "Notify.all, Notify.one or Notify.none ('all', 'one', 'none')", notify);
  return NUMBERS[notify];
}
