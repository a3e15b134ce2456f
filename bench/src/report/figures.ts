// Which figures are drawn of which benchmark.

import type { Results } from '../results.js';
import { draw } from './frame.js';
import { lines } from './lines.js';

/** The figures that there are results for, each under what is added to the name of the file. */
export async function figures(results: Results): Promise<Map<string, string>> {
  const specifications = [['', lines(results)]] as const;
  const drawn = new Map<string, string>();
  for (const [suffix, specification] of specifications) drawn.set(suffix, await draw(specification));
  return drawn;
}
