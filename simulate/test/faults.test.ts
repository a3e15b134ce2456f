/** Random seeds find each fault that is put into the library. The seed finds it again, and the run is made short. */
import { expect, test } from 'vitest';
import { caseOf } from '../src/cases.js';
import { Listed } from '../src/choices.js';
import { faults } from '../src/faults.js';
import { World } from '../src/run.js';
import { search } from '../src/search.js';
import { failing, ofWord, report, shrink, wordOf } from '../src/shrink.js';

/** A bound on the number of runs: several times as many as the slowest fault has taken. */
const RUNS = 20_000;

test.each(Object.entries(faults))('%s', async (name, { patches, kinds, seed = 1 }) => {
  const { found } = await search(patches, { seed, runs: RUNS, kinds });
  if (found === undefined) throw new Error('it has not been found');

  const world = new World(patches);
  const { program, choices } = caseOf(found.seed, kinds);
  expect(failing(world, program, choices)?.error.message).toBe(found.error.message);

  const least = shrink(world, found);
  const again = ofWord(wordOf(least));
  expect(failing(new World(patches), again.program, new Listed(again.answers))?.error.message).toBe(
    least.error.message,
  );
  const operations = least.program.threads.flat();
  expect(operations.length).toBeLessThanOrEqual(13);
  expect(report(world, least, name)).toContain(`--fault ${name} --again ${wordOf(least)}`);
  // Without the fault, the program and its schedule do not fail.
  expect(failing(new World(), again.program, new Listed(again.answers))).toBeUndefined();
});
