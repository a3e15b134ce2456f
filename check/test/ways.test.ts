/** docs/papers/algorithms.md says how often a search takes each way off a chain. The counts are those of this build. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { search } from '../src/engine/search/search.js';
import { models } from '../src/models/all.js';
import { programOf } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';

const page = readFileSync(new URL('../../docs/papers/algorithms.md', import.meta.url), 'utf8');
const MODEL = 'chain all: 3x1';

it('the counts of the ways off a chain are those of the page', () => {
  const model = models.find(({ name }) => name === MODEL);
  if (model === undefined) throw new Error(`there is no model ${MODEL}`);
  const { tallies, violation } = search(() => new Driver(programOf(model), model));
  expect(violation).toBeUndefined();
  const [undone, detached, open, flushed] = (tallies ?? []).slice(1);
  expect(page.replaceAll('\n', ' ')).toContain(
    `the model \`${MODEL}\` (three threads that each acquire and release once) the counts are: undone ${undone}, ` +
      `detached ${detached}, open ${open}, flushed ${flushed}.`,
  );
});
