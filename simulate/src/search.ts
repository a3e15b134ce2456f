/** Runs the cases of consecutive seeds until one fails. */
import { setImmediate } from 'node:timers/promises';
import { caseOf } from './cases.js';
import { Recorded } from './choices.js';
import { Failure } from './event.js';
import type { Patch } from './library.js';
import { collectRejections, unhandled } from './realm.js';
import { World } from './run.js';
import { type Failing, failing } from './shrink.js';

export interface Wanted {
  /** The seed of the first case. */
  readonly seed: number;
  /** The most cases to run. */
  readonly runs: number;
  readonly kinds?: readonly string[] | undefined;
  isOver?(): boolean;
}

export interface Searched {
  readonly runs: number;
  readonly steps: number;
  readonly found: (Failing & { readonly seed: number }) | undefined;
}

/**
 * How many runs there are between two looks for rejected promises that nobody handles. The runtime reports these
 * promises only when the event loop turns.
 */
const LOOK = 64;

export async function search(patches: readonly Patch[], wanted: Wanted): Promise<Searched> {
  collectRejections(true);
  try {
    return await searchAll(patches, wanted);
  } finally {
    collectRejections(false);
  }
}

async function searchAll(patches: readonly Patch[], wanted: Wanted): Promise<Searched> {
  const world = new World(patches);
  let runs = 0;
  let found: Searched['found'];
  while (runs < wanted.runs && found === undefined && !wanted.isOver?.()) {
    const first = runs;
    while (runs < Math.min(first + LOOK, wanted.runs) && found === undefined) {
      const seed = wanted.seed + runs++;
      const { program, choices } = caseOf(seed, wanted.kinds);
      const failed = failing(world, program, choices);
      found = failed && { ...failed, seed };
    }
    found ??= await rejected(world, wanted, first, runs);
  }
  return { runs, steps: world.steps, found };
}

/**
 * Repeats the runs from `first` to `end`, and returns one in which the library rejects a promise that nobody handles,
 * if there is one. Runs with a death do not count: the promise may be one that the dead thread was about to return.
 */
async function rejected(world: World, wanted: Wanted, first: number, end: number): Promise<Searched['found']> {
  await setImmediate();
  if (unhandled.splice(0).length === 0) return undefined;
  for (let seed = wanted.seed + first; seed < wanted.seed + end; seed++) {
    const { program, choices } = caseOf(seed, wanted.kinds);
    const recorded = new Recorded(choices);
    const { hasDeath } = world.run(program, recorded);
    await setImmediate();
    const [reason] = unhandled.splice(0);
    if (reason === undefined || hasDeath) continue;
    const error = new Failure('the library has rejected a promise that nobody handles', { cause: reason });
    return { program, answers: recorded.answers, error, seed };
  }
  return undefined;
}
