/**
 * A short form of `npm run chaos -w processes`: all of its faults for some seconds; in `npm run test:whole` also each of
 * them alone. Uses the built program.
 */
import { expect, test } from 'vitest';
import { WHOLE } from './each-server.js';

const { LOCAL_FAULTS, runLocal } = (await import(
  '../build/processes/chaos/index.js' as string
)) as typeof import('../chaos/index.js');

test.each(LOCAL_FAULTS.filter(({ name }) => WHOLE || name === 'all'))('$name', { timeout: 120_000 }, async (fault) => {
  const result = await runLocal({ fault, seconds: 3, processes: 4, spares: 10, runtimes: [[process.execPath]] });
  expect(result).toMatchObject({ faults: [], lostPermits: 0, forever: 0, disorder: 0, lostLeases: 0, epochs: 1 });
  expect(result.grants).toBeGreaterThan(0);
  expect(result.kills > 0).toBe(fault.kills !== undefined);
  expect(result.stops > 0).toBe(fault.stops !== undefined);
  // At least one takeover: the broker moves to a thread.
  expect(result.generations).toBeGreaterThan(1);
});
