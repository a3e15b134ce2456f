/**
 * Random walks are for models that are too large to search. Each walk begins in the first state. Again and again it
 * takes one of the open choices, which a seeded generator draws, until no choice is open. Walks find violations, and
 * prove nothing.
 */

import type { Finding } from './search.js';
import type { StateSpace } from './state-space.js';
import { isFinding } from './violation.js';

/** A small generator of 32-bit numbers (xorshift), so that a walk can be repeated. */
export function generator(seed: number): () => number {
  let x = seed | 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

/** A walk ends after this many steps, because its threads may go round for ever. */
const MOST_STEPS = 2000;

/** Walks from the space's first state, and leaves it there. Returns the violation found, if any, with its schedule. */
export function walk(space: StateSpace, walks: number, seed: number): { steps: number; violation?: Finding } {
  const root: number[] = [];
  space.mark(root, 0);
  const random = generator(seed);
  const choices = new Int32Array(64);
  let steps = 0;
  for (let i = 0; i < walks; i++) {
    const schedule: number[] = [];
    let violation: Finding | undefined;
    try {
      for (let count = space.choices(choices); count > 0; count = space.choices(choices)) {
        if (schedule.length === MOST_STEPS) break;
        // Every other walk mostly lets the same thread run on. Such walks reach other states than a fair draw does.
        const last = i % 2 === 1 && random() % 8 > 0 ? choices.indexOf(schedule.at(-1) ?? -1) : -1;
        const choice = choices[last >= 0 && last < count ? last : random() % count];
        schedule.push(choice);
        space.apply(choice);
        steps++;
      }
      if (schedule.length < MOST_STEPS) space.checkEnd();
    } catch (error) {
      if (!isFinding(error)) throw error;
      violation = { message: error.message, schedule };
    }
    space.undo(root, 0);
    if (violation !== undefined) return { steps, violation };
  }
  return { steps };
}
