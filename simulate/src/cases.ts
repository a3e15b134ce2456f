/** Draws cases from seeds. A case is a program and a strategy, which makes the choices of the scheduler. */
import { type Choices, Prioritized, Uniform } from './choices.js';
import { names as all, kinds } from './kinds/all.js';
import type { Kind } from './kinds/parts/kind.js';
import type { Operation, Program, Spec } from './program.js';
import { Random } from './random.js';

export interface Case {
  readonly program: Program;
  readonly choices: Choices;
}

/**
 * The most operations of a thread. Of 6, 12, 16, 24 and 40, the mean time until a fault of faults.ts is found is least
 * with 12 (docs/internals/simulation-of-the-library.md).
 */
const MOST_OPERATIONS = 12;

/** Makes the case of a seed. Its objects are of the given classes only. */
export function caseOf(seed: number, names: readonly string[] = all): Case {
  const random = new Random(seed);
  const program = drawProgram(random, names);
  return { program, choices: drawChoices(random) };
}

/** Draws a strategy. */
export function drawChoices(random: Random, mostPreemptions = 8): Choices {
  const seed = random.below(2 ** 30);
  if (random.once(3)) return new Prioritized(seed, random.below(4), 150);
  return new Uniform(seed, random.below(mostPreemptions + 1));
}

function drawProgram(random: Random, names: readonly string[]): Program {
  const objects: Spec[] = [];
  const count = 1 + random.below(2);
  while (objects.length < count) {
    const kind = random.of(names);
    const { needs, draw } = kinds[kind] as Kind;
    if (needs !== undefined) {
      objects.push({ kind: needs, ...(kinds[needs] as Kind).draw(random) });
      objects.push({ kind, ...draw(random), of: objects.length - 1 });
    } else objects.push({ kind, ...draw(random) });
  }
  const threads = Array.from({ length: 2 + random.below(2) }, () =>
    Array.from({ length: 1 + random.below(MOST_OPERATIONS) }, () => drawOperation(random, objects)),
  );
  // With two threads, nobody could reap the dead thread while the other one sleeps.
  const mayDie = objects.every(({ kind }) => !(kinds[kind] as Kind).breaksByDeath);
  if (threads.length < 3 || !random.once(8) || !mayDie) return { objects, threads };
  // What a dead thread has of an object of some classes is lost. A thread that blocks until it gets this would wait for
  // ever, so its call has a time-out.
  const timed = (operation: Operation): Operation => {
    const spec = objects[operation.on] as Spec;
    const { operations, outlives } = kinds[spec.kind] as Kind;
    const isSafe = !operations[operation.call]?.blocks || outlives(spec);
    return isSafe ? operation : { timeout: 2, ...operation };
  };
  return { objects, threads: threads.map((operations) => operations.map(timed)), dies: 1 + random.below(3) };
}

function drawOperation(random: Random, objects: readonly Spec[]): Operation {
  while (true) {
    const on = random.below(objects.length);
    const spec = objects[on] as Spec;
    const operations = Object.entries((kinds[spec.kind] as Kind).operations);
    const total = operations.reduce((sum, [, { weight }]) => sum + weight, 0);
    let rest = (random.below(2 ** 20) / 2 ** 20) * total;
    for (const [call, { weight, draw }] of operations) {
      rest -= weight;
      if (rest > 0) continue;
      const drawn = draw(random, spec);
      if (drawn) return { on, call, ...drawn };
      break;
    }
  }
}
