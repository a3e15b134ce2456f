/** Random histories of the cells of keyed rates, and faults that the same histories must find. */
import { expect, it } from 'vitest';
import { mutants } from '../programs/rate-cells.mjs';
import { runProgram } from '../support/program.js';
import { roundsInCi, WHOLE } from '../support/rounds.js';

const DEADLINE = 240_000;

it('no history has a fault', { timeout: DEADLINE + 1000 }, async () => {
  const { code, out, err } = await runProgram(
    'rate-cells',
    [WHOLE ? 2000 : roundsInCi(500, 150), Date.now() % 1e9],
    DEADLINE,
  );
  expect(err).toBe('');
  expect(JSON.parse(out).faults, out).toEqual([]);
  expect(code).toBe(0);
});

it.each(mutants.map(([what], number) => ({ what, number })))(
  'a mutant is found: $what',
  { timeout: DEADLINE + 1000 },
  async ({ number }) => {
    const { out, err } = await runProgram('rate-cells', [20_000, 1, number], DEADLINE);
    expect(err).toBe('');
    expect(JSON.parse(out).faults.length).toBeGreaterThan(0);
  },
);
