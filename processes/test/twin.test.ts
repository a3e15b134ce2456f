/**
 * The twin does what the script does: random, fixed and searched sequences of calls on the model of the server
 * (check/twin.ts), and random sequences on real servers. The model knows the time, so each state and each answer is
 * compared. The time of a real server is found by trying.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallWriter, latin1, scriptedCalls, ticketIn } from '../check/calls.js';
import { SHORT } from '../check/configurations.js';
import { Data } from '../check/data-model.js';
import { search } from '../check/search.js';
import { KEYS } from '../check/server.js';
import { ComparingServer, FEW, LIMITS, stateOf, textOf } from '../check/twin.js';
import { SEQUENCES } from '../check/twin-sequences.js';
import { faultIn } from '../src/local/grammar.js';
import { State } from '../src/local/twin/state.js';
import { goOn, type Message, reap, turn } from '../src/local/twin/turn.js';
import { onEachServer, WHOLE } from './each-server.js';
import { ScriptServer } from './script-server.js';

const CALLS = WHOLE ? 20_000 : 750;
const HISTORY = '1'.padStart(40, '0');
const WATCHER = 'b000000000000000';
const surroundings = (ms: number) => ({ time: ms * 1000, history: HISTORY });
const START = 1_700_000_000_000;

test.each([
  { seed: 1, limits: LIMITS },
  { seed: 2, limits: LIMITS },
  { seed: 3, limits: FEW },
  { seed: 4, limits: FEW },
])('answers random calls and deaths as the script, seed $seed, $limits.work records a call', ({ seed, limits }) => {
  const server = new ComparingServer(limits);
  const writer = new CallWriter(seed, KEYS, true);
  const opening = [WATCHER, '0', 'c:', 'O', '2', '3', '3600000', 'watcher', '-', '0'];
  let { data } = server.turn(new Data(), opening, surroundings(START));
  const letters = new Set<string>();
  for (let call = 0; call < CALLS && !server.difference; call++) {
    const where = surroundings(START + call * 7);
    if (writer.chance(2)) {
      const sids = [...data.hash('sessions').keys()].filter((sid) => sid !== WATCHER);
      const victim = sids[call % Math.max(1, sids.length)];
      if (victim) data = server.reap(data, victim, WATCHER, where);
    } else {
      const args = writer.call(data);
      // A broker refuses nothing of what processes send.
      expect(faultIn(args), args.join(' ')).toBeUndefined();
      for (const each of args.slice(3)) if (/^[A-Z]$/.test(each)) letters.add(each);
      ({ data } = server.turn(data, args, where));
    }
  }
  expect(server.difference).toBeUndefined();
  expect(server.compared).toBeGreaterThan(0.9 * CALLS);
  expect([...letters].sort().join('')).toBe('ABCDFIJKLNOPRSTUVWX');
});

test.each(
  Object.entries(SEQUENCES).flatMap(([name, write]) => [LIMITS, FEW].map((limits) => ({ name, write, limits }))),
)('answers as the script: $name, $limits.work records a call', ({ write, limits }) => {
  const server = new ComparingServer(limits);
  const opening = [WATCHER, '0', 'c:', 'O', '2', '1', '3600000', 'watcher', '-', '0'];
  let { data } = server.turn(new Data(), opening, surroundings(START));
  let calls = 0;
  write({
    run(sid, ...operations) {
      // Of this test, all calls are made of what processes send.
      const args = [sid, '0', 'c:', ...operations].map(latin1);
      expect(faultIn([sid, '0', 'c:', ...operations])).toBeUndefined();
      ({ data } = server.turn(data, args, surroundings(START + 7 * ++calls)));
      expect(server.difference).toBeUndefined();
    },
    die(sid) {
      data = server.reap(data, sid, WATCHER, surroundings(START + 7 * ++calls));
      expect(server.difference).toBeUndefined();
    },
    born: (name) => stateOf(data)?.objects.get(latin1(name))?.born ?? '0'.repeat(14),
    ticket(sid, rid) {
      const requests = stateOf(data)?.sessions.get(sid)?.requests;
      return requests?.get(rid.toString(16).padStart(10, '0'))?.ticket ?? '0'.repeat(14);
    },
  });
  expect(server.compared).toBeGreaterThan(5);
});

test('answers the fixed sequence as the script', () => {
  const server = new ComparingServer();
  let data = new Data();
  for (const next of scriptedCalls('c:')) {
    const { args, isFull, forbidden, time } = next(ticketIn(data));
    // The memory of the twin is never full, and all commands are allowed. It gives no answer for what nobody can know.
    if (isFull || forbidden) continue;
    ({ data } = server.turn(data, args, time === undefined ? surroundings(START) : { time, history: HISTORY }));
  }
  expect(server.difference).toBeUndefined();
  expect(server.compared).toBeGreaterThan(20);
});

test('goes on with the grants that are left in the order of the names', () => {
  const server = new ComparingServer(FEW);
  let { data } = server.turn(
    new Data(),
    [WATCHER, '0', 'c:', 'O', '2', '1', '3600000', 'l', '-', '0'],
    surroundings(START),
  );
  const run = (...operations: string[]): void => {
    ({ data } = server.turn(data, [WATCHER, '0', 'c:', ...operations], surroundings(START)));
  };
  const rid = (number: number): string => number.toString(16).padStart(10, '0');
  // Each of these has three waiters, and gives back all permits. One grant comes at once, and two are left.
  const names = ['z', 'a', 'ab', 'a b', '\u00e4'];
  for (const [at, name] of names.entries()) {
    const first = 10 * at;
    run('N', name, 's', '3', '0', '0', '0', 'A', name, '-', rid(first), '00000003');
    for (const each of [1, 2, 3]) run('A', name, '-', rid(first + each), '00000001');
    const ticket = ticketIn(data)(WATCHER, rid(first));
    // What differs in one thing from what is held gives nothing back.
    run('D', `${name}x`, rid(first), ticket, '00000003', '3', '-', '0', '0');
    run('D', name, rid(first), ticket.replace(/.$/, 'f'), '00000003', '3', '-', '0', '0');
    run('D', name, rid(first), ticket, '00000002', '2', '-', '0', '0');
    run('D', name, rid(first), ticket, '00000003', '3', '-', '0', '0');
  }
  for (let beat = 0; beat < 12; beat++) run(beat % 2 === 0 ? 'B' : 'W', '-');
  expect(server.difference).toBeUndefined();
  expect(data.sorted('queue')).toEqual([]);
});

test('takes back and grants 100,000 requests', () => {
  const [mine, yours] = ['p000000000000001', 'p000000000000002'];
  const state = State.begin('history', START);
  const run = (sid: string, ...operations: string[]) => turn(state, [sid, '0', 'c:', ...operations], sid, START);
  const rid = (number: number): string => number.toString(16).padStart(10, '0');
  for (const sid of [mine, yours]) run(sid, 'O', '2', '1', '1000', 'l', '-', '0');
  run(
    mine,
    'N',
    'many',
    's',
    '100000',
    '0',
    '0',
    '0',
    'A',
    'many',
    '-',
    rid(0),
    (100_000).toString(16).padStart(8, '0'),
  );
  for (let at = 1; at <= 100_000; at++) run(at % 2 === 0 ? mine : yours, 'A', 'many', '-', rid(at), '00000001');
  expect(copyOf(state).dump()).toBe(state.dump());
  let calls = 0;
  for (let isLeft = true; isLeft; calls++) ({ isLeft } = reap(state, mine, START));
  for (let isLeft = true; isLeft; calls++) isLeft = `${run(yours, 'B', '-').reply[0]}`.split(' ')[2] === '1';
  expect(`${run(yours, 'I', 'many', '0', '', '').reply[0]}`).toContain(' 50000 0 0 0');
  expect(calls).toBeGreaterThan(380);
  for (let isLeft = true; isLeft; ) isLeft = run(yours, 'X').reply[0] === '+';
  expect([...state.sessions.keys()]).toEqual([]);
});

test('the broker makes the grants that the end of a process has left', () => {
  const [mine, yours] = ['p000000000000001', 'p000000000000002'];
  const state = State.begin('h', START);
  const run = (sid: string, ...args: string[]) => turn(state, [sid, '0', 'c:', ...args], sid, START);
  const rid = (number: number): string => number.toString(16).padStart(10, '0');
  for (const sid of [mine, yours]) run(sid, 'O', '2', '1', '1000', 'l', '-', '0');
  run(mine, 'N', 'l', 'w', '1048576', '0', '0', '0', 'A', 'l', '-', rid(0), '00100000');
  for (let at = 1; at <= 1000; at++) run(yours, 'A', 'l', '-', rid(at), '00000001');
  for (let isLeft = true; isLeft; ) ({ isLeft } = reap(state, mine, START));
  const again = copyOf(state);
  let calls = 0;
  let told = 0;
  for (; state.left.size > 0; calls++)
    for (const { text } of goOn(state, START).messages) told += text.split(',').length;
  expect(state.objects.get('l')?.queue.length).toBe(0);
  expect([calls, told]).toEqual([7, 872]);
  // A broker that reads the journal comes to the same state.
  for (; calls > 0; calls--) goOn(again, START);
  expect(again.dump()).toBe(state.dump());
});

/** The searches in which no lease ends while its process lives, and no data is lost. */
const SEARCHES = SHORT.filter(({ budget }) => {
  const { failovers = 0, returns = 0, changes = 0, lapses = 0, reapings = 0 } = budget;
  return failovers + returns + changes + lapses + reapings === 0;
});

test.each(SEARCHES)('answers as the script in the search $name', { timeout: 300_000 }, (configuration) => {
  const server = new ComparingServer(configuration.constants ? { ...LIMITS, work: 1 } : LIMITS);
  const { finding, complete } = search(configuration, WHOLE ? undefined : 1000, server);
  expect(server.difference).toBeUndefined();
  expect(finding).toBeUndefined();
  if (WHOLE) expect(complete).toBe(true);
  expect(server.compared).toBeGreaterThan(20);
});

/** A copy of a state: what a guess changes is forgotten if the guess was wrong. */
const copyOf = (state: State): State => State.load(state.dump());

onEachServer((binary) => {
  let server: ScriptServer;
  beforeAll(async () => {
    server = await ScriptServer.start(binary, 'twin', [WATCHER]);
  });
  afterAll(() => server?.stop());

  test('answers random calls and deaths as the script on a real server', { timeout: 300_000 }, async () => {
    const { client, keys, channel } = server;
    const history = (await server.history()) as string;
    const writer = new CallWriter(7, keys, true);
    let state: State | undefined;
    let deaths = 0;

    /** Runs the call on the server, and what `twin` does on the twin, at each time at which the call may have run. */
    async function both(args: string[], twin: (state: State, now: number) => Told): Promise<void> {
      const before = await server.now();
      const reply = await server.call(args);
      const after = await server.now();
      const said = JSON.stringify([comparable(reply, args), (await server.messages()).sort()]);
      const has = textOf(stateOf(await server.data(KEYS)));
      const tried: string[] = [];
      for (let now = before; now <= after; now++) {
        const guess = state ? copyOf(state) : State.begin(history, now);
        const { reply: answer, messages } = twin(guess, now);
        const heard = messages.map(({ sid, text }) => `${channel}${sid} ${text}`).sort();
        const says = JSON.stringify([comparable(answer, args), heard]);
        tried.push(`${says} ${textOf(guess)}`);
        if (says !== said || textOf(guess) !== has) continue;
        state = guess;
        return;
      }
      expect(tried, args.join(' ')).toContain(`${said} ${has}`);
    }
    const calls = (args: string[]) => both(args, (guess, now) => turn(guess, args, 'member', now, LIMITS));

    await calls([WATCHER, '0', channel, 'O', '2', '3', '3600000', 'watcher', '-', '0']);
    for (let call = 0; call < (WHOLE ? 3000 : 400); call++) {
      const data = await server.data();
      const sids = [...data.hash(keys[4] as string).keys()].filter((sid) => sid !== WATCHER);
      const victim = sids[call % Math.max(1, sids.length)];
      if (!victim || !writer.chance(3)) {
        await calls(writer.call(data));
        continue;
      }
      deaths++;
      await client.zadd(keys[5] as string, 0, victim);
      const place = `${data.hash(keys[0] as string).get('epoch')}.${history}`;
      await both([WATCHER, '0', channel, 'W', `${'0'.repeat(14)} ${place}`], (guess, now) => {
        const { messages } = reap(guess, victim, now, LIMITS);
        const { reply } = turn(guess, [WATCHER, '0', channel, 'W', '-'], 'member', now, LIMITS);
        return { reply, messages };
      });
    }
    expect(deaths).toBeGreaterThan(0);
  });
});

interface Told {
  readonly reply: unknown;
  readonly messages: readonly Message[];
}

const comparable = (reply: unknown, args: readonly string[]): unknown =>
  args[3] === 'P' && Array.isArray(reply) ? [...reply.flat()].sort() : reply;
