/** This file defines and checks the properties of a new object. How long a request may take is common/waits.ts. */

import { LIMIT } from '../border/numbers.js';
import { checkInteger, checkType } from '../runtime/errors.js';

export type { Signal } from '../common/signals.js';
export * from '../common/waits.js';

/** @internal The properties that are fixed when an object is made. */
export interface Properties {
  readonly permits: number;
  readonly max: number;
  /** What the program wants. Default: the trait IS_ROBUST of the kind. */
  readonly robust?: boolean;
  /** O_SPIN: of an object of the papers, how often a waiter polls before it parks. Default: ADAPTIVE. */
  readonly spin?: number;
  /** Of an object of the algorithms. Default 0. */
  readonly threshold?: number;
  /** Used for the semaphores of the algorithms, which are never robust: one of HASH_* of core/papers/words.ts. */
  readonly hash?: number;
  /** O_VARIANT of an object of the algorithms. Default 0n. */
  readonly variant?: bigint;
  /** Of an object of the papers. Default 0n. */
  readonly firstTicket?: bigint | undefined;
  /** Says how an object with these words differs from what is asked for. Default: by permits, max and robust. */
  readonly differences?: (words: Int32Array) => string;
}

const ROBUST = ' (of a robust one: only holders can release)';

/** @internal Checks the number of permits of a new object, and the options that say more about them. */
export function checkPermits(
  what: string,
  permits: unknown,
  options: { readonly max?: number; readonly robust?: boolean },
): Pick<Properties, 'permits' | 'max' | 'robust'> {
  const { max = LIMIT, robust = false } = options;
  checkInteger(`${what}: max`, max, 1, LIMIT);
  checkType(`${what}: robust`, robust, 'boolean', 'true or false');
  return {
    permits: checkInteger(`${what}: permits`, permits, Number(robust), max, robust && permits === 0 ? ROBUST : ''),
    max,
    robust,
  };
}
