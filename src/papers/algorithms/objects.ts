/** The options of the objects of the algorithms, and their checks. */
import { LIMIT } from '../../border/numbers.js';
import { checkPermits, type Properties } from '../../objects/options.js';
import { bad, checkInteger, checkOptions, checkType } from '../../runtime/errors.js';
import { budget, type Policy, type PolicyOptions, USUAL } from '../policies.js';

/** The defaults of a class, for checkProperties. */
export interface Defaults {
  readonly spin: number;
  readonly threshold?: number;
  /** The names of the options that the class has, besides the usual ones. */
  readonly names: readonly string[];
  /** The name of the option for the first value of the counters, if callers may choose it. */
  readonly first?: string;
}

/** The number of polls of each policy that fixes this number. core/papers/relax.ts explains the numbers. */
export const POLICIES: Partial<Record<Policy, number>> = { spin: LIMIT, yield: -LIMIT, park: 0 };

const LAST_FIRST_TICKET = 2n ** 61n;

/** Checks the options of a new object of the algorithms. Such an object is never robust, and may have a threshold. */
export function checkProperties(
  what: string,
  permits: unknown,
  options: { max?: number; threshold?: number; firstTicket?: bigint } & PolicyOptions,
  defaults: Defaults,
): Properties {
  checkOptions(what, options, [...defaults.names, ...USUAL], ['firstTicket']);
  const checked = { ...checkPermits(what, permits, options), spin: budget(what, options, defaults.spin, POLICIES) };
  const { firstTicket = 0n } = options;
  const first = `${what}: ${defaults.first ?? 'firstTicket'}`;
  checkType(first, firstTicket, 'bigint', 'a bigint');
  if (firstTicket < 0n || firstTicket > LAST_FIRST_TICKET) {
    throw bad('bigint', first, 'from 0n to 2n ** 61n', firstTicket);
  }
  const { threshold = defaults.threshold ?? 0 } = options;
  return { ...checked, firstTicket, threshold: checkInteger(`${what}: threshold`, threshold, 0, LIMIT) };
}
