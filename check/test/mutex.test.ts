/** The bound of the mutex is kept, and reached; and a hand-over that is forgotten is found. */
import { describe, expect, it } from 'vitest';
import { mutexModel } from '../src/models/mutex.js';
import { HAS, mutex } from '../src/models/mutex-words.js';
import { loadProgram } from '../src/programs.js';
import { call } from '../src/scene/ops.js';
import { type Model, Scene } from '../src/scene/scene.js';
import { search } from '../src/search/search.js';

const core = loadProgram('core');
const run = (model: Model) => search(() => new Scene(core, model));

describe('a waiter', () => {
  const find = (program: string, bound: number) =>
    run(mutexModel({ name: 'bound', program, bypass: 1, bound }));

  it.each(['L U | L U L U', 'B U | L U L U', 'a d | L U | L U L U'])(
    'of %s is overtaken as often as the bound says',
    (program) => {
      expect(find(program, 0).violation?.message).toMatch(/is overtaken 1 times/);
    },
  );

  it.each(['L U | L U L U', 'B U | L U L U'])('of %s is overtaken no more often', (program) => {
    expect(find(program, 1)).toMatchObject({ exhaustive: true });
  });
});

describe('an owner that unlocks, and wakes nobody', () => {
  const unlockOnly = call('unlock', (scene, t) => {
    scene.set(t, HAS, 0);
    return [mutex(scene)];
  });

  it.each(['L U', 'a d'])('leaves %s asleep', (waiter) => {
    const model = mutexModel({ name: 'wrong', program: `L U | ${waiter}`, bypass: 1 });
    const [owner, other] = model.programs as [Model['programs'][0], Model['programs'][0]];
    expect(run(model)).toMatchObject({ exhaustive: true });
    const wrong = { ...model, programs: [[...owner.slice(0, 1), unlockOnly], other] };
    expect(run(wrong).violation?.message).toMatch(/sleeps for ever/);
  });
});
