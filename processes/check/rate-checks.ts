/**
 * What a history of a rate must keep, whether its world is simulated (rate-history.ts) or real (chaos/rates-run.ts):
 *
 *     windows   at most `permits` permits begin in any window of `per`
 *     order     the dates come in the order in which the requests reach the server, but for those that were given back
 *     idle      no window of the server passes without a date while somebody asks
 *     told      nobody begins before the date that it was told, or more than a part of the slack later
 *
 * All of it is bounded in memory, however long the history is.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type * as wire from '../src/script/wire.js';
import { Rate } from '../src/session/rates.js';

const US = 1000;
/** A client begins at most this part of the slack later than its date (objects/rate-wait.ts). */
const USED = 0.75;
/** By which part of the slack a jump of the server's clock may move its time ahead, and how exactly clocks go (rates.lua). */
const JUMPED = 0.25;
const DRIFT = 0.001;
/** Which part of a window a run of the server may count longer, as old runs join. */
const JOINED = 1 / 64;

/** The permits that begin in windows. */
export class Windows {
  readonly #permits: number;
  readonly #per: number;
  #begins: { readonly at: number; readonly width: number }[] = [];
  #first = 0;
  #sum = 0;
  all = 0;
  /** The most permits in a window that no loss excuses. */
  most = 0;
  longestGap = 0;

  constructor(permits: number, per: number) {
    this.#permits = permits;
    this.#per = per;
  }

  /**
   * Some permits begin, no earlier than those before. Returns how many there are in the window that ends here, if these
   * are too many.
   */
  begin(at: number, width: number, isExcused = false): number {
    const begins = this.#begins;
    const last = begins.at(-1);
    if (last) this.longestGap = Math.max(this.longestGap, at - last.at);
    begins.push({ at, width });
    this.all += width;
    this.#sum += width;
    for (; at - (begins[this.#first]?.at as number) >= this.#per; this.#first++)
      this.#sum -= begins[this.#first]?.width as number;
    if (this.#first > 10_000) {
      this.#begins = begins.slice(this.#first);
      this.#first = 0;
    }
    if (!isExcused) this.most = Math.max(this.most, this.#sum);
    return this.#sum > this.#permits ? this.#sum : 0;
  }
}

/** What the server says of a request that has got its date. */
export type Answer = Pick<wire.RateAnswer, 'epoch' | 'given' | 'date' | 'moment' | 'last' | 'moved' | 'per' | 'slack'>;

/** The dates of one history of the server's data, in the order of the requests. Times are microseconds of the server. */
export class Dates {
  #before: Answer | undefined;

  /** The server has lost its data, or somebody has told it of a loss. */
  begins(): void {
    this.#before = undefined;
  }

  /**
   * A request has got a date. Returns what is wrong.
   * @param isNext whether no other request has got a date since the one before.
   * @param rests for how long the server may give no date, in microseconds, as it has noticed a loss.
   */
  got(answer: Answer, width: number, rests = 0, isNext = true): string | undefined {
    const before = this.#before;
    this.#before = answer;
    const { date, moment, last, per, slack } = answer;
    if (date < moment) return `a date that has passed: ${date} at ${moment}`;
    if (date > last) return `a date behind the latest, ${date} and ${last}`;
    if (!before) return undefined;
    if (last < before.last) return `an earlier date than that of those before: ${last} and ${before.last}`;
    if (!isNext || (answer.epoch === before.epoch && answer.given !== before.given + width)) return undefined;
    const idle = date - Math.max(before.last, moment) - (answer.moved - before.moved) - rests;
    const most = (per + slack) * (1 + JOINED) + 2;
    return idle > most ? `no date for ${idle} microseconds, though somebody asks` : undefined;
  }

  /** Something else has changed the latest date or what counts: a pause, or permits that were counted or given back. */
  changed(answer: Answer): void {
    this.#before = this.#before && { ...answer, last: Math.max(answer.last, this.#before.last) };
  }
}

/** The dates of one epoch of the server. Only these may be given back, and be given to others afterwards. */
export class Given {
  #epoch = 0;
  readonly #dates = new Set<number>();

  /** A request has got a date. Returns what is wrong. */
  got({ epoch, date, moved, last }: Answer): string | undefined {
    if (epoch !== this.#epoch) this.#dates.clear();
    this.#epoch = epoch;
    // Pauses move dates that lie ahead, and all of these by as much.
    const unmoved = date - moved;
    if (date < last && !this.#dates.has(unmoved)) return `a date that was never given before: ${date}`;
    this.#dates.add(unmoved);
    return undefined;
  }
}

/**
 * Whether the server has begun a new epoch, though the permits of the one before count. It may do this after a loss, and
 * when the slack becomes another one.
 */
export const beginsEpoch = ({ epoch, moment, slack }: Answer, before: Answer | undefined): boolean =>
  before !== undefined &&
  epoch !== before.epoch &&
  slack === before.slack &&
  moment < before.last + before.per + before.slack;

/** The last answer that gave a request a date. Times are milliseconds of the clock of the process. */
export interface Told {
  readonly answer: wire.RateAnswer;
  readonly sent: number;
  readonly got: number;
  /** Whether a pause has moved the date since. */
  isMoved(): boolean;
}

const requests = new AsyncLocalStorage<Asked>();

/** What the server answers to a request of this process, as the one call of rates hears it. */
export class Asked {
  /** Called with each answer that was not the last. */
  readonly #passes: (told: Told) => void;
  told: Told | undefined;

  constructor(passes: (told: Told) => void = () => {}) {
    this.#passes = passes;
  }

  /** Runs a request, and listens. */
  run<T>(request: () => T): T {
    return requests.run(this, request);
  }

  hear(told: Told): void {
    this.pass();
    this.told = told;
  }

  /** The date passes unused. */
  pass(): void {
    if (this.told) this.#passes(this.told);
    this.told = undefined;
  }
}

const { ask } = Rate.prototype;
Rate.prototype.ask = async function (this: Rate, demand, numbers) {
  const asked = demand[0] === 'T' ? requests.getStore() : undefined;
  if (!asked) return ask.call(this, demand, numbers);
  const sent = this.clock.now();
  const heard = await ask.call(this, demand, numbers);
  const { answer } = heard;
  const got = this.clock.now();
  if (!('most' in answer) && answer.ok) {
    const shift = this.shiftAt(answer);
    asked.hear({ answer, sent, got, isMoved: () => this.shift !== shift || this.isOutdated(answer) });
  }
  return heard;
};

/**
 * By how many milliseconds a begin is earlier or later than the server has told. Times but those of the answer are
 * milliseconds.
 *
 * A call that was under way for long seems to the server like a jump of its clock, and so the time of the server may stay
 * behind until another process tells more. Then the dates that it gives meanwhile come earlier than told.
 */
export function untold(
  answer: Pick<Answer, 'date' | 'moment' | 'slack'>,
  { sent, got, at }: { sent: number; got: number; at: number },
): { readonly early: number; readonly late: number } {
  const ahead = (answer.date - answer.moment) / US;
  const slack = answer.slack / US;
  const inexact = 0.01 + ahead * DRIFT;
  return {
    early: sent + ahead - (inexact + slack * JUMPED) - at,
    late: at - (got + ahead + inexact + slack * USED),
  };
}
