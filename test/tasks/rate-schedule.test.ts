/** Random histories of the schedule of rates, and faults that the same histories must find. */
import { expect, it } from 'vitest';
import { mutants } from '../programs/rate-mutants.mjs';
import { runProgram } from '../support/program.js';
import { allInCi, roundsInCi, WHOLE } from '../support/rounds.js';

const DEADLINE = 240_000;

it('no history has a fault', { timeout: DEADLINE + 1000 }, async () => {
  const { code, out, err } = await runProgram(
    'rate-schedule',
    [WHOLE ? 2000 : roundsInCi(500, 150), Date.now() % 1e9],
    DEADLINE,
  );
  expect(err).toBe('');
  expect(JSON.parse(out).faults, out).toEqual([]);
  expect(code).toBe(0);
});

it.each(
  allInCi(
    mutants.map(([what, , , endless], number) => ({ what, number, endless })),
    12,
  ),
)('a mutant is found: $what', { timeout: DEADLINE + 1000 }, async ({ number, endless }) => {
  const { code, out, err } = await runProgram('rate-schedule', [20_000, 1, number], endless ? 10_000 : DEADLINE);
  expect(err).toBe('');
  if (endless && code === null) return;
  expect(JSON.parse(out).faults.length).toBeGreaterThan(0);
});
