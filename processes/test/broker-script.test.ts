/**
 * The script does on the maps and lists of a broker what it does on the keys of a server (src/script/turn.lua): random
 * calls and deaths, and all calls of the searches. One side is the model of a server, which runs Lua as a server does
 * (check/lua.ts); the other is the compiled script (scripts/compile-lua.mjs). Replies, messages and data are compared.
 */
import { expect, test } from 'vitest';
import { allInCi, roundsInCi } from '../../test/support/rounds.js';
import {
  AS_BROKER,
  ComparingServer,
  type Constants,
  compareFixedRates,
  compareFixedSequence,
  compareRandomCalls,
  compareRateCalls,
  FEW,
  USUAL,
} from '../check/comparing.js';
import { SHORT } from '../check/configurations.js';
import { search } from '../check/search.js';
import { withConstants } from '../check/server.js';
import { functionOf } from '../scripts/compile-lua.mjs';
import { brokerScript } from '../scripts/turn-parts.mjs';
import { WHOLE } from './each-server.js';

const CALLS = WHOLE ? 20_000 : roundsInCi(2000, 600);

const scriptWith = (constants: Constants) => functionOf(withConstants(brokerScript(), constants));

const SEEDS = [
  { seed: 1, constants: USUAL },
  { seed: 2, constants: USUAL },
  { seed: 3, constants: FEW },
  { seed: 4, constants: FEW },
];

test.each(allInCi(SEEDS))('does the same in random calls and deaths, seed $seed, $constants', ({ seed, constants }) => {
  const server = new ComparingServer(scriptWith(constants), constants, []);
  const letters = compareRandomCalls(server, seed, CALLS);
  expect(server.difference).toBeUndefined();
  expect(server.compared).toBeGreaterThan(0.9 * CALLS);
  expect([...letters].sort().join('')).toBe('ABCDFIJKLNOPRSTUVWX');
});

test.each(allInCi([1, 2, 3]))('does the same in random calls on rates, seed %i', (seed) => {
  const server = new ComparingServer(scriptWith(USUAL), AS_BROKER, []);
  const letters = compareRateCalls(server, seed, CALLS);
  expect(server.difference).toBeUndefined();
  expect(server.compared).toBeGreaterThan(0.6 * CALLS);
  expect([...letters].sort().join('')).toBe('BCDEGILOPRSTX');
});

test('does the same in the fixed sequence of rates', () => {
  const server = new ComparingServer(scriptWith(USUAL), AS_BROKER, []);
  compareFixedRates(server);
  expect(server.difference).toBeUndefined();
  expect(server.compared).toBeGreaterThan(100);
});

test.each([
  { name: 'by a broker', noted: [] },
  { name: 'each call with the data of the server', noted: undefined },
])('does the same in the fixed sequence, $name', ({ noted }) => {
  const server = new ComparingServer(scriptWith(USUAL), USUAL, noted);
  compareFixedSequence(server);
  expect(server.difference).toBeUndefined();
  expect(server.compared).toBeGreaterThan(20);
});

/** The searches in which no lease ends while its process lives, and no data is lost. */
const SEARCHES = SHORT.filter(({ budget }) => {
  const { failovers = 0, returns = 0, changes = 0, lapses = 0, reapings = 0 } = budget;
  return failovers + returns + changes + lapses + reapings === 0;
});

test.each(SEARCHES)('does the same in the search $name', { timeout: 300_000 }, (configuration) => {
  const constants = configuration.constants ? { WORK: 1 } : USUAL;
  const server = new ComparingServer(scriptWith(constants), constants);
  const { finding, complete } = search(configuration, WHOLE ? undefined : roundsInCi(1000, 300), server);
  expect(server.difference).toBeUndefined();
  expect(finding).toBeUndefined();
  if (WHOLE) expect(complete).toBe(true);
  expect(server.compared).toBeGreaterThan(20);
});
