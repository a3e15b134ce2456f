/**
 * Workers that come and go; `node test/programs/many-workers.mjs` runs the same program with 10,000 of them, 500 at
 * once.
 */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { roundsOf } from '../support/rounds.js';

const WORKERS = roundsOf(200);

it(`${WORKERS} workers in turn, 25 at once, leave nothing behind, however they end`, async () => {
  const { code, out, err } = await runProgram('many-workers', [WORKERS, 25], 120_000);
  expect(err).toBe('');
  expect(code).toBe(0);
  const { elements, flat, ...left } = JSON.parse(out);
  expect(left).toEqual({
    workers: WORKERS,
    errors: 0,
    threads: 1,
    objects: 3,
    permits: 0,
    locked: false,
    waiting: 0,
  });
  // The cancelled requests of a semaphore leave one tombstone at most.
  expect(elements).toBeLessThanOrEqual(1);
  expect(flat).toBe(true);
}, 150_000);
