/** A request for permits: the options may stand in the place of the number. */
import type { WaitOptions } from '../common/waits.js';

/** Returns the number of permits and the options of a request. */
export function requestOf(
  permits: number | WaitOptions,
  options: WaitOptions | undefined,
): [permits: number, options: WaitOptions | undefined] {
  return Object(permits) === permits && options === undefined
    ? [1, permits as WaitOptions]
    : [permits as number, options];
}

/** Returns the number of permits of a request whose arguments have been checked. */
export function permitsOf(permits: number | WaitOptions): number {
  return typeof permits === 'number' ? permits : 1;
}
