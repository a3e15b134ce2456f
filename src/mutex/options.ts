/** The options of a new `Mutex`, and the properties of the shared object that they stand for. */
import type { Arena } from '../arena/arena.js';
import type { Properties } from '../objects/options.js';
import { checkInteger, checkOptions, refuseName } from '../runtime/errors.js';

/** The options of a new `Mutex`. */
export interface MutexOptions {
  /**
   * How often a waiter may be overtaken at most, 0 (first come, first served) to 134,217,728. Default 2,097,152.
   *
   * While others wait, a thread that has got the lock may lock again and again for a turn. A turn lasts about a quarter of
   * a millisecond, and less with more than 60 waiters. A turn lasts up to twice as long if the next waiter does not
   * run. A turn never has more locks than the bound divided by the number of waiters plus one. The shorter the turns
   * are, the more of its time the program spends on changing turns.
   *
   * A thread that polls before it queues up is not yet a waiter, and is not overtaken. The bound counts from the moment
   * when a waiter takes its ticket. This is just after `waiting` shows the waiter.
   */
  readonly bypass?: number;
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** @internal Checks the options of a new mutex. */
export function properties(what: string, options: MutexOptions): Properties {
  const DEFAULT_BYPASS = 0x200000;
  const MOST_BYPASS = 0x8000000;
  refuseName(what, 'Mutex', 'options', options, 'an object');
  checkOptions(what, options, ['bypass', 'arena']);
  const { bypass = DEFAULT_BYPASS } = options;
  return {
    permits: 1,
    max: checkInteger(`${what}: bypass`, bypass, 0, MOST_BYPASS),
  };
}
