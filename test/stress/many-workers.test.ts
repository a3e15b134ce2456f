/** Workers that come and go; `npm run soak:workers` runs the same program with 10,000 of them, 500 at once. */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.js';

it('200 workers in turn, 50 at once, leave nothing behind, however they end', async () => {
  const { code, out, err } = await runProgram('many-workers', [200, 50], 120_000);
  expect(err).toBe('');
  expect(code).toBe(0);
  const { elements, flat, ...left } = JSON.parse(out);
  expect(left).toEqual({
    workers: 200,
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
