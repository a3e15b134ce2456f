/** Which answers of a broker are in doubt as long as it does not know who lives (src/local/doubts.ts). */
import { expect, test } from 'vitest';
import { CallWriter } from '../check/calls.js';
import { Data } from '../check/data-model.js';
import { KEYS, Server, turnChunk } from '../check/server.js';
import { doubtIn, inDoubt } from '../src/local/doubts.js';
import { operations } from '../src/local/grammar.js';
import { State } from '../src/local/state.js';
import { WHOLE } from './each-server.js';

const CALLS = WHOLE ? 3000 : 400;
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
  run(yours, 'N', 'narrow', 's', '2', '0', '0', '0', 'A', 'narrow', '-', '0000000004', ONE);
  run(yours, 'A', 'narrow', '-', '0000000005', '00000002');
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
  // An ephemeral object may be forgotten before the request is run, so what opens it waits, too.
  const opens = ['N', 'held', 'm', '1', '0', '0', '4'];
  expect(doubt(...opens, ...ask('T', 'held'))).toEqual(parties(0));
  expect(doubt(...opens, 'B', '-', ...ask('T', 'held'))).toEqual(parties(opens.length + 2));
  // There are fewer permits after the call; and who came first, and wants more, is first.
  expect(doubt('R', 'free', '-', '1', ...ask('T', 'free'))).toEqual(parties(4));
  expect(doubt(...ask('T', 'narrow'))).toEqual(parties(0));
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

/** The answers that would be wrong if they came from before a death: no, or who holds. By the letters of operations. */
const SAYS: Record<string, (answer: unknown) => unknown> = {
  ...{ T: (answer) => answer === 'R', C: (answer) => answer === 'C', V: String, F: String },
  ...{ I: (answer) => JSON.stringify(answer), J: (answer) => JSON.stringify(answer), O: (answer) => `${answer}`[0] },
};

const copy = (state: State): State => State.load(state.dump());

function without(state: State, victims: Iterable<string>, now: number): State {
  const left = copy(state);
  for (const sid of victims) while (left.reap(sid, now).isLeft);
  while (left.hasLeft) left.goOn(now);
  return left;
}

test.each([1, 2, 3])('no answer would be another one if others were dead, seed %i', (seed) => {
  const server = new Server(turnChunk({}));
  const writer = new CallWriter(seed, KEYS, true);
  const state = State.begin('1'.padStart(40, '0'), START);
  let data = new Data();
  const doubted = new Set<string>();
  for (let call = 0; call < CALLS; call++) {
    const now = START + call * 7;
    const args = writer.call(data);
    const letters = [...operations(args)].map((at) => args[at] as string);
    const doubtful = doubtIn(state, args);
    const last = doubtful ? [...operations(args)].indexOf(doubtful.at) : letters.length;
    const own = args[0] as string;
    const others = [...state.members.keys()].filter((sid) => sid !== own);
    const before = copy(state).turn(args, own, now).reply;
    const compare = (victims: string[], upTo: number): void => {
      const after = without(state, victims, now).turn(args, own, now).reply;
      for (const [at, letter] of letters.slice(0, upTo).entries()) {
        const says = SAYS[letter];
        if (says) expect([letter, says(after[at]), args], `${victims} dead`).toEqual([letter, says(before[at]), args]);
      }
    };
    if (others.length > 0) for (const victims of [others, ...others.map((sid) => [sid])]) compare(victims, last);
    if (doubtful) {
      // Of the others it is not asked whether they live.
      const members = inDoubt(state, doubtful.doubt);
      compare(
        others.filter((sid) => !members.has(sid)),
        last + 1,
      );
      doubted.add(letters[last] as string);
    }
    ({ data } = server.turn(data, args, { time: now * 1000, history: '1'.padStart(40, '0') }));
    state.turn(args, own, now);
  }
  for (const letter of 'CFIJOTV') expect([...doubted]).toContain(letter);
});
