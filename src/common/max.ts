/** The max of a semaphore, for tasks and for threads alike. */

const MOST = 2 ** 31 - 1;

/** What an error says of the number up to which permits may be asked for. A pool that grows needs a greater max. */
export function ofMax(method: string): string {
  return method === 'add' ? ' (its max: make it with a greater max)' : ' (its max)';
}

/**
 * Returns the max of a semaphore that is made with these permits and no other max: the permits, so that `new
 * Semaphore(5)` means at most five at a time, and a release too many is an error. If a semaphore begins without
 * permits, releases make its permits, and then there is no max but what the words of a semaphore can count.
 */
export function usualMax(permits: unknown): number {
  // Bad permits are refused by whoever checks them, and not by their max.
  return Number.isInteger(permits) && (permits as number) >= 1 && (permits as number) <= MOST
    ? (permits as number)
    : MOST;
}
