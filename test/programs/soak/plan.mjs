/**
 * Makes a plan from a seed: the objects, the threads, how they end, and what else happens. The plan does not determine
 * in which order the threads run.
 */
import { Draw } from './draw.mjs';
import { kinds as all } from './kinds/all.mjs';

/** @param given replaces parts of the plan, to find out which parts a finding needs */
export function planOf(seed, kinds = Object.keys(all), given = {}) {
  const draw = new Draw(seed);
  const count = 2 + draw.upTo(5);
  const objects = Array.from({ length: count }, (_, index) => {
    const kind = draw.of(kinds);
    return {
      ...{ index, kind, name: draw.chance(0.5) ? `object ${index}` : undefined, cancels: draw.chance(0.4) },
      ...all[kind].shape?.(draw),
    };
  });
  return {
    seed,
    kinds,
    objects,
    workers: 2 + draw.upTo(5),
    tasks: 1 + draw.upTo(4),
    milliseconds: 150 + draw.upTo(draw.chance(0.2) ? 2500 : 600),
    /** How many milliseconds lie between two kills; 0: nobody is killed. */
    killEvery: draw.of([0, 0, 20, 60, 150]),
    /** How likely a worker ends itself midway, at each operation. */
    ends: draw.of([0, 0, 0.002, 0.01]),
    interrupts: draw.chance(0.3) ? 0.05 : 0,
    /** Workers that are attached for some 50 ms. */
    visitors: draw.of([0, 0, 2, 6]),
    callbacks: draw.of([0, 0.1, 0.4]),
    /** Whether threads make, use and dispose of objects of their own and of common names. */
    mortals: draw.of([0, 0.02, 0.1]),
    stretches: draw.of([0.2, 0.5, 0.8]),
    /** Whether the objects are disposed of at the end while threads wait. */
    disposes: draw.chance(0.2),
    arena: {
      ...{ slots: draw.of([1, 2, 64, 2048]), watch: draw.chance(0.8) },
      // Some arenas are so small that requests, objects and new threads find them full.
      ...(draw.chance(0.15)
        ? { objects: 12, threads: 9, waiters: 8 + draw.upTo(12) }
        : { objects: 2048, threads: 64, waiters: 4096 }),
    },
    ...given,
  };
}

/** The plan in short. */
export function describe(plan) {
  const { objects, arena, seed, kinds, ...rest } = plan;
  const lines = objects.map(({ index, kind, ...more }) => `  ${index}: ${kind} ${JSON.stringify(more)}`);
  return [`program ${seed}: ${JSON.stringify({ ...rest, ...arena })}`, ...lines].join('\n');
}
