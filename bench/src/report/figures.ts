// Which figures are drawn of which benchmark.

import type { TopLevelSpec } from 'vega-lite';
import type { Results } from '../results.js';
import { draw } from './frame.js';
import { lines } from './lines.js';
import { panels } from './panels.js';
import { sawtooth } from './sawtooth.js';
import { sweep } from './sweep.js';

/** The figures that there are results for, each under what is added to the name of the file. */
export async function figures(results: Results): Promise<Map<string, string>> {
  const all: Record<Results['benchmark'], () => [suffix: string, TopLevelSpec | undefined][]> = {
    semaphores: () => [['', lines(results)]],
    hashes: () => [],
    locks: () => [
      ['', panels(results)],
      ['-bypass', sweep(results)],
      ['-platoon', sawtooth(results)],
    ],
  };
  const specifications = all[results.benchmark]();
  const drawn = new Map<string, string>();
  for (const [suffix, specification] of specifications) {
    if (specification !== undefined) drawn.set(suffix, await draw(specification));
  }
  return drawn;
}
