/** The bound of the capacitor is exact: the search finds a waiter that exceeds the bound less 1. */
import { describe, expect, it } from 'vitest';
import { search } from '../src/engine/search/search.js';
import { capacitorModel } from '../src/models/capacitors.js';
import { plainSemaphoreModel } from '../src/models/plain-semaphore.js';
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
