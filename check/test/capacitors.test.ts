/** The bound of the capacitor is exact: the search finds a waiter that exceeds the bound less 1. */
import { describe, expect, it } from 'vitest';
import { search } from '../src/engine/search/search.js';
import { capacitorModel } from '../src/models/capacitors.js';
import { programOf } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';

describe.each([
  { name: 'T < B', program: 'L U L U L U | L U L U L U', bypass: 3 },
  { name: 'T >= B', program: 'L U L U | L U L U | L U', bypass: 2 },
  { name: 'T >= B, lanes', program: 'L U L U | L U L U | L U', bypass: 2, lanes: 2 },
])('$name', (line) => {
  const run = (bound: number) => {
    const model = capacitorModel({ ...line, bound });
    return search(() => new Driver(programOf(model), model));
  };

  it('is bypass - 1', () => {
    expect(run(line.bypass - 1)).toMatchObject({ exhaustive: true });
    expect(run(line.bypass - 2).violation?.message).toMatch(/is overtaken more than/);
  });
});
