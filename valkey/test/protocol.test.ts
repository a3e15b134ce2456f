/** The short searches of the protocol on the shipped script. `npm run check -w valkey` makes the long ones too. */
import { expect, test } from 'vitest';
import { SHORT } from '../check/configurations.js';
import { search } from '../check/search.js';

test.each(SHORT)('$name', { timeout: 300_000 }, (configuration) => {
  const { finding, complete, states } = search(configuration);
  expect(finding?.fault, finding?.trace.join('\n')).toBe(configuration.fails);
  expect(complete).toBe(finding === undefined);
  expect(states).toBeGreaterThan(100);
});
