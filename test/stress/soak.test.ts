/**
 * A few programs of `node test/programs/soak.mjs`, of fixed seeds: threads that use all classes, are killed and
 * interrupted, and dispose. test/programs/soak.mjs runs more of them for longer.
 */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { roundsOf } from '../support/rounds.js';

const DEADLINE = 300_000;
/** Each program takes about a second. */
const PROGRAMS = roundsOf(8);

it('random programs over all classes end, and leave nothing behind', { timeout: DEADLINE + 1000 }, async () => {
  const { code, out, err } = await runProgram('soak', ['--from', 1, '--most', PROGRAMS], DEADLINE);
  expect(err).toBe('');
  expect(code, out).toBe(0);
  expect(out).toContain(`${PROGRAMS} programs`);
});
