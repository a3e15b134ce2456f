/**
 * A rate for each key, of all processes of a space. Each key is a rate of the table of rates, whose name has the name of
 * the limiter and the key. The server forgets a key when nothing of it counts any more, and so does this process.
 */
import { checkKey, type Key } from '../../../src/common/keys.js';
import type { Limited } from '../../../src/common/limiting.js';
import {
  checkPause,
  checkSpent,
  limitedByRate,
  type Rate as Numbers,
  type RateRequest,
} from '../../../src/common/rate.js';
import { inspected, shown } from '../../../src/common/shown.js';
import { requestOf } from '../../../src/common/waits.js';
import { checkInteger, checkName } from '../errors.js';
import type * as wire from '../script/wire.js';
import type { Rate } from '../session/rates.js';
import type { Session } from '../session/session.js';
import type { WaitOptions } from './acquire.js';
import { dueIn, type RateLimiterState, spend, stateIn, tryTake } from './rate-limiter.js';
import { NO_END, type RateCallOptions, type RateLimiterOptions, take, US } from './rate-wait.js';

/** The options of a rate for each key. */
export type KeyedRateLimiterOptions = RateLimiterOptions;

const KIND = 'KeyedRateLimiter';
/** The longest key, in bytes. */
const LONGEST_KEY = 256;

/**
 * A rate for each key: at most so many calls of all processes of a space begin for a key in any window of so many
 * milliseconds, in the order in which they ask. `Space.keyedRateLimiter` makes it. A key needs no set-up. Of a key whose
 * permits count no more, nothing is kept. A key is a string of 1 to 256 bytes of UTF-8 without NUL, or an integer; `1`
 * and `'1'` are two keys.
 *
 * Source: as `RateLimiter`.
 */
export class KeyedRateLimiter {
  readonly #sessionOf: (rate: string) => Session;
  /** All sessions of the space. */
  readonly #sessions: () => Iterable<Session>;
  readonly #numbers: wire.RateNumbers;
  readonly #name: string;

  /** @internal */
  constructor(
    sessionOf: (rate: string) => Session,
    sessions: () => Iterable<Session>,
    name: string,
    numbers: wire.RateNumbers,
  ) {
    this.#sessionOf = sessionOf;
    this.#sessions = sessions;
    this.#name = name;
    this.#numbers = numbers;
  }

  /** The name in the space. */
  get name(): string {
    return this.#name;
  }

  /** The most permits of a key in a window. */
  get permits(): number {
    return this.#numbers.permits;
  }

  /** The length of a window, in milliseconds. */
  get per(): number {
    return this.#numbers.per / US;
  }

  /** How many permits of a key may go at once after a pause. */
  get burst(): number {
    return this.#numbers.burst;
  }

  /** The number of requests of this process that wait, for all keys. It looks at each rate that this process knows. */
  get waiting(): number {
    let waiting = 0;
    for (const { rates } of this.#sessions()) waiting += rates.waiting(`${this.#name}\0`);
    return waiting;
  }

  #of(method: string, key: Key): Rate {
    checkKey(KIND, method, key);
    if (typeof key === 'string') checkName(`${KIND}.${method}: key`, key, LONGEST_KEY);
    const name = `${this.#name}\0${typeof key === 'string' ? 's' : 'i'}${key}`;
    const rate = this.#sessionOf(name).rates.of(name, this.#numbers);
    rate.numbers = { ...this.#numbers, slack: rate.numbers.slack };
    rate.opens(this.#numbers.slack);
    return rate;
  }

  #check(method: string, permits: number): void {
    checkInteger(`${KIND}.${method}: permits`, permits, 1, this.permits, ' (its permits)');
  }

  /**
   * Takes permits of a key: the promise is fulfilled when they may go. Takes one round trip, and then waits for the date
   * that the server has told. `limit` begins exactly, as `RateLimiter.takeAsync` says. Never blocks the thread.
   * @param permits 1 (the default) to `permits`. The options may stand in its place.
   * @param options a time-out and a signal. If the date is later than the time-out allows, the promise rejects at once.
   * @throws {RangeError | TypeError} (rejects) for a bad argument.
   * @throws {TimeoutError} (rejects) if the permits cannot go before the time-out has passed.
   * @throws {CancelledError} (rejects) when `cancelAll` was called for the key.
   * @throws {DisposedError} (rejects) when the space is closed.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example await users.takeAsync('Ann', { timeout: 1000 });
   */
  takeAsync(key: Key, permits?: number, options?: WaitOptions): Promise<void>;
  takeAsync(key: Key, options: WaitOptions): Promise<void>;
  async takeAsync(key: Key, permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    const [wanted, more] = requestOf<WaitOptions>([permits, options]);
    const rate = this.#of('takeAsync', key);
    this.#check('takeAsync', wanted);
    await take(rate, { what: `${KIND}.takeAsync`, permits: wanted, options: more, begin: () => {} });
  }

  /**
   * Takes permits of a key if they may go now. Takes one round trip. Never blocks the thread.
   * @param permits 1 (the default) to `permits`.
   * @returns (resolves to) whether it has taken them.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example if (!(await users.tryTake(request.ip))) response.writeHead(429);
   */
  async tryTake(key: Key, permits = 1): Promise<boolean> {
    const rate = this.#of('tryTake', key);
    this.#check('tryTake', permits);
    return tryTake(rate, `${KIND}.tryTake`, permits);
  }

  /**
   * Returns a function that waits until permits of a key may go and then calls `run`, with its arguments and `this`. The
   * first argument of each call is the key. The call begins in the step that looks at the clock, so it is never too early
   * or too late. The calls may overlap. Never blocks the thread.
   * @param request the number of permits that each call takes, 1 (the default) to `permits`; and a time-out and a signal
   * for the wait of each call. Each may be left out. There is no `until: 'end'` here: the server is not told when a call
   * ends.
   * @throws {RangeError | TypeError} for a bad number or option, or if `run` is not a function.
   * @example const get = hosts.limit((host: string, path: string) => fetch(`https://${host}${path}`));
   */
  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    ...request: RateRequest<RateCallOptions>
  ): Limited<This, [key: K, ...args: Arguments], T> {
    const what = `${KIND}.limit`;
    return limitedByRate(
      KIND,
      run,
      request as RateRequest,
      this.permits,
      (begin, { permits }, options, [key]) =>
        take(this.#of('limit', key), { what, permits, options: options as WaitOptions, begin }),
      NO_END,
    );
  }

  /**
   * Tells in how many milliseconds permits of a key could go if they were asked for now: what a server says in
   * `Retry-After`. Takes one round trip. Never blocks the thread.
   * @param permits 1 (the default) to `permits`.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example response.setHeader('Retry-After', Math.ceil((await users.dueIn('Ann')) / 1000));
   */
  async dueIn(key: Key, permits = 1): Promise<number> {
    const rate = this.#of('dueIn', key);
    this.#check('dueIn', permits);
    return dueIn(rate, permits);
  }

  /**
   * Lets nobody go for a key before so many milliseconds have passed, as `RateLimiter.pause` does for a rate. Takes one
   * round trip. Never blocks the thread.
   * @param milliseconds 0 to 2,147,483,647.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example await hosts.pause('example.org', 1000 * Number(response.headers.get('Retry-After')));
   */
  async pause(key: Key, milliseconds: number): Promise<void> {
    const rate = this.#of('pause', key);
    checkPause(KIND, milliseconds);
    await rate.pause(Math.ceil(milliseconds * US));
  }

  /**
   * Counts permits of a key that have been used, without waiting, also more than there are. A number below 0 gives back
   * permits that were taken and not used. If the connection is lost meanwhile, permits may count twice, and perhaps none
   * go back. Takes one round trip, or two if this process is not connected. Never blocks the thread.
   * @param permits -2,147,483,647 to 2,147,483,647.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example await tokens.spend('Ann', answer.usage.total - estimate);
   */
  async spend(key: Key, permits: number): Promise<void> {
    const rate = this.#of('spend', key);
    checkSpent(KIND, permits);
    await spend(rate, permits);
  }

  /**
   * Cancels all requests of all processes that wait for a key: their promises reject with a `CancelledError`, and their
   * dates are free again. Takes one round trip. Never blocks the thread.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example await users.cancelAll('Ann');
   */
  async cancelAll(key: Key): Promise<void> {
    await this.#of('cancelAll', key).cancelAll();
  }

  /**
   * Tells the state of a key on the server. Takes one round trip. Never blocks the thread.
   * @throws (rejects) as `takeAsync`, but never for a time-out.
   * @example console.log((await users.inspect('Ann')).taken);
   */
  async inspect(key: Key): Promise<RateLimiterState> {
    return stateIn(await this.#of('inspect', key).ask(['I']));
  }

  /** Returns, for example, `KeyedRateLimiter("users": 100 in 60000 ms)`. Never blocks, throws nothing. */
  toString(): string {
    const { permits, per } = this satisfies Numbers;
    return `${KIND}(${JSON.stringify(this.#name)}: ${permits} in ${per} ms)`;
  }

  /** `KeyedRateLimiter`. */
  get [Symbol.toStringTag](): string {
    return KIND;
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }
}
