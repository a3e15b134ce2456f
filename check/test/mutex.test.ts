/** The bound of the mutex is kept, and reached; and a hand-over that is forgotten is found. */
import { describe, expect, it } from 'vitest';
import { mutexModel } from '../src/models/mutex.js';
import { HAS, M_WORD, mutex } from '../src/models/mutex-words.js';
import { loadProgram } from '../src/programs.js';
import { ADMITTED, constant } from '../src/scene/layout.js';
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

describe('a turn', () => {
  const WAITER = constant('M_WAITER');
  const M_LIMIT = constant('M_LIMIT');
  const ELDEST = constant('ELDEST');
  const FOR_EVER = [-1, -1];

  /** The overtakings left when the eldest of so many has taken the lock. */
  function turnOf(waiters: number, bypass: number): number {
    const model = mutexModel({ name: 'turns', program: 'L U | L U', bypass, spin: 40 });
    let turn = -1;
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const word = (address: number): number => scene.machine.words[address >> 2] as number;
      scene.callNow(0, 'lock', m);
      expect(scene.callNow(1, 'queue', m, scene.attachment(1, 0))).toBe(ELDEST);
      scene.machine.hostStore32(m + M_WORD, word(m + M_WORD) + (waiters - 1) * WAITER);
      scene.callNow(0, 'unlock', m);
      // Else compete sets the limit before it has the lock.
      scene.clear(1, 'mutex/first');
      expect(scene.callNow(1, 'compete', m, ...FOR_EVER, scene.attachment(1, 0))).toBe(ADMITTED);
      turn = word(m + M_LIMIT);
    };
    new Scene(core, { ...model, objects });
    return turn;
  }

  it.each([
    [1, 2048],
    [8, 2048],
    [9, 1820],
    [16, 1024],
    [64, 256],
    [20_000, 1],
  ])('of one of %i waiters is %i overtakings of 262,144', (waiters, turn) => {
    expect(turnOf(waiters, 262_144)).toBe(turn);
  });

  it('is one overtaking at least, but of a mutex that is first come, first served', () => {
    expect(turnOf(3, 1)).toBe(1);
    expect(turnOf(3, 0)).toBe(0);
  });
});
