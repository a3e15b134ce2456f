/**
 * The short searches of the protocol on the published script. Usually a test runs only the beginning of each search. In
 * `npm run test:whole` it runs the whole search. `npm run check -w processes` runs the long searches, too.
 */
import { expect, test } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { RULES, type Rules } from '../check/client.js';
import { RULE_SEARCHES, SHORT } from '../check/configurations.js';
import { parseLua } from '../check/lua.js';
import type { Configuration } from '../check/protocol.js';
import { search } from '../check/search.js';
import { Server, turnSource } from '../check/server.js';
import { WHOLE } from './each-server.js';

/** The number of states that a search looks at, unless this is `npm run test:whole`. */
const FIRST = WHOLE ? undefined : roundsInCi(2500, 400);

test.each(SHORT)('$name', { timeout: 300_000 }, (configuration) => {
  const { finding, complete, states } = search(configuration, FIRST);
  expect(finding?.fault, finding?.trace.join('\n')).toBeUndefined();
  if (WHOLE) expect(complete).toBe(true);
  expect(states).toBeGreaterThan(100);
});

test.each(Object.keys(RULES) as (keyof Rules)[])('the client needs the rule %s', { timeout: 300_000 }, (rule) => {
  const configuration = RULE_SEARCHES[rule];
  // A configuration with the name of a short search is a part of that search, which the test above has run.
  if (!SHORT.some(({ name }) => name === configuration.name)) {
    const { finding, complete } = search(configuration, FIRST);
    expect(finding?.fault, finding?.trace.join('\n')).toBeUndefined();
    if (WHOLE) expect(complete).toBe(true);
  }
  expect(search({ ...configuration, rules: { [rule]: false } }).finding).toBeDefined();
});

test('a script that raises an error is a finding', () => {
  const line = '  o.free = o.free + k\n';
  const source = turnSource();
  expect(source).toContain(line);
  const server = new Server(parseLua(source.replace(line, '  o.free = o.nothing.free\n')));
  const { finding } = search(SHORT[0] as Configuration, 10_000, server);
  expect(finding?.fault).toMatch(/^the script fails: /);
  expect(finding?.trace.at(-1)).toMatch(/^\d: the server runs D /);
});
