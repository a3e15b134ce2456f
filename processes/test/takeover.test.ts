/**
 * The takeover of a space without a server, as a model (check/takeover.ts). Usually a test runs only the beginning of
 * each search. In `npm run test:whole` it runs the whole search. For each rule there is a search that finds a fault
 * without the rule.
 */
import { expect, test } from 'vitest';
import { explore } from '../check/search.js';
import { type Rule, TAKEOVER_RULES, TakeoverModel } from '../check/takeover.js';
import { TAKEOVERS, WITHOUT } from '../check/takeover-configurations.js';
import { WHOLE } from './each-server.js';

const FIRST = WHOLE ? undefined : 5000;

test.each(TAKEOVERS)('$name', { timeout: 600_000 }, (takeover) => {
  const { finding, complete, states } = explore(new TakeoverModel(takeover), FIRST);
  expect(finding?.fault, finding?.trace.join('\n')).toBeUndefined();
  if (WHOLE) expect(complete).toBe(true);
  expect(states).toBeGreaterThan(50);
});

test.each(Object.entries(TAKEOVER_RULES))('%s: a search finds that %s', { timeout: 60_000 }, (rule) => {
  const takeover = WITHOUT[rule as Rule];
  const { finding } = explore(new TakeoverModel(takeover), FIRST, takeover.after);
  expect(finding?.fault, finding?.trace.join('\n')).toBeUndefined();
  expect(
    explore(new TakeoverModel({ ...takeover, without: rule as Rule }), undefined, takeover.after).finding,
  ).toBeDefined();
});
