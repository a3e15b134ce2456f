/**
 * Random takes of rate limiters, and a check of their history. `node test/programs/rate-history.mjs 10000000` takes ten
 * million permits.
 */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { roundsOf } from '../support/rounds.js';

const DEADLINE = 120_000;

it.each([
  ['a clock that jumps, goes back or is coarse', 80_000, ''],
  ['the clock of the engine', 40_000, 'real'],
])('no window has a permit too many, and none is idle, by %s', { timeout: DEADLINE + 1000 }, async (_, takes, kind) => {
  const wanted = roundsOf(takes);
  const { code, out, err } = await runProgram('rate-history', [wanted, Date.now() % 1e9, kind], DEADLINE);
  expect(err).toBe('');
  const told = JSON.parse(out);
  expect(told.wrong, out).toEqual([]);
  expect(code).toBe(0);
  expect(told.takes).toBeGreaterThanOrEqual(wanted);
});
