/** A rate that all processes of a space share. rate-wait.ts says how a request waits. */
import type { Limited } from '../../../src/common/limiting.js';
import {
  checkPause,
  checkResize,
  checkSpent,
  limitedByRate,
  type Rate as Numbers,
  type RateOptions,
  type RateRequest,
} from '../../../src/common/rate.js';
import { inspected, shown } from '../../../src/common/shown.js';
import { requestOf } from '../../../src/common/waits.js';
import { checkInteger } from '../errors.js';
import type * as wire from '../script/wire.js';
import type { Answered, Rate } from '../session/rates.js';
import type { Session } from '../session/session.js';
import { MOST_PERMITS } from '../session/shared-object.js';
import type { WaitOptions } from './acquire.js';
import { NO_END, type RateCallOptions, type RateLimiterOptions, take, tooMany, US } from './rate-wait.js';

export type { RateCallOptions, RateLimiterOptions };

/** The state of a rate limiter on the server. */
export interface RateLimiterState extends Numbers {
  /** How many milliseconds later than its date a call may begin. */
  readonly slack: number;
  /** How many permits count now, those of requests that wait too. */
  readonly taken: number;
  /** How many permits of the last window have dates that lie ahead. Those of a longer queue are not counted. */
  readonly reserved: number;
}

const KIND = 'RateLimiter';

/**
 * @internal Opens a rate. What this process has opened before, or opens now, has numbers already, also if the server knows
 * of none: numbers that differ from them are an error, and do not become those of the open limiter.
 */
export async function openRate(session: Session, name: string, numbers: wire.RateNumbers): Promise<RateLimiter> {
  const known = session.rates.of(name, numbers);
  const asked = known.isKept || known.asking > 0 ? known.numbers : numbers;
  const { answer } = await known.ask(['I'], { ...asked, slack: Math.max(numbers.slack, known.numbers.slack) });
  if (!('most' in answer) && !known.isResized) {
    for (const key of ['permits', 'per', 'burst'] as const) {
      if (answer[key] === numbers[key]) continue;
      const tell = (of: wire.RateNumbers): string => `${of.permits} in ${of.per / US} ms with a burst of ${of.burst}`;
      const exists = `${JSON.stringify(name)} exists already, as a rate of ${tell(answer)}, not ${tell(numbers)}`;
      throw new RangeError(`Space.rateLimiter: ${exists}`);
    }
  }
  // Another call may have opened it meanwhile.
  const rate = session.rates.of(name, numbers);
  rate.isKept = true;
  rate.opens(numbers.slack);
  return new RateLimiter(rate);
}

/** @internal The state that an answer tells. */
export function stateIn({ answer }: Answered): RateLimiterState {
  const { permits, per, burst, slack, taken, reserved } = answer as wire.RateAnswer;
  return { permits, per: per / US, burst, slack: slack / US, taken, reserved };
}

/** @internal In how many milliseconds so many permits could go. */
export async function dueIn(rate: Rate, permits: number): Promise<number> {
  const { answer } = await rate.ask(['I', permits, -1]);
  if ('most' in answer) throw tooMany(rate, answer.most, permits);
  return Math.max(0, (answer.date - answer.moment) / US);
}

/** @internal Counts used permits; or gives back some, which the server must not hear twice. */
export async function spend(rate: Rate, permits: number): Promise<void> {
  await (permits < 0 ? rate.tellAwaited(['S', permits]) : rate.ask(['S', permits]));
}

/** @internal Takes permits if they may go now. Returns whether it has taken them. */
export function tryTake(rate: Rate, what: string, permits: number): Promise<boolean> {
  return take(rate, { what, permits, options: { timeout: 0 }, begin: () => true, late: () => false });
}

/**
 * Lets at most so many calls of all processes of a space begin in any window of so many milliseconds, in the order in
 * which they ask. `Space.rateLimiter` opens it.
 *
 * Source: a log of the window, which keeps the promise, beside the generic cell rate algorithm (ITU-T I.371), which
 * spreads the permits.
 */
export class RateLimiter {
  readonly #rate: Rate;

  /** @internal */
  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** The name in the space. */
  get name(): string {
    return this.#rate.name;
  }

  /** The most permits in a window, as far as this process knows. */
  get permits(): number {
    return this.#rate.numbers.permits;
  }

  /** The length of a window, in milliseconds. */
  get per(): number {
    return this.#rate.numbers.per / US;
  }

  /** How many permits may go at once after a pause. */
  get burst(): number {
    return this.#rate.numbers.burst;
  }

  /**
   * The number of requests of this process that wait, those that the server has not answered yet too. How many requests of
   * other processes wait, the server does not know: `inspect().reserved` says for how many permits.
   */
  get waiting(): number {
    return this.#rate.waiting;
  }

  /**
   * Takes permits: the promise is fulfilled when they may go. Takes one round trip, and then waits for the date that the
   * server has told. The code behind `await` runs a microtask later, or after the rest of the code that runs now, which
   * the limiter cannot see: `limit` begins exactly. Never blocks the thread.
   * @param permits 1 (the default) to `permits`. The options may stand in its place.
   * @param options a time-out and a signal. If the date is later than the time-out allows, the promise rejects at once.
   * @throws {RangeError | TypeError} (rejects) for a bad argument.
   * @throws {TimeoutError} (rejects) if the permits cannot go before the time-out has passed.
   * @throws {CancelledError} (rejects) when `cancelAll` was called.
   * @throws {DisposedError} (rejects) when the space is closed.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example await api.takeAsync({ timeout: 1000 });
   */
  takeAsync(permits?: number, options?: WaitOptions): Promise<void>;
  takeAsync(options: WaitOptions): Promise<void>;
  async takeAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    const [wanted, more] = requestOf<WaitOptions>([permits, options]);
    this.#check('takeAsync', wanted);
    await take(this.#rate, { what: `${KIND}.takeAsync`, permits: wanted, options: more, begin: () => {} });
  }

  /**
   * Takes permits if they may go now. Takes one round trip. Never blocks the thread.
   * @param permits 1 (the default) to `permits`.
   * @returns (resolves to) whether it has taken them.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example if (!(await api.tryTake())) console.log('too many requests');
   */
  async tryTake(permits = 1): Promise<boolean> {
    this.#check('tryTake', permits);
    return tryTake(this.#rate, `${KIND}.tryTake`, permits);
  }

  /**
   * Returns a function that waits until permits may go and then calls `run`, with its arguments and `this`. The call
   * begins in the step that looks at the clock, so it is never too early or too late. The calls may overlap.
   * Never blocks the thread.
   * @param request the number of permits that each call takes, 1 (the default) to `permits`; and a time-out and a signal
   * for the wait of each call. Each may be left out. There is no `until: 'end'` here: the server is not told when a call
   * ends.
   * @throws {RangeError | TypeError} for a bad number or option, or if `run` is not a function.
   * @example const get = api.limit((address: string) => fetch(address));
   */
  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: RateRequest<RateCallOptions>
  ): Limited<This, Arguments, T> {
    const what = `${KIND}.limit`;
    // Another process may have resized the rate, so the server says whether there are so many.
    return limitedByRate(
      KIND,
      run,
      request as RateRequest,
      MOST_PERMITS,
      (begin, { permits }, options) => take(this.#rate, { what, permits, options: options as WaitOptions, begin }),
      NO_END,
    );
  }

  #check(method: string, permits: number): void {
    // Another process may have resized the rate, so the server says whether there are so many.
    checkInteger(`${KIND}.${method}: permits`, permits, 1, MOST_PERMITS);
  }

  /**
   * Tells in how many milliseconds permits could go if they were asked for now: what a server says in `Retry-After`.
   * Takes one round trip. Never blocks the thread.
   * @param permits 1 (the default) to `permits`.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example response.setHeader('Retry-After', Math.ceil((await api.dueIn()) / 1000));
   */
  async dueIn(permits = 1): Promise<number> {
    this.#check('dueIn', permits);
    return dueIn(this.#rate, permits);
  }

  /**
   * Lets nobody go before so many milliseconds have passed, as a server wishes that answers 429 with `Retry-After`. The
   * dates of those who wait move back by as much. Other processes hear of it by a message, and may begin until they have
   * heard. A pause that ends later stays. Takes one round trip. Never blocks the thread.
   * @param milliseconds 0 to 2,147,483,647.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example await api.pause(1000 * Number(response.headers.get('Retry-After')));
   */
  async pause(milliseconds: number): Promise<void> {
    checkPause(KIND, milliseconds);
    await this.#rate.pause(Math.ceil(milliseconds * US));
  }

  /**
   * Counts permits that have been used, without waiting, also more than there are: those who ask from then on go later.
   * A number below 0 gives back permits that were taken and not used, as far as they still count. If the connection is
   * lost meanwhile, permits may count twice, and perhaps none go back. Takes one round trip, or two if this process is not
   * connected. Never blocks the thread.
   * @param permits -2,147,483,647 to 2,147,483,647.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example await tokens.spend(answer.usage.total - estimate);
   */
  async spend(permits: number): Promise<void> {
    checkSpent(KIND, permits);
    await spend(this.#rate, permits);
  }

  /**
   * Changes the numbers of the rate for all processes. Dates that were told stay. Whoever opens the rate afterwards gets
   * these numbers, whatever it names. Takes one round trip. Never blocks the thread.
   * @param permits the most permits in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds. Default: as before.
   * @param options `burst`; default: as before, but `permits` at most.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example await api.resize(50, 60_000);
   */
  async resize(permits: number, per = this.per, options: RateOptions = {}): Promise<void> {
    const { numbers } = this.#rate;
    const { burst } = numbers;
    const rate = checkResize(KIND, permits, per, options, { permits: this.permits, per: this.per, burst });
    await this.#rate.ask(['R'], { ...rate, per: rate.per * US, slack: numbers.slack });
  }

  /**
   * Cancels all requests of all processes that wait: their promises reject with a `CancelledError`, and their dates are
   * free again. Other processes hear of it by a message. Takes one round trip. Never blocks the thread.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example await api.cancelAll();
   */
  async cancelAll(): Promise<void> {
    await this.#rate.cancelAll();
  }

  /**
   * Tells the state of the rate on the server. Takes one round trip. Never blocks the thread.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example console.log((await api.inspect()).taken);
   */
  async inspect(): Promise<RateLimiterState> {
    return stateIn(await this.#rate.ask(['I']));
  }

  /** Returns, for example, `RateLimiter("api": 100 in 60000 ms)`. Never blocks, throws nothing. */
  toString(): string {
    return `${KIND}(${JSON.stringify(this.name)}: ${this.permits} in ${this.per} ms)`;
  }

  /** `RateLimiter`. */
  get [Symbol.toStringTag](): string {
    return KIND;
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }
}
