import { ANSWER_FULL, type ANSWER_NOT_HELD, ANSWER_OVER_MAX } from '../border/numbers.js';
import { ofMax } from '../common/max.js';
import { reference, type SharedObject } from '../objects/shared-object.js';
import { notAdmitted } from '../runtime/cancellation.js';
import { checkInteger, described, noRoom } from '../runtime/errors.js';
import type { Left } from '../runtime/parking.js';
import type { KIND } from './options.js';

export const available = Symbol();

/** A semaphore, as its texts see it. */
type InTexts = SharedObject<typeof KIND> & { readonly [available]: number };

/** Throws a RangeError or TypeError unless so many permits may be asked for. */
export function checkPermits(method: string, permits: number, max: number): void {
  checkInteger(`Semaphore.${method}: permits`, permits, 1, max, ofMax(method));
}

/** Says, for a TimeoutError, what a request waited for that has left the queue. */
export function wanted(semaphore: InTexts, permits: number): string {
  // If the arena has had more waiters at a time, the error does not count the waiters: thousands may be thrown at once.
  const MANY = 1024;
  const { address, membership } = semaphore[reference];
  const { core } = membership;
  const waiting = core.usedElements() > MANY ? '' : `, ${core.waiting(address)} waiting`;
  return `${counted(permits)} of ${semaphore[described]()} (${semaphore[available]} available${waiting})`;
}

function counted(permits: number): string {
  return `${permits} permit${permits === 1 ? '' : 's'}`;
}

/** The error of a request that has left the queue, or has found no room in it. */
export function notServed(semaphore: InTexts, answer: ANSWER_FULL | Left, permits: number, timeout: number): Error {
  if (answer === ANSWER_FULL) return noRoom(semaphore[reference].membership.core);
  return notAdmitted(answer, () => wanted(semaphore, permits), timeout);
}

/** The error of a release that the core has refused with this answer. */
export function refused(
  semaphore: InTexts,
  method: string,
  answer: ANSWER_OVER_MAX | ANSWER_NOT_HELD,
  permits: number,
): RangeError {
  const { address, membership, shared } = semaphore[reference];
  return new RangeError(
    `Semaphore.${method}: ${
      answer === ANSWER_OVER_MAX
        ? `${permits} more would make more than ${membership.core.maxOf(address)} (its max) available of ${semaphore[described]()}; ` +
          `${semaphore[available]} are: ${method === 'add' ? 'make it with a greater max' : 'give back as many as were taken'}`
        : `this thread holds ${counted(membership.core.held(shared.attachment))} of ${semaphore[described]()}, which is ` +
          `robust, got ${permits}: the thread that takes permits gives them back`
    }`,
  );
}
