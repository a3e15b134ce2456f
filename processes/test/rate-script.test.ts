/** Rates in the script alone, where random histories seldom come: a long history that is lost, and more dates than runs. */
import { expect, test } from 'vitest';
import { State } from '../src/local/state.js';
import * as wire from '../src/script/wire.js';

const START = 1_700_000_000_000;
const SID = 'a000000000000001';
const CALL = [SID, '0', 'c:'];
const UNTOLD = { seen: 0, low: 0, high: 0 };
const NOTHING = { epoch: 0, given: 0, last: 0 };

/** A server that knows one session. */
function begun(): State {
  const state = State.begin('1'.padStart(40, '0'), START);
  state.turn([...CALL, ...wire.enter(1, 10_000, 'label', '-', '0')], SID, START);
  return state;
}

/** The date of a request for one permit. */
function dateFrom(state: State, numbers: wire.RateNumbers, known = NOTHING): number {
  const args = [...CALL, ...wire.rate('api', numbers, known, UNTOLD, ['T', 1, -1])];
  const answer = wire.rateIn(state.turn(args, SID, START).reply[0], numbers);
  if ('most' in answer) throw new Error('too many permits are asked for');
  return answer.date;
}

test.each([11, 1000, 1_000_000])('after a loss of %i permits, a request waits for one window', (given) => {
  const numbers = { permits: 10, per: 950_000, burst: 2, slack: 50_000 };
  const last = START * 1000;
  expect(dateFrom(begun(), numbers, { epoch: 0, given, last })).toBe(last + 1_000_000);
});

test('however many dates lie ahead, a window has nearly all its permits', () => {
  const numbers = { permits: 1000, per: 59_000_000, burst: 1, slack: 1_000_000 };
  const state = begun();
  let date = 0;
  for (let taken = 0; taken <= 3000; taken++) date = dateFrom(state, numbers);
  // Dates that have joined count until the last of them has left, a part of the window too long.
  const windows = (date - START * 1000) / 60_000_000;
  expect(windows).toBeGreaterThan(2.99);
  expect(windows).toBeLessThan(3 * (1 + 1 / 32));
});
