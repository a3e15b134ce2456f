/** The bound of the capacitor is exact: if the bound is lowered by 1, the search finds a waiter that exceeds it. */
import { describe, expect, it } from 'vitest';
import { search } from '../src/engine/search/search.js';
import { capacitorModel } from '../src/models/capacitors.js';
import { plainSemaphoreModel } from '../src/models/parts/plain-semaphore.js';
import { programOf } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import type { Model } from '../src/scene/model.js';

const find = (model: Model) => search(() => new Driver(programOf(model), model));

describe.each([
  { name: 'T < B', program: 'L U L U L U | L U L U L U', bypass: 3 },
  { name: 'T >= B', program: 'L U L U | L U L U | L U', bypass: 2 },
  { name: 'T >= B, lanes', program: 'L U L U | L U L U | L U', bypass: 2, lanes: 2 },
])('$name', (line) => {
  const run = (bound: number) => find(capacitorModel({ ...line, bound }));

  it('is bypass - 1', () => {
    expect(run(line.bypass - 1)).toMatchObject({ exhaustive: true });
    expect(run(line.bypass - 2).violation?.message).toMatch(/is overtaken more than/);
  });
});

/** The models check that no platoon comes in while a thread of the platoon before is inside (`early`). */
it('a thread that departs without having arrived may let a platoon in early', () => {
  const line = { name: 'a stray', program: 'L U L U | L U | X', bypass: 1, bound: 9 };
  expect(find(capacitorModel({ ...line, early: true }))).toMatchObject({ exhaustive: true });
  expect(find(capacitorModel(line)).violation?.message).toMatch(/while a thread of an earlier platoon is inside/);
});

describe.each([1, 2, 3, 4])('around a lock, when the other thread comes %i times', (times) => {
  const program = `L U | ${Array(times).fill('L U').join(' ')}`;

  it('a semaphore of 2 permits lets it pass a waiter each time', () => {
    expect(find(plainSemaphoreModel(program, 2, times)).exhaustive).toBe(true);
    expect(find(plainSemaphoreModel(program, 2, times - 1)).violation?.message).toMatch(/is overtaken more than/);
  });

  it('a capacitor of 2 lets it pass a waiter once', () => {
    expect(find(capacitorModel({ name: 'unequal', program, bypass: 2, bound: 1 })).exhaustive).toBe(true);
    expect(find(capacitorModel({ name: 'unequal', program, bypass: 2, bound: 0 })).violation?.message).toMatch(
      /is overtaken more than/,
    );
  });
});

it('a semaphore bounds nothing for three threads and 2 permits either', () => {
  const program = 'L U | L U L U | L U L U';
  expect(find(plainSemaphoreModel(program, 2, 4)).exhaustive).toBe(true);
  expect(find(plainSemaphoreModel(program, 2, 3)).violation?.message).toMatch(/is overtaken more than/);
});

/**
 * One-bounded bypass (Capacitors, section 5): with as many threads as a platoon has, or more, and sustained arrivals, a
 * given thread overtakes a given waiter once at most.
 */
describe('a given thread, and a given waiter', () => {
  const run = (line: { program: string; bypass: number; lanes?: number }, each: number) => {
    const model = capacitorModel({ name: 'each', bound: 9, each, ...line });
    return search(() => new Driver(programOf(model), model));
  };
  const three = 'L U L U | L U L U | L U';

  it.each([
    { name: 'T > B', program: three, bypass: 2 },
    { name: 'T = B', program: three, bypass: 3 },
    { name: 'T = B, lanes', program: three, bypass: 3, lanes: 2 },
    { name: 'T = B = 2', program: 'L U L U L U | L U L U L U', bypass: 2 },
  ])('$name: once', (line) => {
    expect(run(line, 1)).toMatchObject({ exhaustive: true });
    expect(run(line, 0).violation?.message).toMatch(/overtakes thread \d more than 0 times/);
  });

  it('T < B: several times', () => {
    const line = { program: 'L U L U L U | L U L U L U', bypass: 4 };
    expect(run(line, 1).violation?.message).toMatch(/overtakes thread \d more than 1 times/);
  });
});

/** With lanes at random, a waiter is overtaken as often as other threads come through the other lane. */
it('there is no bound with lanes at random', () => {
  const run = (bound: number) => {
    const program = 'L0 U | L1 U L1 U L1 U';
    const model = capacitorModel({ name: 'random', program, bypass: 1, lanes: 2, random: true, bound });
    return search(() => new Driver(programOf(model), model));
  };
  expect(run(3)).toMatchObject({ exhaustive: true });
  expect(run(2).violation?.message).toMatch(/is overtaken more than/);
});
