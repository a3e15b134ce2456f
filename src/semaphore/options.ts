/** The options of a new `Semaphore`, and the properties of the shared object that they stand for. */
import type { Arena } from '../arena/arena.js';
import { usualMax } from '../common/max.js';
import { checkPermits, type Properties } from '../objects/options.js';
import { checkOptions, refuseName } from '../runtime/errors.js';

export const KIND = 'Semaphore';

/** The options of a new `Semaphore`. */
export interface SemaphoreOptions {
  /**
   * The greatest number of available permits, 1 to 2,147,483,647. It is also the most that one request can ask for: a
   * request for more is a `RangeError`. By default it is the number of permits at first, so a release too many is an
   * error. A semaphore that begins with 0 permits has no max by default. A pool that grows needs a greater one.
   */
  readonly max?: number;
  /**
   * Whether the permits of each thread are recorded, so that the permits of a dead thread go back (`Arena.watch`) and
   * the next owner learns of the death. Then only the thread that holds permits may release them, and an uncontended
   * acquire and release take about twice as long. Default false.
   */
  readonly robust?: boolean;
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** @internal Checks the options of a new semaphore. */
export function properties(what: string, permits: number, options: SemaphoreOptions): Properties {
  refuseName(what, 'Semaphore', 'permits', permits, 'an integer', ', permits');
  checkOptions(what, options, ['max', 'robust', 'arena']);
  const { max = usualMax(permits) } = options;
  return checkPermits(what, permits, { ...options, max });
}
