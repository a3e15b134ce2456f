/** Which answers of a broker are in doubt as long as it does not know who lives (src/local/doubts.ts). */
import { expect, test } from 'vitest';
import { doubtIn } from '../src/local/doubts.js';
import { State } from '../src/local/state.js';

const START = 1_700_000_000_000;
const FIRST = 3;
// The letters of sessions are those of a server, of a cluster, and the first and the last that the grammar allows.
const sessions = ['p', 's', 'a', 'y'].map((letter) => [`${letter}000000000000001`, `${letter}000000000000002`]);
const [HELD, WAITING, NEW] = ['0000000001', '0000000002', '0000000003'];
const ONE = '00000001';

test.each(sessions)('for the sessions %s and %s', (mine = '', yours = '') => {
  const state = State.begin('history', START);
  const run = (sid: string, ...operations: string[]) => state.turn([sid, '0', 'c:', ...operations], sid, START);
  for (const sid of [mine, yours]) run(sid, 'O', '3', '1', '1000', 'label', '-', '0');
  run(yours, 'N', 'held', 'm', '1', '0', '0', '4', 'A', 'held', '-', HELD, ONE);
  run(mine, 'N', 'free', 'm', '1', '0', '0', '4', 'A', 'held', '-', WAITING, ONE);
  expect([state.request(yours, HELD), state.request(mine, WAITING), state.request(mine, NEW)]).toEqual([
    ...['holds', 'waits', undefined],
  ]);
  expect([state.needs(yours), state.needs(mine)]).toEqual(['holds', 'waits']);

  const doubt = (...operations: string[]) => doubtIn(state, [mine, '0', 'c:', ...operations]);
  const parties = (at: number) => ({ at: FIRST + at, doubt: 'parties' });
  const ask = (letter: string, name: string) => [letter, name, '-', NEW, ONE];
  // Who waits hears of the grant later.
  expect(doubt(...ask('A', 'held'))).toBeUndefined();
  expect(doubt(...ask('T', 'held'))).toEqual(parties(0));
  expect(doubt(...ask('T', 'free'))).toBeUndefined();
  // Whose time-out has passed hears yes or no.
  expect(doubt('C', WAITING)).toEqual(parties(0));
  expect(doubt('C', NEW)).toBeUndefined();
  expect(doubt(...ask('A', 'held'), 'C', NEW)).toEqual(parties(5));
  expect(doubt(...ask('A', 'free'), 'C', NEW)).toBeUndefined();
  expect(doubt(...ask('A', 'none'), 'C', NEW)).toBeUndefined();
  expect(doubt('I', 'held', '0', '', '')).toEqual(parties(0));
  expect(doubt('I', 'free', '0', '', '')).toBeUndefined();
  expect(doubt('B', '-', 'J', '-inf')).toEqual({ at: FIRST + 2, doubt: 'all' });
});
