/**
 * A rate: so many permits in any window of so many milliseconds. What the limiters of tasks and of threads have in common:
 * their arguments. Both keep their promise by a schedule (schedule.ts).
 */
import { bad, checkChoice, checkInteger, checkOptions, checkType } from './errors.js';
import type { Key } from './keys.js';
import { type Limited, limited } from './limiting.js';
import { type PermitsRequest, requestOf, type WaitOptions } from './waits.js';

/** The options of a rate. */
export interface RateOptions {
  /**
   * How many permits may go at once after a pause, 1 (the default: they go evenly) to `permits` (all at once, and then
   * none until the window is over).
   */
  readonly burst?: number;
}

/** The numbers of a rate. */
export interface Rate {
  /** The most permits in a window. */
  readonly permits: number;
  /** The length of a window, in milliseconds. */
  readonly per: number;
  /** How many permits may go at once after a pause. */
  readonly burst: number;
}

/** A request that waits for a rate. */
export interface RateWaiterStats {
  /** The number of permits that it waits for. */
  readonly permits: number;
  /**
   * In how many milliseconds it goes, if all go on time and nobody in front of it leaves. `Infinity`: nobody knows, because
   * calls `until: 'end'` run.
   */
  readonly left: number;
}

/** @internal The most requests that `inspect` lists. */
export const MOST_WAITERS = 100;

/** How a call of `limit` takes its permits. */
export interface RateCallOptions extends WaitOptions {
  /** The number of permits that each call takes, 1 (the default) to `permits` of the constructor. */
  readonly permits?: number;
  /**
   * Until when a permit counts. `'begin'` (the default): for a window from the begin of the call on. `'end'`: while the
   * call runs, and then for a window. So a server that counts by its own clock never sees too many, however long the
   * requests are under way.
   */
  readonly until?: 'begin' | 'end';
}

/** How many permits each call of `limit` takes, and how. Each may be left out. */
export type RateRequest<Options = RateCallOptions> =
  | [permits?: number | undefined, options?: Options | undefined]
  | [options: Options];

/** What a `RateLimiter` of tasks and one of threads have in common. */
export interface RateLimiting<Request extends readonly unknown[] = PermitsRequest> extends Rate {
  /**
   * Returns a function that waits until permits may go and then calls `run`, with its arguments and `this`. The permits
   * are dated when `run` is called. Neither `limit` nor the returned function blocks the thread. The calls may overlap:
   * to limit how many are under way at a time, use a `Semaphore`.
   *
   *     const get = requests.limit((address: string) => fetch(address));
   *     const post = requests.limit(send, 2, { timeout: 1000 }); // each call takes two permits
   * @param request the number of permits that each call takes, 1 (the default) to `permits` of the constructor; and a
   * time-out and a signal for the wait of each call. Each may be left out. Time-out and signal do not end a call that
   * runs. `cancelAll` also ends the calls that still wait. The options may also say `until` when the permits count.
   * In `taketurns/keyed` the returned function calls `run` before it returns, if permits are free.
   * @throws {RangeError | TypeError} for a bad number or option, or if `run` is not a function.
   */
  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: Request
  ): Limited<This, Arguments, T>;
}

/** What makes functions wait for a rate of their key. */
export interface KeyedRateLimiting extends Rate {
  /**
   * Returns a function that waits until permits of a key may go and then calls `run`, with its arguments and `this`. The
   * first argument of each call is the key. The permits are dated when `run` is called. Neither `limit` nor the returned
   * function blocks the thread.
   *
   *     const get = hosts.limit(async (host: string, path: string) => fetch(`https://${host}${path}`));
   * @param request the number of permits that each call takes, 1 (the default) to `permits` of the constructor; and until
   * when they count, and a time-out and a signal for the wait of each call. Each may be left out. Time-out and signal do
   * not end a call that runs. `cancelAll` also ends the calls that still wait.
   * @throws {RangeError | TypeError} for a bad number or option, or if `run` is not a function.
   */
  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    ...request: RateRequest
  ): Limited<This, [key: K, ...args: Arguments], T>;
}

/**
 * @internal
 * Checks the arguments of `limit` of a rate, and returns its function.
 * @param most the number of permits that there are.
 * @param enter calls `call` when so many permits go. `stays` says whether they count until its result is settled.
 * @param noEnd why there is no `until: 'end'`, and what to do instead.
 */
export function limitedByRate<This, Arguments extends unknown[], T>(
  kind: string,
  run: (this: This, ...args: Arguments) => T,
  request: RateRequest,
  most: number,
  enter: (
    call: () => T,
    taken: { readonly permits: number; readonly stays: boolean },
    wait: WaitOptions | undefined,
    args: Arguments,
  ) => unknown,
  noEnd?: string,
): Limited<This, Arguments, T> {
  checkType(`${kind}.limit: run`, run, 'function', 'a function');
  const { wait: given, ...taken } = rateRequestOf(kind, request, most);
  if (taken.stays && noEnd) throw new RangeError(`${kind}.limit: until must be 'begin', got 'end': ${noEnd}`);
  return limited(kind, run, given, async (call, wait, args) => await enter(call, taken, wait, args));
}

/** Checks the request of `limit`, and returns its parts. */
function rateRequestOf(
  kind: string,
  request: RateRequest,
  most: number,
): { permits: number; stays: boolean; wait: WaitOptions | undefined } {
  const [number, options] = requestOf<RateCallOptions>(request);
  let permits = number;
  let stays = false;
  if (options !== undefined) {
    // Where the options come first, the number of permits may be among them.
    const isFirst = request[0] === options;
    checkOptions(`${kind}.limit`, options, [...(isFirst ? ['permits'] : []), 'until', 'timeout', 'signal']);
    if (isFirst && options.permits !== undefined) permits = options.permits;
    stays = checkChoice(`${kind}.limit: until`, options.until ?? 'begin', ['begin', 'end']) === 'end';
  }
  checkInteger(`${kind}.limit: permits`, permits, 1, most, ' (its permits)');
  if (options === undefined) return { permits, stays, wait: undefined };
  const { timeout, signal } = options;
  return {
    permits,
    stays,
    wait: { ...(timeout !== undefined && { timeout }), ...(signal !== undefined && { signal }) },
  };
}

const LIMIT = 2 ** 31 - 1;

/** @internal Checks the numbers of a rate, and returns them. */
export function checkRate(what: string, permits: number, per: number, { burst = 1 }: RateOptions): Rate {
  return {
    permits: checkInteger(`${what}: permits`, permits, 1, LIMIT),
    per: checkInteger(`${what}: per`, per, 1, LIMIT),
    burst: checkInteger(`${what}: burst`, burst, 1, permits, ' (its permits)'),
  };
}

/** @internal Checks the numbers of `resize`, and returns them. */
export function checkResize(kind: string, permits: number, per: number, options: RateOptions, before: Rate): Rate {
  checkOptions(`${kind}.resize`, options, ['burst']);
  checkInteger(`${kind}.resize: permits`, permits, 1, LIMIT);
  const { burst = Math.min(before.burst, permits) } = options;
  return checkRate(`${kind}.resize`, permits, per, { burst });
}

/** @internal The error of a request that waits for more permits than there are since `resize`. */
export function tooMany(kind: string, wanted: number, permits: number): RangeError {
  return new RangeError(`${kind}: a request waits for ${wanted} permits, and since resize there are ${permits}`);
}

/** @internal */
export function checkPause(kind: string, milliseconds: number): void {
  const LONGEST = 2 ** 31 - 1;
  if (typeof milliseconds === 'number' && milliseconds >= 0 && milliseconds <= LONGEST) return;
  // 1000 * Number(response.headers.get('Retry-After')) is NaN if the server has sent a date.
  const instead = Number.isNaN(milliseconds)
    ? 'if Retry-After is a date, write Math.max(Date.parse(date) - Date.now(), 0)'
    : '';
  throw bad('number', `${kind}.pause: milliseconds`, `from 0 to ${LONGEST}`, milliseconds, instead);
}

/** @internal */
export function checkSpent(kind: string, permits: number): void {
  checkInteger(`${kind}.spend: permits`, permits, -LIMIT, LIMIT);
}
