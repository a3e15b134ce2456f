/**
 * Rates in the script alone, where random histories seldom come: a long history that is lost, more dates than runs, and
 * dates that are given back around pauses and jumps of the clock.
 */
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
  const answer = wire.rateIn(state.turn(args, SID, START).reply[0], numbers, known);
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

const OTHER = 'a000000000000002';
/** Ten permits in a second: one every 100 ms. */
const TEN = { permits: 10, per: 950_000, burst: 1, slack: 50_000 };

/** A server that two sessions know; and calls of them, so many milliseconds after its start. */
function two(): {
  state: State;
  ask: (sid: string, ms: number, demand: wire.RateDemand, more?: Partial<Asked>) => wire.RateAnswer;
} {
  const state = begun();
  state.turn([OTHER, '0', 'c:', ...wire.enter(1, 10_000, 'label', '-', '0')], OTHER, START);
  const ask = (
    sid: string,
    ms: number,
    demand: wire.RateDemand,
    { numbers = TEN, known = NOTHING, told = UNTOLD }: Partial<Asked> = {},
  ): wire.RateAnswer => {
    const args = [sid, '0', 'c:', ...wire.rate('api', numbers, known, told, demand)];
    const answer = wire.rateIn(state.turn(args, sid, START + ms).reply[0], numbers, known);
    if ('most' in answer) throw new Error('too many permits are asked for');
    return answer;
  };
  return { state, ask };
}

interface Asked {
  readonly numbers: wire.RateNumbers;
  readonly known: wire.RateKnown;
  readonly told: wire.ToldTime;
}

const TAKE: wire.RateDemand = ['T', 1, -1];

test.each(['the end of its session', 'its process'])(
  'a used date that %s gives back after a pause is no hole',
  (who) => {
    const { state, ask } = two();
    ask(SID, 0, TAKE);
    const used = ask(SID, 0, TAKE);
    expect(used).toMatchObject({ date: (START + 95) * 1000, isListed: true });
    // The date has come at this moment.
    ask(OTHER, 95, ['P', 60_000_000, 7]);
    const { date } = ask(OTHER, 95, TAKE);
    if (who === 'its process') ask(SID, 95, ['D', used.date, 1, used.given, used.epoch]);
    else state.reap(SID, START + 95);
    expect(ask(OTHER, 95, TAKE).date).toBeGreaterThan(date);
  },
);

test('a date that a pause has moved stays listed until it has passed', () => {
  const { state, ask } = two();
  ask(SID, 0, TAKE);
  const { date } = ask(SID, 0, TAKE);
  ask(OTHER, 50, ['P', 60_000_000, 7]);
  const { moved } = ask(SID, 30_000, ['I']);
  const { last } = ask(OTHER, 30_000, TAKE);
  // Takes off the list what has passed.
  ask(SID, 30_000, TAKE);
  state.reap(SID, START + 30_000);
  expect(date + moved).toBeLessThan(last);
  expect(ask(OTHER, 30_000, TAKE).date).toBe(date + moved);
});

test('a process that knows a later epoch than the server begins one after it, whatever has been given', () => {
  const { ask } = two();
  for (let i = 0; i < 19; i++) ask(OTHER, 0, TAKE);
  const epoch = ask(OTHER, 0, TAKE).epoch + 3;
  const answer = ask(SID, 0, ['I'], { known: { epoch, given: 5, last: 0 } });
  expect(answer).toMatchObject({ epoch: epoch + 1, given: 20 + 5 });
});

test('spending more than a run counts leaves a state that can be read', () => {
  const { ask } = two();
  ask(SID, 0, TAKE);
  ask(SID, 0, TAKE);
  for (let i = 0; i < 60; i++) ask(SID, 0, ['S', 2_147_483_647]);
  expect(ask(SID, 0, ['I'])).toMatchObject({ permits: 10, taken: 1 + 2 ** 32 - 1, reserved: 2 ** 32 - 1 });
  const { date, given, epoch } = ask(SID, 0, TAKE);
  // The number of the request is longer than a record keeps.
  expect(given).toBeGreaterThan(2 ** 36);
  ask(SID, 0, ['D', date, 1, given, epoch]);
  expect(ask(OTHER, 0, TAKE).date).toBe(date);
});

test('spending for longer than all time leaves a state that can be read', () => {
  const { ask } = two();
  const numbers = { permits: 1, per: 2_147_483_647_000, burst: 1, slack: 1_000_000 };
  ask(SID, 0, ['S', 2_147_483_647], { numbers });
  expect(ask(SID, 0, ['I'], { numbers })).toMatchObject({ ...numbers, taken: 2_147_483_647 });
  expect(ask(SID, 0, TAKE, { numbers }).date).toBeGreaterThan(START * 1000);
  expect(ask(SID, 0, ['I'], { numbers })).toMatchObject({ ...numbers, taken: 1 });
});

test('a jump of the clock is no time that has passed if the end of a session comes first', () => {
  const { state, ask } = two();
  ask(SID, 0, TAKE);
  ask(SID, 0, TAKE);
  state.reap(SID, START + 3_600_000);
  const told = { seen: START * 1000, low: 1000, high: 2000 };
  expect(ask(OTHER, 3_600_000, ['I'], { told }).moment).toBeLessThan((START + 1000) * 1000);
});

const HOUR = 3_600_000;
/** What a process was told at the start, so many milliseconds ago. */
const toldAt = (ms: number): Partial<Asked> => ({
  told: { seen: START * 1000, low: ms * 1000, high: ms * 1000 + 500 },
});

test('however often the clock of the server jumps ahead, its time is not ahead of that of the processes', () => {
  const { ask } = two();
  ask(SID, 0, ['I']);
  for (let ms = 1; ms <= 5; ms++) {
    const ahead = ask(OTHER, ms * HOUR, ['I'], toldAt(ms)).moment - START * 1000;
    expect(ahead).toBeGreaterThan(ms * 998);
    expect(ahead).toBeLessThanOrEqual(ms * 1000);
  }
});

test('a clock that jumps ahead and back does not end the pause after a loss', () => {
  const { ask } = two();
  ask(SID, 0, ['I']);
  ask(OTHER, HOUR, ['I'], toldAt(1));
  const { date, moment } = ask(OTHER, 2, TAKE, toldAt(2));
  expect(date - moment).toBe(1_000_000);
});

test('a jump of less than a second loses nothing', () => {
  const { ask } = two();
  const numbers = { permits: 1, per: 95_000, burst: 1, slack: 5_000 };
  const { date } = ask(SID, 0, TAKE, { numbers });
  expect(ask(SID, 950, TAKE, { numbers, ...toldAt(50) }).date).toBe(date + 100_000);
});

test('a date that comes too late for its process counts no more when it is given back', () => {
  const { ask } = two();
  const numbers = { permits: 2, per: 950_000, burst: 2, slack: 50_000 };
  const [late, used] = [ask(SID, 0, TAKE, { numbers }), ask(OTHER, 0, TAKE, { numbers })];
  expect(used.date).toBe(late.date);
  const refused: wire.RateDemand = ['T', 1, 0];
  expect(ask(SID, 60, refused, { numbers }).ok).toBe(false);
  ask(SID, 60, ['C', late.date, 1, late.given, late.epoch], { numbers });
  expect(ask(SID, 60, refused, { numbers })).toMatchObject({ ok: true, date: (START + 60) * 1000 });
  // The other permit of that date counts on, until its window is over.
  expect(ask(SID, 60, TAKE, { numbers }).date).toBe((START + 1000) * 1000);
});

test('a date that has come back late makes no burst of those that were given since', () => {
  const { ask } = two();
  const late = ask(SID, 0, TAKE);
  ask(OTHER, 500, TAKE);
  ask(SID, 500, ['C', late.date, 1, late.given, late.epoch]);
  expect(ask(OTHER, 500, TAKE).date).toBe((START + 595) * 1000);
});

test('a date that has come back late leaves the debt of what was spent', () => {
  const numbers = { ...TEN, burst: 10 };
  const { ask } = two();
  ask(SID, 0, ['S', 100], { numbers }); // ten windows
  const late = ask(SID, 1, TAKE, { numbers });
  const now = late.date / 1000 - START + 5;
  ask(SID, now, ['C', late.date, 1, late.given, late.epoch], { numbers });
  // Dates of the same 5 ms may go together.
  expect(ask(OTHER, now, ['I', 10, -1], { numbers }).date).toBe((START + 9995) * 1000);
});

test('what comes back late of a date that a pause or a loss has made another one changes nothing', () => {
  for (const [what, epoch] of [
    ['a pause', 0],
    ['a loss', 1],
  ] as const) {
    const { ask } = two();
    const late = ask(SID, 0, TAKE);
    if (what === 'a pause') ask(OTHER, 50, ['P', 1000, 7]);
    ask(SID, 60, ['C', late.date, 1, late.given, late.epoch + epoch]);
    expect(ask(SID, 60, ['I'])).toMatchObject({ taken: 1 });
  }
});

/** A server that has lost what it knew of rates, and nothing else, as if memory was full. */
function evicted(state: State): State {
  return State.load(JSON.stringify({ ...JSON.parse(state.dump()), rates: [], ends: [] }));
}

/** Calls of two sessions on one server or another. */
const on = (
  of: State,
  sid: string,
  ms: number,
  demand: wire.RateDemand,
  known: wire.RateKnown = NOTHING,
  conn = '0',
): wire.RateAnswer => {
  const args = [sid, conn, 'c:', ...wire.rate('api', TEN, known, UNTOLD, demand)];
  return wire.rateIn(of.turn(args, sid, START + ms).reply[0], TEN, known) as wire.RateAnswer;
};

test.each([
  ['the end of its session', true, 0],
  ['the end of its session, after another process has told of it,', true, 2],
  ['its process', true, 0],
  ['its process', false, 0],
])('%s frees no date of a rate that the server has evicted since: listed %s, told %i', (who, isListed, given) => {
  const { state } = two();
  on(state, SID, 0, TAKE);
  const lost = on(state, SID, 0, TAKE);
  const after = evicted(state);
  const known = { epoch: lost.epoch, given, last: given > 0 ? lost.date : 0 };
  const dates = [1, 2, 3].map(() => on(after, OTHER, 10, TAKE, known).date);
  expect(dates.at(-1)).toBeGreaterThan(lost.date);
  if (who === 'its process') on(after, SID, 10, [isListed ? 'D' : 'C', lost.date, 1, lost.given, lost.epoch]);
  else after.reap(SID, START + 10);
  expect(on(after, OTHER, 10, TAKE).date).toBeGreaterThan(dates.at(-1) as number);
});

test('a process that asks after an eviction tells what it knows, however much was given since', () => {
  const { state } = two();
  let known: wire.RateKnown = NOTHING;
  for (let i = 0; i < 5; i++) known = on(state, SID, 0, TAKE);
  const after = evicted(state);
  for (let i = 0; i < 9; i++) on(after, OTHER, 10, TAKE);
  expect(on(after, SID, 10, ['I'], known).taken).toBe(9 + 5);
});

test('a process is told no epoch before the one that it knows', () => {
  const { ask } = two();
  let known: wire.RateKnown = NOTHING;
  // Nobody has taken anything yet, so each look begins an epoch that is not kept.
  for (let i = 0; i < 3; i++) known = ask(SID, 0, ['I'], { known });
  ask(OTHER, 0, TAKE);
  expect(ask(SID, 0, ['I'], { known }).epoch).toBeGreaterThan(known.epoch);
});

/** The replica becomes the server, and the first session resumes there. */
function promoted(replica: State): State {
  replica.turn([SID, '1', 'c:', ...wire.enter(1, 10_000, 'label', '-', 'ffffffffffff')], SID, START);
  return replica;
}

test('what a replica lacks counts, also if as much is counted before somebody tells of it', () => {
  const { state, ask } = two();
  for (let i = 0; i < 3; i++) ask(SID, 0, TAKE);
  const after = State.load(state.dump());
  let known: wire.RateKnown = NOTHING;
  for (let i = 0; i < 4; i++) known = ask(SID, 0, TAKE);
  promoted(after);
  on(after, OTHER, 0, ['S', 5]);
  // 3 that the replica has, 5 that were counted since, and 4 that it lacks.
  expect(on(after, SID, 0, ['I'], known, '1').given).toBe(3 + 5 + 4);
});

test('nobody gets a date while processes may tell what was lost, and who would get one is told when to ask again', () => {
  const { state } = two();
  const after = promoted(State.load(state.dump()));
  // The pause is a second (the end of the last millisecond counts).
  expect(on(after, OTHER, 0, TAKE)).toMatchObject({ ok: false, date: (START + 1000) * 1000, taken: 0 });
  expect(on(after, OTHER, 0, ['T', 1, 999_999])).toMatchObject({ ok: false, date: (START + 1000) * 1000 });
  expect(on(after, OTHER, 999, TAKE).ok).toBe(false);
  expect(on(after, OTHER, 1000, TAKE)).toMatchObject({ ok: true, date: (START + 1000) * 1000 });
});

test('a date that was given back before a failover is given to nobody after it', () => {
  const { state, ask } = two();
  ask(OTHER, 0, TAKE);
  const { date, moved, given, epoch } = ask(OTHER, 0, TAKE);
  const { last } = ask(OTHER, 0, TAKE);
  ask(OTHER, 0, ['D', date - moved, 1, given, epoch]);
  const after = State.load(state.dump());
  // Another process has got it, and dies with the server.
  expect(ask(SID, 0, TAKE).date).toBe(date);
  promoted(after);
  expect(on(after, OTHER, 0, ['I', 1, -1]).date).toBeGreaterThan(last);
});

test('two losses at the same time are two', () => {
  const { state } = two();
  const first = promoted(State.load(state.dump()));
  const { epoch } = on(first, OTHER, 0, ['S', 1]);
  const again = State.load(JSON.stringify({ ...JSON.parse(state.dump()), history: '2'.padStart(40, '0') }));
  promoted(again);
  const known = { epoch, given: 1, last: START * 1000 };
  on(again, OTHER, 0, ['S', 4]);
  expect(on(again, SID, 0, ['I'], known, '1').given).toBe(4 + 1);
});

/** A permit of ten seconds, and a slack of so many. */
const slow = (seconds: number): { readonly numbers: wire.RateNumbers } => ({
  numbers: { permits: 1, per: 10_000_000, burst: 1, slack: seconds * 1_000_000 },
});

test.each(['before the slack grows', 'after the slack has grown'])(
  'a date that is given back %s is given to nobody who may begin too late for the dates behind it',
  (when) => {
    const { ask } = two();
    ask(SID, 0, TAKE, slow(1));
    const { date, given, epoch } = ask(SID, 0, TAKE, slow(1));
    const behind = ask(OTHER, 0, TAKE, slow(1));
    const giveBack = (): unknown => ask(SID, 0, ['C', date, 1, given, epoch], slow(1));
    if (when === 'before the slack grows') giveBack();
    else {
      ask(OTHER, 0, TAKE, slow(8));
      giveBack();
    }
    const late = ask(OTHER, 0, TAKE, slow(8));
    expect(late.slack).toBe(8_000_000);
    expect(late.date).toBeGreaterThan(behind.date);
  },
);

test.each([
  ['shorter', 8, 1],
  ['longer', 1, 8],
])(
  'what is counted in the pause after a loss hides nothing of what was lost if the slack becomes %s',
  (_, from, to) => {
    const { state } = two();
    const MINUTE = 61_000;
    const ask = (
      of: State,
      sid: string,
      ms: number,
      seconds: number,
      demand: wire.RateDemand,
      known: wire.RateKnown = NOTHING,
    ): wire.RateAnswer => {
      const numbers = { permits: 100, per: 3_600_000_000, burst: 100, slack: seconds * 1_000_000 };
      const conn = of !== state && sid === SID ? '1' : '0';
      const args = [sid, conn, 'c:', ...wire.rate('api', numbers, known, UNTOLD, demand)];
      return wire.rateIn(of.turn(args, sid, START + ms).reply[0], numbers, known) as wire.RateAnswer;
    };
    ask(state, SID, 0, from, TAKE);
    // From now on nobody needs the longer slack.
    ask(state, SID, 0, Math.min(from, to), TAKE);
    const after = State.load(state.dump());
    let known: wire.RateKnown = NOTHING;
    for (let i = 0; i < 4; i++) known = ask(state, SID, MINUTE, from, TAKE);
    after.turn([SID, '1', 'c:', ...wire.enter(1, 10_000, 'label', '-', 'ffffffffffff')], SID, START + MINUTE);
    ask(after, OTHER, MINUTE, from, ['S', 5]);
    expect(ask(after, OTHER, MINUTE, to, TAKE)).toMatchObject({ ok: false, slack: to * 1_000_000 });
    // 2 that the replica has, 5 that were counted since, and 4 that it lacks.
    expect(ask(after, SID, MINUTE, to, ['I'], known).taken).toBe(2 + 5 + 4);
  },
);
