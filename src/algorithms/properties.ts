/** What a user may say about a new object of the algorithms, which are never robust, and may have a threshold. */

import { checkInteger } from '../errors.js';
import { LIMIT } from '../runtime/core.js';
import type { Kind } from '../runtime/kinds.js';
import type { Policy, PolicyOptions } from '../runtime/policy.js';
import { checkProperties as check, type Properties } from '../runtime/shared-object.js';

export interface Defaults {
  readonly spin: number;
  readonly threshold?: number;
}

/** The turns of all policies, as core/algorithms/relax.ts has them. */
export const POLICIES: Partial<Record<Policy, number>> = { spin: LIMIT, yield: -LIMIT, park: 0 };

export function checkProperties(
  kind: Kind,
  permits: unknown,
  options: { max?: number; threshold?: number; robust?: boolean; firstTicket?: bigint } & PolicyOptions,
  defaults: Defaults,
): Properties {
  const first = kind === 'EventCount' || kind === 'Sequencer' ? 'first' : 'firstTicket';
  const checked = check(kind, permits, options, defaults.spin, POLICIES, first);
  if (checked.robust) {
    throw new TypeError(
      `${kind}: robust is an option of Semaphore alone; what holds a ${kind} is not recorded`,
    );
  }
  const threshold = options.threshold ?? defaults.threshold ?? 0;
  return { ...checked, threshold: checkInteger(`${kind}: threshold`, threshold, 0, LIMIT) };
}
