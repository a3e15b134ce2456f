/**
 * Sixteen workers make every kind of request, and one of them is killed every 50 ms. test/programs/chaos.mjs is the
 * program, and runs for longer by hand. CHAOS_SECONDS and CHAOS_SEED set the length and the seed. The seed fixes the
 * random numbers, not the schedule of the threads.
 */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { roundsOf } from '../support/rounds.js';

const seconds = Number(process.env.CHAOS_SECONDS ?? roundsOf(40)) / 2;
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 10_000);
const DEADLINE = seconds * 1000 + 120_000;

// Odd and even seeds differ in the size of the waiting array.
it.each([2 * seed, 2 * seed + 1])(
  'all permits come back, and no thread is stuck or overtaken (seed %i)',
  { timeout: DEADLINE + 1000 },
  async (seed) => {
    const { code, out, err } = await runProgram('chaos', [seconds, seed], DEADLINE);
    expect(err).toBe('');
    const { wrong, ...told } = JSON.parse(out);
    expect(wrong, out).toEqual([]);
    expect(code).toBe(0);
    // Every kind of event has happened.
    for (const [what, count] of Object.entries(told).filter(([, count]) => typeof count === 'number')) {
      if (['killed', 'admitted', 'refused', 'timedOut', 'aborted', 'disposed', 'ownerDeaths'].includes(what))
        expect(count, what).toBeGreaterThan(0);
    }
    expect(Math.min(...told.admissions), 'admissions of one who waits as long as it takes').toBeGreaterThan(0);
  },
);
