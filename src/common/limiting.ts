/**
 * `limit`: a function that waits for its turn before each call of the function of the user. All classes with `limit`,
 * of tasks, threads and processes, make it here.
 *
 * The interfaces have the docstrings of `limit`, one for all classes of a kind, and of `runExclusive` where the classes
 * of tasks and threads do the same. A class declares these methods without docstrings, and inherits one in two ways,
 * since editors differ: those of TypeScript 5 and 6 show the docstrings of what a class implements, and those of
 * TypeScript 7 only the docstrings of what it extends.
 *
 *     export interface Mutex extends MutexLimit {}
 *     export class Mutex extends SharedObject implements MutexLimit { ...
 *
 * TypeScript then does not notice if the class lacks `limit`. package-tests/test/hover.test.ts does.
 */
import { checkType, checkWait, type Wait } from './errors.js';
import type { Key } from './keys.js';
import type { PermitsRequest, WaitOptions } from './waits.js';

/** What `limit` returns for a function with this `this`, these arguments and this result. */
export type Limited<This, Arguments extends unknown[], T> = (this: This, ...args: Arguments) => Promise<Awaited<T>>;

/** `limit` of a mutex. */
export interface MutexLimit<Options = WaitOptions> {
  /**
   * Returns a function that calls `run` by `runExclusive`, and passes its arguments and `this` on to `run`. So the
   * calls of `run` exclude one another and all else that locks the mutex, in the order in which they ask for it.
   * `cancelAll` and the signal end the calls that still wait. Neither `limit` nor the returned function blocks the
   * thread.
   *
   *     const deposit = mutex.limit(async (sum: number) => save(sum), { timeout: 1000 });
   * @param options a time-out and a signal for the wait of each call. They do not end a call that runs.
   * @throws {RangeError | TypeError} for a bad option, or if `run` is not a function.
   * @since 0.3.0
   */
  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    options?: Options,
  ): Limited<This, Arguments, T>;
}

/** `limit` of a semaphore. */
export interface SemaphoreLimit<Options = WaitOptions> {
  /**
   * Returns a function that calls `run` by `runExclusive`, and passes its arguments and `this` on to `run`. So at most
   * as many calls of `run` are under way at a time as the permits allow, in all tasks, threads or processes that share
   * the semaphore. Neither `limit` nor the returned function blocks the thread.
   *
   *     const get = pool.limit((address: string) => fetch(address));
   *     const pages = await Promise.all(addresses.map((address) => get(address)));
   *     const query = pool.limit(ask, 2, { timeout: 1000 }); // each call takes two permits
   * @param request the number of permits that each call takes, 1 (the default) to `max`; and a time-out and a signal
   * for the wait of each call. Each may be left out. Time-out and signal do not end a call that runs. `cancelAll` also
   * ends the calls that still wait.
   * @throws {RangeError | TypeError} for a bad number or option, or if `run` is not a function.
   */
  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: PermitsRequest<Options>
  ): Limited<This, Arguments, T>;
}

/** What runs functions in their turn, of a semaphore of tasks or threads. */
export interface SemaphoreRuns extends SemaphoreLimit {
  /**
   * Takes permits by `acquireAsync`, calls a function, and gives the permits back when its result is settled. Never
   * blocks the thread. If the function itself waits for permits of the same semaphore, it may wait for itself.
   * @param request the number of permits, 1 (the default) to `max`; and a time-out and a signal for the wait. Each may be
   * left out.
   * @returns a promise of the result. It rejects with the error of the function or of `acquireAsync`.
   * @example const page = await pool.runExclusive(() => fetch(address));
   */
  runExclusive<T>(run: () => T | PromiseLike<T>, ...request: PermitsRequest): Promise<T>;
}

/** What runs functions in their turn, of a mutex for each key. */
export interface KeyedMutexRuns {
  /**
   * Locks a key as `holdAsync` does, calls a function, and unlocks when its result is settled. Never blocks. The
   * function must not wait for the same key: it would wait for itself.
   * @returns a promise of the result. It rejects with the error of the function or of `holdAsync`.
   * @example await accounts.runExclusive('Ann', async () => deposit(5), { timeout: 50 });
   */
  runExclusive<T>(key: Key, run: () => T | PromiseLike<T>, options?: WaitOptions): Promise<T>;

  /**
   * Returns a function that calls `run` by `runExclusive`, and passes its arguments and `this` on to `run`. The first
   * argument of each call is the key. Neither `limit` nor the returned function blocks the thread.
   *
   *     const save = accounts.limit(async (id: string, balance: number) => {});
   *     await Promise.all([save('Ann', 1), save('Ann', 2), save('Bob', 3)]); // the two of Ann one after the other
   * @param options a time-out and a signal for the wait of each call. They do not end a call that runs. `cancelAll`
   * also ends the calls that still wait.
   * @throws {RangeError | TypeError} for a bad option, or if `run` is not a function.
   */
  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    options?: WaitOptions,
  ): Limited<This, [key: K, ...args: Arguments], T>;
}

/** What runs functions in their turn, of a semaphore for each key. */
export interface KeyedSemaphoreRuns {
  /**
   * Takes permits of a key as `holdAsync` does, calls a function, and gives the permits back when its result is
   * settled. Never blocks. If the function itself waits for the same key, it may wait for itself.
   * @param request the number of permits, 1 (the default) to `permits` of the constructor; and a time-out and a signal
   * for the wait. Each may be left out.
   * @returns a promise of the result. It rejects with the error of the function or of `holdAsync`.
   * @example const page = await hosts.runExclusive('example.org', () => fetch(address));
   */
  runExclusive<T>(key: Key, run: () => T | PromiseLike<T>, ...request: PermitsRequest): Promise<T>;

  /**
   * Returns a function that calls `run` by `runExclusive`, and passes its arguments and `this` on to `run`. The first
   * argument of each call is the key. Neither `limit` nor the returned function blocks the thread.
   *
   *     const get = hosts.limit(async (host: string, path: string) => fetch(`https://${host}${path}`));
   * @param request the number of permits that each call takes, 1 (the default) to `permits` of the constructor; and a
   * time-out and a signal for the wait of each call. Each may be left out. Time-out and signal do not end a call that
   * runs. `cancelAll` also ends the calls that still wait.
   * @throws {RangeError | TypeError} for a bad number or option, or if `run` is not a function.
   */
  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    ...request: PermitsRequest
  ): Limited<This, [key: K, ...args: Arguments], T>;
}

/**
 * @internal
 * Checks the arguments of `limit`, and returns its function.
 * @param enter makes `call` in its turn. It gets the options of the wait, and the arguments of the call.
 */
export function limited<This, Arguments extends unknown[], T, Options extends Wait>(
  kind: string,
  run: (this: This, ...args: Arguments) => T,
  options: Options | undefined,
  enter: (call: () => T, options: Options | undefined, args: Arguments) => Promise<unknown>,
): Limited<This, Arguments, T> {
  checkType(`${kind}.limit: run`, run, 'function', 'a function');
  const wait = options === undefined ? options : kept(kind, options);
  return function (...args) {
    return enter(() => run.apply(this, args), wait, args) as Promise<Awaited<T>>;
  };
}

/**
 * Returns the options as they are now, so that each later call waits by the options that were checked. If the signal is
 * aborted already, `limit` does not throw: each call then rejects with the reason of the signal.
 */
function kept<Options extends Wait>(kind: string, options: Options): Options {
  checkWait(`${kind}.limit`, options);
  const { timeout, signal } = options;
  return { timeout, signal } as Options;
}
