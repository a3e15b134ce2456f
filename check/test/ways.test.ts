/** One small search takes each of the four ways to take an element off a chain again (core/papers/chains.ts). */
import { expect, it } from 'vitest';
import { search } from '../src/engine/search/search.js';
import { models } from '../src/models/all.js';
import { programOf } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';

const MODEL = 'chain all: 3x1';

it(`the model ${MODEL} takes each way off a chain`, () => {
  const model = models.find(({ name }) => name === MODEL);
  if (model === undefined) throw new Error(`there is no model ${MODEL}`);
  const { tallies, violation } = search(() => new Driver(programOf(model), model));
  expect(violation).toBeUndefined();
  // Undone, detached, open, flushed: another number of them means that a change of the chains has changed a way.
  expect((tallies ?? []).slice(1, 5)).toEqual([108, 88, 17, 78]);
});
