/**
 * Sequences of calls that the function of PostgreSQL and the script are compared by (tables-compared.ts), and that mutants
 * of the function run (sql-replay.ts): fixed ones, and random ones.
 */
import { operations } from '../src/local/grammar.js';
import * as wire from '../src/script/wire.js';
import { CallWriter, SIDS, scriptedCalls, ticketIn } from './calls.js';
import { type Constants, HISTORY, START } from './comparing.js';
import type { Data, Surroundings } from './data-model.js';
import { fixedRateCalls, RateWriter } from './rate-calls.js';
import { KEYS } from './server.js';
import { WATCHER } from './tables.js';
import { hex } from './tables-lines.js';

/** Recordings of rates in which all dates that lie ahead are listed, and there may be few runs and holes. */
export const FEW_OF_RATES: Constants = { FAR: 0, BEATS: 3600, MOST_RUNS: 8, MOST_HOLES: 2 };

/** What runs the calls that the functions below write. */
export interface Caller {
  /** The data of the model. */
  readonly data: Data;
  /** Set: no more calls need come. */
  readonly difference: string | undefined;
  /** Forgets all. */
  begin(): Promise<void>;
  /** Resolves to the reply. */
  call(args: readonly string[], where: Surroundings): Promise<unknown>;
}

/** Whether the tables need not answer a call as the script does. */
function isOutside(args: readonly string[], data: Data, history: string, constants: Constants): boolean {
  const waiting = new Set(data.sorted('queue').map(({ member }) => member.slice(-73, -59)));
  for (const at of operations(args)) {
    const letter = args[at] as string;
    // No process knows the ticket of a request that waits.
    if (letter === 'D' && waiting.has(args[at + 3] as string)) return true;
    // The model of a server tells all objects at once, as they were before the call.
    if (letter === 'P' && ('MOST_FOUND' in constants || args.length > 5)) return true;
    // The tables need not ask what a beat names, so it does not show them another history.
    if (letter === 'U' && data.hash('meta').get('history') !== history) return true;
  }
  return false;
}

/** The call as a process makes it that says which holds a beat has named, and reads the same formats always. */
function asProcess(args: readonly string[], data: Data): string[] {
  const all = [...args];
  const [sid] = args;
  const reads = data
    .hash('sessions')
    .get(sid as string)
    ?.split(' ')[1];
  for (const at of operations(args)) {
    if (args[at] === 'O' && reads) {
      const writes = Number.parseInt(args[at + 1] as string, 10);
      all[at + 1] = writes < Number(reads) ? `${writes}-${reads}` : reads;
    }
    if (args[at] === 'D' && data.hash('meta').has(`${sid}${args[at + 2]}`))
      all[at + 6] = `${(args[at + 6] as string)[0]}s`;
  }
  return all;
}

/** Random calls, with clocks that jump, histories that end, and sessions that die. */
export async function compareRandom(on: Caller, seed: number, calls: number, constants: Constants): Promise<void> {
  await on.begin();
  const writer = new CallWriter(seed);
  let time = START * 1000;
  let history = 1;
  for (let call = 0; call < calls && !on.difference; call++) {
    if (writer.chance(1)) history++;
    time += (writer.chance(3) ? -1 : 1) * 1000 * (1 + (call % 17)) + 37;
    const name = hex(history, 40);
    let args: readonly string[];
    do args = writer.call(on.data);
    while (isOutside(args, on.data, name, constants));
    await on.call(asProcess(args, on.data), { time, history: name });
    const [session] = on.data.hash('sessions');
    if (session && call % 40 === 0 && constants.MOST_FOUND === undefined)
      await on.call([session[0], session[1].split(' ')[0] as string, 'c:', 'P', '0'], { time, history: name });
  }
}

/** Random calls on rates, while the clock jumps. */
export async function compareRandomRates(on: Caller, seed: number, calls: number): Promise<void> {
  await on.begin();
  const writer = new RateWriter(seed, KEYS);
  let [time, offset, history] = [0, 0, 1];
  for (let call = 0; call < calls && !on.difference; call++) {
    time += writer.rest();
    offset = writer.jumped(offset);
    if (writer.chance(1)) history++;
    const args = writer.call(on.data, time * 1000);
    const reply = await on.call(args, { time: (START + time + offset) * 1000, history: hex(history, 40) });
    writer.heard(reply, time * 1000);
  }
}

/** The fixed sequence, but for what only a server of Redis has: a full memory, and commands that are forbidden. */
export async function compareFixed(on: Caller): Promise<void> {
  await on.begin();
  let isBegun = false;
  for (const next of scriptedCalls('c:')) {
    if (on.difference) return;
    const { args, isFull, forbidden, time } = next(ticketIn(on.data));
    // The tables have never had the format 1, with which the sequence begins.
    isBegun ||= args[0] === SIDS[0] && args[4] === '2';
    if (isFull || forbidden || !isBegun) continue;
    await on.call(asProcess(args, on.data), { time: time ?? START * 1000, history: HISTORY });
  }
}

/** Fixed sequences for what the other calls seldom hit. */
export async function compareSeldom(on: Caller): Promise<void> {
  const [one, two, three] = SIDS as [string, string, string];
  let where: Surroundings = { time: START * 1000, history: HISTORY };
  const late = (START - 1_577_836_800_000) * 1024;
  const rid = (number: number): string => hex(number, 10);
  const call = async (sid: string, ...args: readonly string[]): Promise<void> => {
    if (!on.difference) await on.call([sid, '0', 'c:', ...args], where);
  };
  const enter = (sid: string, topmost = 0, seen = '-') =>
    call(sid, ...wire.enter(1, 3_600_000, 'l', seen, hex(topmost)));
  const begin = async (...sids: readonly string[]): Promise<void> => {
    where = { time: START * 1000, history: HISTORY };
    await on.begin();
    for (const sid of sids) await enter(sid);
  };
  const make = (name: string, kind: string, max: number, isRobust = '0') => [
    'N',
    name,
    kind,
    `${max}`,
    isRobust,
    '0',
    '0',
  ];
  const ask = (name: string, number: number, n = 1): string[] => ['A', name, '-', rid(number), hex(n, 8)];
  const asks = (name: string, first: number, count: number): string[] =>
    Array.from({ length: count }, (_, at) => ask(name, first + at)).flat();
  const give = (sid: string, name: string, number: number, n: number, passes: number) => {
    const ticket = ticketIn(on.data)(sid, rid(number));
    return call(sid, 'D', name, rid(number), ticket, hex(n, 8), `${n}`, '-', `${passes}`, '0');
  };
  const ticket = (): number => Number(on.data.hash('meta').get('ticket'));
  const seen = (): string => `${hex(ticket())} ${on.data.hash('meta').get('epoch')}.${HISTORY}`;

  // A process that enters first knows tickets: few, as many as the time gives, and one more or less.
  for (const topmost of [1, late - 1, late, late + 1]) {
    await begin();
    await enter(one, topmost);
    await enter(two, topmost + 1);
    // The last ticket, and one that nobody has.
    await enter(three, ticket());
    await call(three, 'X');
    await enter(three, ticket() + 1);
  }
  // Grants are left while the tickets leap.
  await call(two, 'N', 'left', 's', '200', '0', '0', '0', ...ask('left', 1, 200));
  await call(two, ...asks('left', 2, 132));
  await give(two, 'left', 1, 200, 0);
  await enter(one, 2 * late);
  for (let i = 0; i < 2; i++) await call(one, 'B', '-');
  // Three processes wait for a mutex: who gets it hears at once whether another one waits.
  for (const bypass of [600, 3, 0]) {
    await begin(one, two, three);
    await call(one, 'N', 'm', 'm', '1', '0', '0', `${bypass}`, ...ask('m', 1));
    for (const [at, sid] of [two, two, three, one, two].entries()) await call(sid, ...ask('m', 2 + at));
    for (const [at, sid] of [one, two, two, three, one, two].entries()) await give(sid, 'm', 1 + at, 1, at);
  }
  // The first call of another history.
  const held = (number: number): string => ticketIn(on.data)(one, rid(number));
  for (const first of [
    () => call(one, 'C', rid(1)),
    () => call(one, 'C', rid(3)),
    () => call(two, 'C', rid(5)),
    () => call(one, 'S', '', rid(9), '0'),
    () => call(one, 'S', '', rid(9), '2', rid(1), rid(3)),
    () => give(one, 'm', 1, 1, 0),
    () => give(one, 's', 4, 1, 0),
    () => give(one, 'wide', 7, 1, 0),
    () => give(one, 'alone', 11, 1, 0),
    () => call(one, 'X'),
    () => call(three, 'F', 's', rid(4), held(4), one),
    () => call(three, 'R', 's', '-', '5'),
    () => call(three, 'L', 's', '-', '-'),
    () => call(three, 'L', 's', '-', ticketIn(on.data)(two, rid(5))),
    () => call(three, 'K', 's', '-'),
    () => call(three, ...ask('m', 9)),
    () => call(three, 'T', 'free', '-', rid(9), hex(1, 8)),
    () => call(one, ...ask('m', 1)),
    () => call(three, ...make('new', 's', 1)),
    () => call(three, 'B', seen()),
    () => enter(two),
  ]) {
    await begin(one, two, three);
    await call(one, ...make('m', 'm', 1), ...ask('m', 1), ...make('s', 's', 3), ...ask('s', 3), ...ask('s', 4));
    await call(two, ...ask('m', 2), ...ask('s', 5, 2), ...ask('s', 6), ...make('free', 's', 1));
    await call(one, ...make('wide', 's', 3), ...ask('wide', 7), ...ask('wide', 10));
    await call(one, ...make('alone', 's', 1), ...ask('alone', 11));
    await call(two, ...ask('wide', 8, 3));
    where = { ...where, history: hex(2, 40) };
    await first();
    await call(three, 'B', '-');
  }
  // What holds permits of an object that there is no more, or of the one before.
  for (const kind of ['s', 'm']) {
    await begin(one, two);
    await call(one, ...make('o', kind, 1), ...ask('o', 1), 'K', 'o', '-', 'C', rid(1), 'S', '', rid(9), '1', rid(1));
    await call(one, ...make('o', kind, 1), ...ask('o', 2), 'K', 'o', '-', ...make('o', kind, 1), ...ask('o', 3));
    await call(two, ...ask('o', 4));
    for (const letter of ['V', 'F'])
      for (const number of [1, 2]) await call(two, letter, 'o', rid(number), held(number), one);
    for (const number of [1, 2, 3]) await call(one, 'C', rid(number));
    await call(one, 'S', '', rid(9), '2', rid(1), rid(3));
    await call(one, 'X');
  }
  // As many requests as go in one call, and one more; and dates that are listed.
  const rate = { permits: 1, per: 2 ** 33, burst: 1, slack: 1000 };
  const untold = { seen: 0, low: 0, high: 0 };
  const onRate = (numbers: wire.RateNumbers, demand: wire.RateDemand, told = untold, name = 'r'): string[] =>
    wire.rate(name, numbers, { epoch: 0, given: 0, last: 0 }, told, demand).map(String);
  const dates = (count: number): string[] => Array.from({ length: count }, () => onRate(rate, ['T', 1, -1])).flat();
  for (const [requests, listed] of [
    [100, 0],
    [127, 0],
    [128, 0],
    [129, 0],
    [0, 127],
    [0, 128],
    [0, 129],
    [100, 27],
    [100, 28],
    [100, 130],
  ] as const) {
    await begin(one, two);
    await call(one, ...make('s', 's', 200), ...asks('s', 1, requests), ...dates(listed === 0 ? 0 : listed + 1));
    for (let i = 0; i < 3 && on.data.hash('sessions').has(one); i++) await call(one, 'X', ...make('next', 's', 1));
  }
  // Sessions have died: as many as a beat takes back, and more. One that is told of a grant has died too.
  for (const count of [3, 4, 5]) {
    await begin(...SIDS.slice(0, count), WATCHER);
    await call(one, ...make('m', 'm', 1, '1'), ...ask('m', 1));
    for (const [at, sid] of [two, SIDS[count - 1] as string, WATCHER].entries()) await call(sid, ...ask('m', 2 + at));
    for (let i = 0; i < 2; i++) await call(WATCHER, 'B', seen());
  }
  // Grants of two objects are left at once.
  await begin(one, two);
  for (const [at, name] of ['a', 'b'].entries()) {
    await call(one, ...make(name, 's', 130), ...ask(name, 1 + at, 130));
    await call(two, ...asks(name, 200 * (at + 1), 130));
  }
  const gives = ['a', 'b'].flatMap((name, at) => {
    return ['D', name, rid(1 + at), held(1 + at), hex(130, 8), '130', '-', '0', '0'];
  });
  await call(one, ...gives);
  // Who waits hears of its grants in the answer to its own beat, but not to a beat aside.
  for (const letter of ['B', 'W', 'B', 'W']) await call(two, letter, '-');
  // The last request that is cancelled is the first one that a call has no time for.
  await begin(one);
  await call(one, ...make('s', 's', 1), ...asks('s', 1, 130));
  for (let i = 0; i < 2; i++) await call(one, 'L', 's', '-', '-');
  // Whoever tells no time may bring it on by a beat, as long as another session lives that tells it.
  await begin(one, two, three);
  const short = { permits: 2, per: 9000, burst: 1, slack: 1001 };
  const goOn = (milliseconds: number, history = where.history): void => {
    where = { time: where.time + milliseconds * 1000, history };
  };
  await call(two, 'G', '0', '0', '0');
  for (const sid of [one, two, three]) {
    goOn(1_500_000);
    await call(sid, ...onRate(short, ['I']));
  }
  await call(two, 'X');
  for (const sid of [one, three]) {
    goOn(1_500_000);
    await call(sid, ...onRate(short, ['I']));
  }
  // Parts of microseconds.
  for (const [low, high, slack] of [
    [0, 1, 1000],
    [1, 1, 1001],
    [1001, 1001, 1003],
  ] as const)
    for (const later of [0, 500, -10]) {
      const seenTime = where.time;
      goOn(later);
      await call(one, ...onRate({ ...short, slack }, ['I'], { seen: seenTime, low, high }));
    }
  // A state counts up to the last microsecond of its time.
  for (const beside of [-1, 0, 1]) {
    await begin(one);
    await call(one, ...onRate(short, ['T', 1, -1]));
    const [state] = [...on.data.texts().values()];
    where = { ...where, time: (state?.until as number) * 1000 + beside };
    await call(one, ...onRate(short, ['T', 1, -1], untold, 'another'));
    await call(one, ...onRate(short, ['I']));
    await call(one, ...onRate({ ...short, per: 9001 }, ['T', 1, -1]));
  }
  // The names of histories tell losses apart.
  await begin(one);
  await call(one, ...onRate(short, ['T', 1, -1]));
  for (const name of ['f', '7']) {
    goOn(1_000, name.repeat(40));
    await call(one, 'B', '-', ...onRate(short, ['T', 1, -1]));
    for (let i = 0; i < 3; i++) {
      goOn(360_000);
      await call(one, ...onRate(short, ['I', 1, -1]), ...onRate(short, ['T', 1, -1]));
    }
  }
  // An object is opened with settings of which one is another.
  const settings = ['s', '2', '0', '0', '0'];
  await begin(one);
  await call(one, 'N', 'o', ...settings);
  for (const [at, other] of ['w', '3', '1', '1', '1'].entries()) await call(one, 'N', 'o', ...settings.with(at, other));
  // What is not listed is dropped only behind the place where the list begins.
  await call(one, ...ask('o', 1), ...ask('o', 2), 'S', `${rid(1)}g`, rid(9), '0');
  // Who holds permits waits for more, and is told once.
  await begin(one, two);
  await call(one, ...make('s', 's', 2), ...ask('s', 1));
  await call(two, ...ask('s', 2), ...ask('s', 3));
  await call(one, ...ask('s', 4), 'I', 's', '9', '', '');
  // A session is silent for as long as a lease, and has nothing, or only dates that are listed.
  for (const beside of [-1, 0]) {
    await begin(one);
    goOn(3_600_000);
    await enter(two);
    await call(one, 'B', '-', ...dates(2));
    goOn(3_600_000 + beside);
    await enter(three);
  }
  // The clock goes back by a millisecond.
  await begin(one);
  await call(one, ...make('s', 's', 1), ...ask('s', 1));
  where = { ...where, time: where.time - 1000 };
  await enter(two);
  // Permits are left when the last waiter has been served.
  await begin(one, two);
  await call(one, ...make('s', 's', 4), ...ask('s', 1, 4));
  await call(two, ...ask('s', 2));
  await give(one, 's', 1, 4, 0);
  // When a mutex is granted, requests of other objects have smaller tickets than the next waiter, and so has the holder.
  for (const next of [two, three]) {
    await begin(one, two, three);
    await call(one, ...make('s', 's', 1), ...make('m', 'm', 1), ...ask('s', 1), ...ask('m', 2));
    await call(two, ...ask('m', 3));
    await call(three, ...ask('s', 4));
    await call(next, ...ask('m', 5));
    await give(one, 'm', 2, 1, 0);
  }
  // A request comes again after a loss.
  await begin(one);
  await call(one, ...make('s', 's', 2), ...ask('s', 1));
  goOn(1, '7'.repeat(40));
  await call(one, ...ask('s', 1));
  await call(one, ...ask('s', 2));
  // A part is given back, of what is not held like that and of what is.
  await begin(one, two);
  await call(one, ...make('s', 's', 4, '1'), ...make('o', 's', 1), ...ask('s', 1), ...ask('o', 2));
  await call(two, ...ask('o', 3));
  const back = (name: string, number: number, n: number, its: string, note = '-'): string[] => [
    ...['D', name, rid(number), its, hex(n, 8)],
    ...['1', note, '0', '0'],
  ];
  const its = (number: number): string => ticketIn(on.data)(one, rid(number));
  await call(one, ...back('s', 1, 1, its(1), 'd'));
  await call(one, ...ask('s', 4, 3));
  await call(two, ...ask('s', 5, 2));
  for (const wrong of [
    back('s', 9, 3, its(4)),
    back('o', 4, 3, its(4)),
    back('s', 4, 3, its(2)),
    back('s', 4, 2, its(4)),
  ])
    await call(one, ...wrong);
  await call(two, ...back('s', 4, 3, its(4)));
  await call(one, ...back('s', 4, 3, its(4)));
  await call(one, ...back('s', 4, 2, its(4), 'r'));
  // What the mutex was passed to belongs to the next object of the name.
  await begin(one);
  await call(one, ...make('m', 'm', 1, '1'), ...ask('m', 1));
  const of = its(1);
  await call(one, 'K', 'm', '-', ...make('m', 'm', 1, '1'), ...ask('m', 2));
  await call(one, 'D', 'm', rid(1), of, hex(1, 8), '1', '-', '0', '1', rid(2));
  // An object that is not kept is free and taken again in a call.
  await begin(one);
  await call(one, 'N', 'e', 's', '1', '0', '1', '0', ...ask('e', 1));
  await call(one, ...back('e', 1, 1, its(1)), ...ask('e', 2));
}

/** A fixed sequence where each call finds two requests at most, and takes one away (FEW). */
export async function compareFew(on: Caller): Promise<void> {
  const [one, two] = SIDS as [string, string];
  const where: Surroundings = { time: START * 1000, history: HISTORY };
  const rid = (number: number): string => hex(number, 10);
  const call = async (sid: string, ...args: readonly string[]): Promise<void> => {
    if (!on.difference) await on.call([sid, '0', 'c:', ...args], where);
  };
  const look = (name: string, from = ''): string[] => ['I', name, '9', '', from];
  await on.begin();
  for (const sid of [one, two]) await call(sid, ...wire.enter(1, 3_600_000, 'l', '-', hex(0)));
  for (const [name, kind, max] of [
    ['s', 's', '4'],
    ['free', 's', '1'],
    ['m', 'm', '1'],
  ] as const)
    await call(one, 'N', name, kind, max, '0', '0', '0');
  await call(one, ...['A', 's', '-', rid(1), hex(1, 8), 'A', 's', '-', rid(2), hex(1, 8), ...look('free')]);
  await call(two, ...['A', 's', '-', rid(3), hex(1, 8), 'A', 'm', '-', rid(4), hex(1, 8)]);
  // The holders in parts.
  for (const from of ['', `${one}${rid(1)}g`, `${one}${rid(2)}g`, `${two}${rid(3)}g`])
    for (const name of ['s', 'm']) await call(two, ...look(name, from));
  // A grant is left, and what was held of the object before goes back.
  const ask = (number: number): string[] => ['A', 'o', '-', rid(number), hex(1, 8)];
  const give = (number: number): Promise<void> => {
    const ticket = ticketIn(on.data)(two, rid(number));
    return call(two, 'D', 'o', rid(number), ticket, hex(1, 8), '1', '-', '0', '0');
  };
  const make = ['N', 'o', 's', '2', '0', '0', '0'];
  await call(two, ...make, ...ask(5), 'K', 'o', '-', ...make, ...[6, 7, 8, 9, 10].flatMap(ask), 'R', 'o', '-', '4');
  await give(5);
  // A session has died, and holds something still.
  const sign = on.data.sorted('leases').find(({ member }) => member === one)?.score;
  const seen = `${hex(sign as number)} 1.${HISTORY}`;
  for (let i = 0; i < 4; i++) await call(two, 'B', seen, ...look('s'));
}

/** The fixed sequence of calls on rates. */
export async function compareFixedRates(on: Caller): Promise<void> {
  await on.begin();
  for (const { time, args } of fixedRateCalls()) {
    if (on.difference) return;
    await on.call(args, { time, history: HISTORY });
  }
}
