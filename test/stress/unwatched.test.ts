/**
 * Workers and their own workers are killed, one every 50 ms, and nobody calls `watch`. test/programs/unwatched.mjs is
 * the program; `npm run chaos -w runtimes` runs it for longer, and in every runtime. CHAOS_SECONDS sets the length.
 */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { roundsOf } from '../support/rounds.js';

const seconds = Number(process.env.CHAOS_SECONDS ?? roundsOf(28)) / 2;
const DEADLINE = seconds * 1000 + 120_000;

it('no permit and no record of a thread is lost though nobody watches', { timeout: DEADLINE + 1000 }, async () => {
  const { code, out, err } = await runProgram('unwatched', [seconds], DEADLINE);
  expect(err).toBe('');
  const { wrong, killed, killedChildren, sections, rounds, openings, done } = JSON.parse(out);
  expect(wrong, out).toEqual([]);
  expect(code).toBe(0);
  expect(Math.min(killed, killedChildren, sections, rounds + openings + done)).toBeGreaterThan(0);
});
