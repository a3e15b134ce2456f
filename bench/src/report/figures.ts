// The figures of each benchmark.

import type { TopLevelSpec } from 'vega-lite';
import type { Results } from '../results.js';
import { draw } from './frame.js';
import { lines } from './lines.js';
import { panels } from './panels.js';
import { sawtooth } from './sawtooth.js';
import { sweep } from './sweep.js';
import { today } from './today.js';

/** Draws the figures that have results. The key of each is the suffix of its file name. */
export async function figures(results: Results): Promise<Map<string, string>> {
  const all: Record<Results['benchmark'], () => [suffix: string, TopLevelSpec | undefined][]> = {
    semaphores: () => [['', lines(results)]],
    hashes: () => [],
    locks: () => [
      ['', panels(results)],
      ['-bypass', sweep(results)],
      ['-platoon', sawtooth(results)],
    ],
    today: () => [['', today(results)]],
  };
  const specifications = all[results.benchmark]();
  const drawn = new Map<string, string>();
  for (const [suffix, specification] of specifications) {
    if (specification !== undefined) drawn.set(suffix, await draw(specification));
  }
  return drawn;
}
