/** Histories of rates in simulated worlds: check/rate-history.ts. Each kind of disturbance alone, and all together. */
import { expect, test } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { HISTORIES } from '../check/rate-histories.js';
import { rateHistory } from '../check/rate-history.js';
import { WHOLE } from './each-server.js';

test.each(Object.entries(HISTORIES))('%s', { timeout: 300_000 }, async (_, { least, ...options }) => {
  const history = await rateHistory({ seed: 1, takes: WHOLE ? 20_000 : roundsInCi(1000, 400), ...options });
  expect(history.faults).toEqual([]);
  expect(history.begun).toBeGreaterThan(least);
});

test('a slack that has grown is as short as before when answers come soon again', { timeout: 300_000 }, async () => {
  const options = { ...HISTORIES['trips that are slow at first'], seed: 1, takes: 15_000 };
  const { faults, slack, longestSlack } = await rateHistory(options);
  expect(faults).toEqual([]);
  expect(longestSlack).toBeGreaterThan(40);
  expect(slack).toBe(40);
});
