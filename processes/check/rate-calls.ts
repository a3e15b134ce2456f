/** Random calls on rates, the same for the same seed: for mutants of the script, and for the two forms of the script. */
import * as wire from '../src/script/wire.js';
import { latin1, SIDS } from './calls.js';
import type { Data } from './data-model.js';
import { mulberry, type Random } from './simulation.js';

/** So long that no jump of the clock makes a session seem silent. */
const LEASE = 3_600_000;
const NAMES = ['a', 'b', `k${'\0'}sAnn`, 'ä'].map(latin1);
const NUMBERS: readonly wire.RateNumbers[] = [
  { permits: 3, per: 30_000, burst: 2, slack: 4_000 },
  { permits: 1, per: 12_345, burst: 1, slack: 1_000 },
  { permits: 2, per: 20_000, burst: 2, slack: 1_000 },
  { permits: 200, per: 100_000, burst: 20, slack: 5_000 },
];

/** What a session was told of a rate. */
interface Told {
  known: wire.RateKnown;
  /** The dates that it has. */
  readonly dates: { readonly answer: wire.RateAnswer; readonly permits: number }[];
}

/** Writes calls as processes make them, which know what they were told, or what they were told long ago. */
export class RateWriter {
  readonly #below: Random;
  readonly #told = new Map<string, Told>();
  /** The time of the partition that each session was told, and when, in microseconds. */
  readonly #times = new Map<string, { seen: number; at: number }>();
  readonly #keys: readonly string[];
  #asked:
    | { told: Told; sid: string; demand: wire.RateDemand; numbers: wire.RateNumbers; known: wire.RateKnown }
    | undefined;

  constructor(seed: number, keys: readonly string[]) {
    this.#below = mulberry(seed);
    this.#keys = keys;
  }

  chance(percent: number): boolean {
    return this.#below(100) < percent;
  }

  /** A call at a true time in microseconds. */
  call(data: Data, time: number): string[] {
    this.#asked = undefined;
    const sid = SIDS[this.#below(SIDS.length)] as string;
    const known = data.hash(this.#keys[4] as string).get(sid);
    if (known === undefined) {
      for (const key of this.#told.keys()) if (key.startsWith(sid)) this.#told.delete(key);
      this.#times.delete(sid);
      return [sid, '0', 'c:', ...wire.enter(3, LEASE, 'l', '-', this.chance(10) ? 'ffffffff' : '0').map(String)];
    }
    const head = [sid, known.split(' ')[0] as string, 'c:'];
    const told = this.#times.get(sid);
    const age = told ? time - told.at : 0;
    const ages =
      told && !this.chance(10) ? { seen: told.seen, low: Math.floor(age * 0.9), high: age + 100 } : undefined;
    const times = ages ?? { seen: 0, low: 0, high: 0 };
    if (this.chance(8)) return [...head, 'B', '-', ...wire.beatOfRates(times)];
    if (this.chance(2)) return [...head, 'X'];
    const at = this.#below(NAMES.length);
    const name = NAMES[at] as string;
    const mine = this.#told.get(sid + name) ?? { known: { epoch: 0, given: 0, last: 0 }, dates: [] };
    this.#told.set(sid + name, mine);
    const own = NUMBERS[at] as wire.RateNumbers;
    const numbers = { ...own, ...(this.chance(5) && { slack: own.slack + 500 }), ...(this.chance(5) && { burst: 1 }) };
    const demand = this.#demand(mine, own);
    // A process that knows more than the server does, as after a loss.
    const { epoch, given, last } = mine.known;
    const more = this.chance(3)
      ? { epoch: Math.max(0, epoch - 1 + this.#below(3)), given: given + 1 + this.#below(5), last }
      : mine.known;
    this.#asked = { told: mine, sid, demand, numbers, known: more };
    return [...head, ...wire.rate(name, numbers, more, times, demand)];
  }

  #demand(told: Told, { permits, per }: wire.RateNumbers): wire.RateDemand {
    const roll = this.#below(100);
    const width = this.chance(70) ? 1 : 1 + this.#below(permits + 1);
    if (roll < 55) return ['T', width, this.chance(70) ? -1 : this.#below(2 * per)];
    if (roll < 75 && told.dates.length > 0) {
      const [{ answer, permits: back }] = told.dates.splice(this.#below(told.dates.length), 1) as [Told['dates'][0]];
      const epoch = this.chance(95) ? answer.epoch : answer.epoch + 1;
      return [this.chance(80) && answer.isListed ? 'D' : 'C', answer.date - answer.moved, back, answer.given, epoch];
    }
    if (roll < 80) return ['I', this.#below(permits + 1), -1];
    if (roll < 85) return ['P', this.#below(per), 77];
    if (roll < 88) return ['L', 0, 78];
    if (roll < 95) return ['S', this.#below(7) - 3];
    if (roll < 96) return ['R'];
    return ['I'];
  }

  /** The answer to the last call, which was made at this time. */
  heard(reply: unknown, time: number): void {
    if (!this.#asked || !Array.isArray(reply)) return;
    const { told, sid, demand, numbers, known } = this.#asked;
    const answer = wire.rateIn(reply[0], numbers, known);
    if ('most' in answer || !String(reply[0]).startsWith('E ')) return;
    told.known = { epoch: answer.epoch, given: answer.given, last: answer.last };
    this.#times.set(sid, { seen: answer.moment, at: time });
    if (demand[0] === 'T' && answer.ok && answer.date > answer.moment)
      told.dates.push({ answer, permits: demand[1] as number });
  }

  /** By how many milliseconds the clock of the server is wrong from now on: as before, or by up to a quarter of an hour. */
  jumped(before: number): number {
    return this.chance(98) ? before : this.#below(1_800_000) - 900_000;
  }

  /** How much time passes until the next call, in milliseconds. */
  rest(): number {
    return this.chance(5) ? this.#below(60) : this.#below(4);
  }
}

/** One call of the fixed sequence, and what the clock of the server says then, in microseconds. */
export interface FixedRateCall {
  readonly time: number;
  readonly args: readonly string[];
}

/**
 * A fixed sequence of calls on rates, for what random calls seldom hit: bounds, exactly, and one beyond them. The lease is
 * such that a fifth of it is no whole number of milliseconds.
 */
export function fixedRateCalls(): readonly FixedRateCall[] {
  const calls: FixedRateCall[] = [];
  const [one, two] = SIDS as [string, string];
  const NOTHING: wire.RateKnown = { epoch: 0, given: 0, last: 0 };
  const UNTOLD: wire.ToldTime = { seen: 0, low: 0, high: 0 };
  /** The true time, and by how much the clock of the server goes ahead of the time of the partition. */
  let [time, ahead] = [1_700_000_000_000_000, 0];
  const call = (sid: string, ...operations: readonly (readonly string[])[]): void => {
    calls.push({ time: time + ahead, args: [sid, '0', 'c:', ...operations.flat()] });
  };
  const numbers = (permits: number, window: number, burst = 1, slack = 1000): wire.RateNumbers => ({
    ...{ permits, per: window - slack, burst, slack },
  });
  type Of = readonly [name: string, numbers: wire.RateNumbers];
  const ask = ([name, own]: Of, demand: wire.RateDemand, { known = NOTHING, told = UNTOLD } = {}): void =>
    call(one, wire.rate(name, own, known, told, demand));
  for (const sid of [one, two]) call(sid, wire.enter(3, 10_001, 'l', '-', '0').map(String));

  // The clock of the server goes as far ahead of the time of the partition as it went behind.
  const first: Of = ['first', numbers(2, 2_000_000)];
  ask(first, ['I'], { told: { seen: time + 1000, low: 0, high: 0 } });
  time += 2250;
  ask(first, ['I'], { told: { seen: time - 1250, low: 0, high: 0 } });
  [time, ahead] = [time - 1000, 1000];
  ask(first, ['I']);

  // A date lies so far ahead that it is listed, or not quite so far.
  for (const window of [12_501_250, 12_501_251]) {
    const far: Of = [`far${window}`, numbers(1, window)];
    for (let i = 0; i < 2; i++) ask(far, ['T', 1, -1]);
  }

  // So many runs that some join, and as many holes as are kept.
  const many: Of = ['many', numbers(1000, 64_000_000)];
  for (let i = 0; i < 100; i++) ask(many, ['T', 1, -1]);
  // The epoch of a rate is the time of its first request.
  for (let i = 1; i <= 258; i++) ask(many, ['C', time + i * 1000, 1, 1, time]);

  // The dates and permits of a hole and of a run, exactly and one beside.
  const few: Of = ['few', numbers(4, 8_000_000, 4)];
  const from = time;
  for (const wait of [0, 500_000, 500_000]) {
    time += wait;
    ask(few, ['T', 1, -1]);
  }
  ask(few, ['T', 3, -1]);
  ask(few, ['T', 2, -1]);
  for (const date of [-1, 0, 1, 2]) ask(few, ['C', time + date, 1, 1, from]);
  // They are of another epoch.
  for (const epoch of [-1, 1]) ask(few, ['C', time + 1, 1, 1, from + epoch]);
  for (const date of [9_000_000, 9_000_001, 7_000_000, 7_000_001]) ask(few, ['C', from + date, 2, 1, from]);
  for (const k of [1, 2, 3]) for (const most of [0, 1, 2, 6_000_000, 7_000_000]) ask(few, ['I', k, most]);
  time += 1;
  for (const k of [1, 2, 3]) ask(few, ['I', k, -1]);
  ask(few, ['T', 3, 5_999_999]);
  ask(few, ['T', 2, 5_999_999]);
  ask(few, ['S', -1]);
  ask(few, ['S', 0]);
  ask(few, ['P', 0, 7]);
  ask(few, ['P', 1, 7]);
  ask(few, ['P', 1000, 7]);
  for (const wait of [999, 1, 1]) {
    time += wait;
    ask(few, ['I']);
    ask(few, ['I', 1, -1]);
  }
  // Until nothing is left of it, step by step.
  for (let step = 0; step < 24; step++) {
    for (const wait of [999_998, 1, 1]) {
      time += wait;
      ask(few, ['I', 1, -1]);
    }
    if (step === 3) ask(few, ['S', -2]);
    if (step === 5) ask(few, ['R']);
  }

  // A pause, permits given back, and a look exactly at a date, and one beside.
  for (const demand of [
    ['P', 3_000_000, 7],
    ['S', -2],
    ['I', 2, -1],
  ] as readonly wire.RateDemand[])
    for (const beside of [-1, 0, 1]) {
      const own: Of = [`${demand[0]}${beside}`, numbers(2, 2_000_000)];
      for (let i = 0; i < 3; i++) ask(own, ['T', 1, -1]);
      time += 995_000 + beside;
      ask(own, demand);
      for (const wait of [0, 1_000_000, 1_000_000]) {
        time += wait;
        ask(own, ['I']);
        ask(own, ['T', 1, -1]);
      }
    }

  // Some of the permits that began together are given back.
  const spent: Of = ['spent', numbers(10, 8_000_000, 10)];
  for (const k of [3, 4]) {
    ask(spent, ['T', k, -1]);
    time += 1;
  }
  for (const k of [1, 3, 1, 9]) {
    ask(spent, ['S', -k]);
    ask(spent, ['I', 10, -1]);
  }

  // So many permits that a record keeps only a part of their number.
  const counted: Of = ['counted', numbers(1, 30_000_000)];
  for (let i = 0; i < 33; i++) ask(counted, ['S', 2_147_483_647]);
  ask(counted, ['T', 1, -1]);

  // Dates that have passed are given back unused, and those that nobody has got, or not so many permits.
  const late: Of = ['late', numbers(6, 6_000_000, 2)];
  const start = time;
  for (const k of [1, 2, 1]) ask(late, ['T', k, -1]);
  time += 3_000_000;
  for (const [after, k] of [
    [995_000, 3],
    [994_999, 1],
    [995_001, 1],
    [2_500_000, 1],
    [995_000, 1],
    [995_000, 1],
    [0, 1],
    [2_000_000, 1],
    [2_000_000, 1],
  ] as const) {
    ask(late, ['C', start + after, k, 1, start]);
    for (const wanted of [1, 6]) ask(late, ['I', wanted, -1]);
  }
  // A date that a pause has moved to its end exactly.
  const edge: Of = ['edge', numbers(2, 2_000_000)];
  for (let i = 0; i < 2; i++) ask(edge, ['T', 1, -1]);
  const began = time;
  time += 994_999;
  ask(edge, ['P', 1000, 7]);
  ask(edge, ['C', time + 1, 1, 2, began]);
  ask(edge, ['I', 1, -1]);

  // A pause exactly at the latest date.
  const paused: Of = ['paused', numbers(2, 2_000_000)];
  ask(paused, ['T', 1, -1]);
  ask(paused, ['P', 1000, 7]);

  // A loss: what was told counts again, for a window after its date.
  for (const epoch of [time - 1, time, time + 1])
    for (const age of [-1, 0, 1])
      for (const given of [1, 3, 1000]) {
        const own: Of = [`lost${epoch}and${age}and${given}`, numbers(2, 2_000_000, 2)];
        ask(own, ['T', 1, -1]);
        ask(own, ['T', 1, -1]);
        ask(own, ['C', time + 995_000, 1, 1, time]);
        ask(own, ['I', 1, -1], { known: { epoch, given, last: time - 2_000_000 - age } });
        ask(own, ['C', time + 995_000, 1, 1, time]);
        ask(own, ['S', 1], { known: { epoch, given: given + 1, last: time - 10 } });
        ask(own, ['T', 1, -1], { known: { epoch: epoch + 1, given: given + 1, last: time + 10 } });
        ask(own, ['S', 1], { known: { epoch: epoch - 1, given: given + 9, last: time + 10 } });
        ask(own, ['T', 1, -1], { known: { epoch: 0, given: given + 19, last: time + 1_000_000 } });
      }

  // A date that was given back is nobody's in the next epoch.
  const anew: Of = ['anew', numbers(2, 2_000_000)];
  for (let i = 0; i < 2; i++) ask(anew, ['T', 1, -1]);
  ask(anew, ['C', time + 995_000, 1, 1, time]);
  ask(anew, ['T', 1, -1], { known: { epoch: time, given: 3, last: time } });

  // Other numbers while dates lie ahead, by R and by a key; and the same numbers.
  for (const name of ['resized', `k${'\0'}sAda`]) {
    const [before, after, again] = [numbers(3, 7_000_000), numbers(5, 2_000_001, 2), numbers(5, 2_000_002, 2)];
    for (let i = 0; i < 4; i++) ask([name, before], ['T', 1, -1]);
    for (const each of [after, again, again, before]) {
      ask([name, each], ['R']);
      ask([name, each], ['I', 1, -1]);
      ask([name, each], ['T', 1, -1]);
    }
    // Nothing is due any more.
    time += 90_000_000;
    ask([name, after], ['R']);
    ask([name, after], ['T', 1, -1]);
  }

  // Nobody asks for so long a slack for a while, exactly and one beside.
  for (const beside of [-1, 0, 1]) {
    const slack: Of = [`slack${beside}`, numbers(4, 8_000_000, 2, 4000)];
    const shorter: Of = [slack[0], numbers(4, 7_997_000, 2, 1000)];
    const start = time;
    ask(slack, ['T', 1, -1]);
    ask(shorter, ['T', 1, -1]);
    for (const each of [slack, shorter, slack, ...Array.from({ length: 19 }, () => shorter)]) {
      time += 3_000_000;
      ask(each, ['I', 2, -1]);
      ask(each, ['T', 1, -1]);
    }
    time += 3_000_000 + beside;
    for (const k of [4, 1]) ask(shorter, ['T', k, -1]);
    for (const wait of [0, 1_999_000, 6_000_000]) {
      time += wait;
      for (const k of [4, 1]) ask(shorter, ['I', k, -1]);
    }
    ask(shorter, ['C', time + 1, 1, 1, start]);
    ask(shorter, ['S', -4]);
    ask(slack, ['T', 4, -1]);
  }

  // Numbers so large that the first digits count.
  const large: Of = ['large', numbers(0x2000_0000, 2 ** 52, 0x1000_0001, 2 ** 50)];
  for (let i = 0; i < 3; i++) ask(large, ['T', 0x1000_0001, -1]);
  ask(large, ['C', time + 1, 0x1000_0001, 1, time]);
  ask(large, ['I', 0x1000_0001, -1]);

  // Time stands still within a call, whatever another operation was told.
  const plain: Of = ['plain', numbers(2, 2_000_000, 2, 4000)];
  const told = (): wire.ToldTime => ({ seen: time, low: 0, high: 0 });
  ask(plain, ['T', 1, -1], { told: told() });
  const untold = wire.rate(...plain, NOTHING, UNTOLD, ['T', 1, -1]);
  const seen = wire.rate(...plain, NOTHING, told(), ['T', 1, -1]);
  time += 10_000_000;
  call(one, untold, seen);
  // Further operations of a call are done after each kind of answer.
  const tooMany = wire.rate(...plain, NOTHING, told(), ['T', 3, -1]);
  const looks = wire.rate(...plain, NOTHING, told(), ['I', 1, -1]);
  const known = { ...NOTHING, epoch: time };
  call(one, tooMany, looks, looks, seen, looks, wire.beatOfRates(told()), looks);
  call(one, wire.rate(...plain, known, told(), ['S', 1]), looks);
  // What is only looked at is not written, whatever comes before.
  call(one, seen, wire.rate('none', plain[1], NOTHING, told(), ['I', 1, -1]));

  // The clock jumps by what is still no jump, and by one more: then nobody gets a date for a beat.
  for (const jump of [999_999, 1_000_000, 1_000_001, 1_000_000_000]) {
    ask(plain, ['I'], { told: told() });
    const before = told();
    time += 1000;
    ahead += jump;
    ask(plain, ['T', 1, -1], { told: before });
    for (const wait of [0, 1, 1000, 997_999, 1000, 1, 999_999, 1000, 1001]) {
      time += wait;
      ask(plain, ['I', 1, -1], { told: told() });
    }
  }
  // The clock jumps at the time at which a rate has begun.
  const jumps: Of = ['jumps', numbers(2, 2_000_000)];
  ask(jumps, ['T', 1, -1], { told: told() });
  ahead += 2_000_000;
  ask(jumps, ['S', 1], { told: told() });
  ask(jumps, ['I', 1, -1], { told: told() });
  // A process knows a later epoch, and of no permits.
  ask(jumps, ['I', 1, -1], { known: { ...NOTHING, epoch: time + 5_000_000 }, told: told() });
  time += 5_000_000;
  ahead = -5_000_000;
  for (let i = 0; i < 3; i++) {
    time += 100;
    call(two, wire.beat('-'), wire.beatOfRates(i === 0 ? UNTOLD : told()));
    ask(plain, ['I', 1, -1]);
  }
  // So long that a process that was told no time waits for the next beat, but no jump of the clock.
  time += 3_000_000;
  ask(plain, ['I', 1, -1]);
  time += 3_000_000;
  ahead += 1_000_000;
  ask(plain, ['I', 1, -1]);
  // That was a jump, and nobody gets a date for a beat. Numbers of several digits are replaced while dates lie ahead.
  time += 2_001_000;
  const wide: Of = ['wide', numbers(40, 7_000_000)];
  for (let i = 0; i < 3; i++) ask(wide, ['T', 1, -1], { told: told() });
  ask(['wide', numbers(50, 9_000_000)], ['R'], { told: told() });
  // A date that is listed comes exactly when its session has ended.
  const ends: Of = ['ends', numbers(1, 12_600_000)];
  for (let i = 0; i < 2; i++) ask(ends, ['T', 1, -1], { told: told() });
  time += 12_600_000;
  call(two, wire.rate(...ends, NOTHING, told(), ['I', 1, -1]));
  call(one, ['X']);
  call(two, wire.rate(...ends, NOTHING, told(), ['I', 1, -1]));
  // A session ends, and its dates are free again, also one that a pause has moved. It is told no time.
  const dies: Of = ['dies', numbers(1, 30_000_000)];
  const waits: Of = ['waits', numbers(1, 30_000_000)];
  for (const each of [dies, waits])
    for (let i = 0; i < 2; i++) call(two, wire.rate(...each, NOTHING, told(), ['T', 1, -1]));
  call(two, wire.rate(...waits, NOTHING, told(), ['P', 40_000_000, 7]));
  time += 1_000_000;
  call(two, ['X']);

  // The slack becomes shorter while dates lie ahead, and the caller gets none.
  call(one, wire.enter(3, 10_001, 'l', '-', '0').map(String));
  const slow: Of = ['slow', numbers(4, 400_000_000, 1, 4000)];
  const quicker: Of = ['slow', numbers(4, 399_997_000, 1, 1000)];
  const begins = time;
  for (const each of [slow, slow, slow, quicker]) ask(each, ['T', 1, -1]);
  time += 60_000_001;
  ask(quicker, ['T', 1, 0]);
  // Dates are given back in another order, and one of them twice.
  for (const after of [299, 99, 199, 99]) ask(quicker, ['C', begins + after * 1_000_000 + 998_000, 1, 1, time]);
  for (const k of [2, 1]) ask(quicker, ['I', k, -1]);
  // No other session is there that would be told of the pause.
  ask(quicker, ['P', 1000, 7]);

  // A date that has passed goes back, and the interval has parts of microseconds.
  const third: Of = ['third', numbers(3, 7_000_000)];
  ask(third, ['T', 1, -1]);
  const taken = time;
  time += 1;
  ask(third, ['C', taken, 1, 1, taken]);

  // Dates leave the state that lie a window behind the latest one, while dates that were given back lie ahead.
  const both: Of = ['both', numbers(2, 2_000_000)];
  const starts = time;
  for (let i = 0; i < 5; i++) ask(both, ['T', 1, -1]);
  for (const after of [3_995_000, 2_995_000]) ask(both, ['C', starts + after, 1, 1, starts]);
  ask(both, ['T', 2, -1]);
  ask(both, ['I', 1, -1]);

  // Listed dates have passed, but one that a pause has moved.
  const lists: readonly Of[] = [
    ['moves', numbers(1, 13_000_000)],
    ['passes', numbers(1, 13_000_000)],
  ];
  for (const each of lists) for (let i = 0; i < 2; i++) ask(each, ['T', 1, -1]);
  ask(lists[0] as Of, ['P', 5_000_000, 7]);
  time += 14_000_000;
  for (let i = 0; i < 2; i++) ask(lists[1] as Of, ['T', 1, -1]);

  // The record of a date keeps only a part of the number of its request. Only D looks for the record.
  const wraps: Of = ['wraps', numbers(1, 13_000_000)];
  const given = 2 ** 36;
  for (let i = 0; i < 2; i++) ask(wraps, ['T', 1, -1], { known: { epoch: 0, given, last: 0 } });
  for (const letter of ['C', 'D', 'D'] as const) ask(wraps, [letter, time + 13_000_000, 1, given + 2, time]);

  // A part of a date that was given back is taken.
  const parts: Of = ['parts', numbers(4, 4_000_000, 2)];
  const opened = time;
  for (const k of [2, 2]) ask(parts, ['T', k, -1], { told: told() });
  for (let i = 0; i < 2; i++) ask(parts, ['C', opened + 1_995_000, 1, 1, opened], { told: told() });
  for (let i = 0; i < 3; i++) ask(parts, ['T', 1, -1], { told: told() });
  // In the pause after a jump nobody gets a date, and each is told when the pause ends.
  const before = told();
  ahead += 2_000_000;
  ask(parts, ['T', 1, -1], { told: before });
  // The session ends. A date that it has listed has passed, and others are of another epoch.
  time += 26_000_000;
  ask(parts, ['I'], { told: told() });
  call(one, ['X']);
  return calls;
}
