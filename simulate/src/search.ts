/** Runs the cases of seeds, one after the other, until one fails. */
import { setImmediate } from 'node:timers/promises';
import { caseOf } from './cases.js';
import type { Patch } from './library.js';
import { World } from './run.js';
import { type Failing, failing } from './shrink.js';

export interface Wanted {
  /** Of the first case. */
  readonly seed: number;
  /** How many at most. */
  readonly runs: number;
  readonly kinds?: readonly string[] | undefined;
  isOver?(): boolean;
}

export interface Searched {
  readonly runs: number;
  readonly steps: number;
  readonly found: (Failing & { readonly seed: number }) | undefined;
}

export async function search(patches: readonly Patch[], wanted: Wanted): Promise<Searched> {
  const world = new World(patches);
  for (let runs = 0; runs < wanted.runs; runs++) {
    // The rejections of promises that nobody handles are told when the event loop turns.
    if (runs % 64 === 0) await setImmediate();
    if (runs % 16 === 0 && wanted.isOver?.()) return { runs, steps: world.steps, found: undefined };
    const seed = wanted.seed + runs;
    const { program, choices } = caseOf(seed, wanted.kinds);
    const found = failing(world, program, choices);
    if (found) return { runs: runs + 1, steps: world.steps, found: { ...found, seed } };
  }
  return { runs: wanted.runs, steps: world.steps, found: undefined };
}
