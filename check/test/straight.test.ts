/** The straight runs of the core, and that a call or a loop in one would be found. */
import { describe, expect, it } from 'vitest';
import { loadCore } from '../src/core.js';
import { breaks, straightRuns } from '../src/straight.js';
import {
  IMM,
  OP_ACCESS,
  OP_BRANCH,
  OP_CALL,
  OP_ENTER_LOOP,
  type Program,
  RMW,
  STRIDE,
} from '../src/wasm/code.js';

const program = loadCore();

/** The core with the `after`th instruction behind the one that takes the ticket replaced. */
function broken(fn: string, op: number, after = 1, target = 0): Program {
  const { entry } = program.functions.find(({ name }) => name === fn) as { entry: number };
  const image = program.image.slice();
  let pc = entry;
  while (image[pc] !== OP_ACCESS + RMW) pc += STRIDE;
  pc += after * STRIDE;
  image[pc] = op;
  if (target !== 0) image[pc + IMM] = entry;
  return { ...program, image };
}

describe.each(straightRuns)('$name', (run) => {
  it('has no call and no loop', () => {
    expect(breaks(program, run)).toEqual([]);
  });

  it('would not be straight with a call or a loop', () => {
    expect(breaks(broken(run.fn, OP_CALL), run)).toHaveLength(1);
    expect(breaks(broken(run.fn, OP_ENTER_LOOP), run)).toHaveLength(1);
    expect(breaks(broken(run.fn, OP_BRANCH, 1, -1), run)).toHaveLength(1);
  });
});

it('a run of a function that is not there is an error', () => {
  expect(() => breaks(program, { ...straightRuns[0], fn: 'nobody' } as never)).toThrow(/no function nobody/);
});
