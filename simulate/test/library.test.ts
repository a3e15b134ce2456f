/** The library as it is: random programs find nothing. `npm run simulate:library` runs more of them. */
import { expect, test } from 'vitest';
import { World } from '../src/run.js';
import { search } from '../src/search.js';
import { report, shrink } from '../src/shrink.js';

const RUNS = process.env.TAKETURNS_TESTS === 'whole' ? 100_000 : 1000;

test('random programs find nothing', async () => {
  const { found } = await search([], { seed: 1, runs: RUNS });
  const world = new World();
  expect(found && report(world, shrink(world, found))).toBeUndefined();
});
