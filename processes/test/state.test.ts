/** What a broker keeps (src/local/state.ts, store.ts): sorted lists, and calls on states that are large. */
import { expect, test } from 'vitest';
import { State } from '../src/local/state.js';
import { SortedList } from '../src/local/store.js';

const START = 1_700_000_000_000;
const [MINE, YOURS] = ['p000000000000001', 'p000000000000002'];
const rid = (number: number): string => number.toString(16).padStart(10, '0');
const permits = (number: number): string => number.toString(16).padStart(8, '0');

/** A state with two sessions, and what runs a call of one of them. */
function begun() {
  const state = State.begin('history', START);
  const run = (sid: string, ...operations: string[]) => state.turn([sid, '0', 'c:', ...operations], sid, START);
  for (const sid of [MINE, YOURS]) run(sid, 'O', '2', '1', '1000', 'label', '-', '0');
  return { state, run };
}

test('a sorted list has its texts in order, whatever comes and goes', () => {
  const list = new SortedList();
  const model = new Set<string>();
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const text = (): string => `${random(3)} ${random(4000).toString(16).padStart(4, '0')}`;
  for (let step = 0; step < 20_000; step++) {
    const one = text();
    // It grows over many chunks, and shrinks to nothing.
    if (random(20_000) > step) {
      list.add(one);
      model.add(one);
    } else {
      for (const each of [one, ...list.range(one, undefined, 2)])
        expect(list.delete(each)).toBe(model.delete(each) ? 1 : 0);
    }
    expect(list.size).toBe(model.size);
    if (step % 100 !== 0) continue;
    const [from, end, limit] = [text(), text(), random(1000)];
    const sorted = [...model].sort();
    const between = sorted.filter((each) => each >= from && each < end);
    expect(list.range('', undefined, Number.POSITIVE_INFINITY)).toEqual(sorted);
    expect(list.range(from, end, limit)).toEqual(between.slice(0, limit));
    expect(list.first(from, end)).toBe(between[0]);
  }
  for (const each of [...model]) list.delete(each);
  expect([list.size, list.first('', '~'), list.range('', undefined, 9)]).toEqual([0, undefined, []]);
});

test('takes back and grants 100,000 requests', () => {
  const { state, run } = begun();
  const all = 100_000;
  run(MINE, 'N', 'many', 's', `${all}`, '0', '0', '0', 'A', 'many', '-', rid(0), permits(all));
  for (let at = 1; at <= all; at++) run(at % 2 === 0 ? MINE : YOURS, 'A', 'many', '-', rid(at), permits(1));
  expect(State.load(state.dump()).dump()).toBe(state.dump());
  let calls = 0;
  for (let isLeft = true; isLeft; calls++) ({ isLeft } = state.reap(MINE, START));
  for (let isLeft = true; isLeft; calls++) isLeft = `${run(YOURS, 'B', '-').reply[0]}`.split(' ')[2] === '1';
  expect(`${run(YOURS, 'I', 'many', '0', '', '').reply[0]}`).toContain(' 50000 0 0 0');
  expect(calls).toBeGreaterThan(380);
  for (let isLeft = true; isLeft; ) isLeft = run(YOURS, 'X').reply[0] === '+';
  expect([...state.members]).toEqual([]);
});

test('the broker makes the grants that the end of a process has left', () => {
  const { state, run } = begun();
  run(MINE, 'N', 'l', 'w', '1048576', '0', '0', '0', 'A', 'l', '-', rid(0), '00100000');
  for (let at = 1; at <= 1000; at++) run(YOURS, 'A', 'l', '-', rid(at), permits(1));
  for (let isLeft = true; isLeft; ) ({ isLeft } = state.reap(MINE, START));
  const again = State.load(state.dump());
  let calls = 0;
  let told = 0;
  for (; state.hasLeft; calls++) for (const { text } of state.goOn(START).messages) told += text.split(',').length;
  expect(state.object('l')?.waiting).toBe(0);
  expect([calls, told]).toEqual([7, 872]);
  // A broker that reads the journal comes to the same state.
  for (; calls > 0; calls--) again.goOn(START);
  expect(again.dump()).toBe(state.dump());
});

test('tells all objects by parts, in the order in which they were made', () => {
  const { run } = begun();
  const names = Array.from({ length: 600 }, (_, at) => `${(at * 7) % 600}`);
  for (const name of names) run(MINE, 'N', name, 's', '1', '0', '0', '0');
  const told: string[] = [];
  const lengths: number[] = [];
  for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
    const [next, ...lines] = run(MINE, 'P', cursor).reply[0] as string[];
    told.push(...lines.map((line) => line.split('\0')[0] as string));
    lengths.push(lines.length);
    cursor = next as string;
  }
  expect(told).toEqual(names);
  expect(lengths).toEqual([256, 256, 88]);
});

test('who gets permits of a semaphore that was resized is told their number', () => {
  const { run } = begun();
  const ask = (number: number): string =>
    `${run(MINE, 'A', 's', '-', rid(number), permits(1)).reply[0]}`.split(':').slice(1).join(':');
  // Also in the call that has made it.
  const [, first] = run(MINE, 'N', 's', 'r', '3', '0', '0', '0', 'A', 's', '-', rid(9), permits(1)).reply;
  expect(`${first}`).toMatch(/:0:3:0$/);
  expect(ask(1)).toBe('0:3:0');
  run(MINE, 'R', 's', '-', '5');
  expect(ask(2)).toBe('0:5:0');
});

test('tells what a session waits for, whatever its name is', () => {
  const { state, run } = begun();
  const last = 'yfffffffffffffff';
  run(last, 'O', '2', '1', '1000', 'label', '-', '0');
  run(MINE, 'N', 's', 's', '1', '0', '0', '0', 'A', 's', '-', rid(1), permits(1));
  run(last, 'A', 's', '-', rid(2), permits(1));
  expect([state.request(MINE, rid(1)), state.request(last, rid(2))]).toEqual(['holds', 'waits']);
  expect([state.needs(MINE), state.needs(last)]).toEqual(['holds', 'waits']);
});

test('a list of sessions goes on behind the sign of life at which it has ended', () => {
  const { state, run } = begun();
  const { leases } = JSON.parse(state.dump()) as { leases: [string, number][] };
  const told = (from: string) => (run(MINE, 'J', from).reply[0] as string[]).slice(1).map((line) => line.slice(0, 16));
  expect(told('-inf')).toEqual([MINE, YOURS]);
  expect(leases.map(([, score]) => told(`(${score}`))).toEqual([[YOURS], []]);
});

test('each hold has its time until it is given back, and a part that is left keeps it', () => {
  const { state, run } = begun();
  const since = (now: number): unknown =>
    (state.turn([MINE, '0', 'c:', 'I', 's', '9', '', ''], MINE, now).reply[0] as unknown[])[5];
  const held = `${run(MINE, 'N', 's', 's', '3', '0', '0', '0', 'A', 's', '-', rid(1), permits(2)).reply[1]}`;
  const ticket = held.slice(2, 16);
  expect(since(START + 5)).toEqual([`${START}`]);
  run(MINE, 'B', '-', 'U', '1', rid(1));
  run(MINE, 'D', 's', rid(1), ticket, permits(2), '1', '-s', '0', '0');
  expect(since(START + 5)).toEqual([`${START}`]);
  run(MINE, 'D', 's', rid(1), ticket, permits(1), '1', '-', '0', '0');
  expect(since(START + 5)).toEqual([]);
  expect(state.dump()).not.toContain(MINE + rid(1));
});
