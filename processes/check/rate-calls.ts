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
  #asked: { told: Told; sid: string; demand: wire.RateDemand; numbers: wire.RateNumbers } | undefined;

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
      ? { epoch: epoch + this.#below(2), given: given + 1 + this.#below(5), last }
      : mine.known;
    this.#asked = { told: mine, sid, demand, numbers };
    return [...head, ...wire.rate(name, numbers, more, times, demand)];
  }

  #demand(told: Told, { permits, per }: wire.RateNumbers): wire.RateDemand {
    const roll = this.#below(100);
    const width = this.chance(70) ? 1 : 1 + this.#below(permits + 1);
    if (roll < 55) return ['T', width, this.chance(70) ? -1 : this.#below(2 * per)];
    if (roll < 75 && told.dates.length > 0) {
      const [{ answer, permits: back }] = told.dates.splice(this.#below(told.dates.length), 1) as [Told['dates'][0]];
      const epoch = this.chance(95) ? answer.epoch : answer.epoch + 1;
      return [this.chance(95) && answer.isListed ? 'D' : 'C', answer.date - answer.moved, back, answer.given, epoch];
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
    const { told, sid, demand, numbers } = this.#asked;
    const answer = wire.rateIn(reply[0], numbers);
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
