/** A counting semaphore of a space: first come, first served, by the order in which requests reach the server. */

import { type Limited, limited, type SemaphoreLimit } from '../../../src/common/limiting.js';
import { type PermitsRequest, requestOf } from '../../../src/common/waits.js';
import { checkInteger, checkType } from '../errors.js';
import * as wire from '../script/wire.js';
import { disposed, MOST_PERMITS } from '../session/shared-object.js';
import type { WaitOptions } from './acquire.js';
import { ask, askAtOnce, during, Handle } from './handle.js';
import { HeldPermits } from './hold.js';

export interface Semaphore extends SemaphoreLimit<WaitOptions> {}

/**
 * A semaphore that all processes of a space share. Only the guard that holds permits can give them back. If the head of
 * the queue waits for several permits, all requests behind it wait too, even for fewer permits. `Space.semaphore` opens
 * a semaphore.
 */
export class Semaphore extends Handle implements SemaphoreLimit<WaitOptions> {
  /** The number of permits of the semaphore, as this process last heard. */
  get max(): number {
    return this.object.settings.max;
  }

  #permits(what: string, permits: unknown): number {
    return checkInteger(`Semaphore.${what}: permits`, permits, 1, this.max);
  }

  /**
   * Checks the permits of a request. If they seem too many, asks the server: somebody may have resized the semaphore.
   */
  #wanted(what: string, permits: unknown): number | Promise<number> {
    const check = (): number => this.#permits(what, permits);
    return Number.isInteger(permits) && (permits as number) > this.max ? this.inspect(0).then(check) : check();
  }

  /**
   * Waits for permits. Never blocks the thread.
   *
   *     await using held = await pool.holdAsync(2, { timeout: 500 });
   *     await query(held.signal);
   * @param permits 1 to `max`. Default 1.
   * @throws {RangeError | TypeError} (rejects) for a bad argument.
   * @throws {TimeoutError} (rejects) when the time-out has passed. The request holds nothing then.
   * @throws {CancelledError | DisposedError} (rejects) when `cancelAll` or `dispose` was called.
   * @throws {SpaceError} (rejects) when the server refuses, with the code of its error.
   */
  holdAsync(permits?: number, options?: WaitOptions): Promise<HeldPermits>;
  holdAsync(options: WaitOptions): Promise<HeldPermits>;
  holdAsync(permits?: number | WaitOptions, options?: WaitOptions): Promise<HeldPermits> {
    return this.#hold('holdAsync', permits, options);
  }

  async #hold(what: string, permits: number | WaitOptions = 1, options?: WaitOptions): Promise<HeldPermits> {
    // The options may stand in the place of the number.
    if (typeof permits === 'object' && options === undefined) return this.#hold(what, 1, permits);
    const wanted = this.#wanted(what, permits);
    // The call awaits only where it must. So the requests of one iteration of the event loop are made in the order of
    // the calls.
    return this[ask](what, typeof wanted === 'number' ? wanted : await wanted, HeldPermits, options);
  }

  /**
   * Takes permits if they are free and nobody waits. Takes one round trip. Never blocks the thread.
   * @param permits 1 (the default) to `max`.
   * @returns (resolves to) undefined if too few permits are free or somebody waits.
   * @throws (rejects) as `holdAsync`, but never for a time-out.
   * @example await using held = await pool.tryHold(2);
   */
  tryHold(permits?: number): Promise<HeldPermits | undefined>;
  async tryHold(permits = 1, ...none: readonly unknown[]): Promise<HeldPermits | undefined> {
    const wanted = this.#wanted('tryHold', permits);
    return this[askAtOnce]('tryHold', typeof wanted === 'number' ? wanted : await wanted, HeldPermits, none);
  }

  /**
   * Holds permits while a function runs and its promise is pending. Never blocks the thread.
   * @param permits 1 (the default) to `max`. You may pass the options in its place.
   * @returns a promise of the function's result. It rejects with the error of the function or of `holdAsync`, and with
   * a `LeaseLostError` if the lease was lost before the function was done.
   * @example await pool.runExclusive(async ({ signal }) => query(signal), 2);
   */
  runExclusive<T>(run: (held: HeldPermits) => T | PromiseLike<T>, permits?: number, options?: WaitOptions): Promise<T>;
  runExclusive<T>(run: (held: HeldPermits) => T | PromiseLike<T>, options: WaitOptions): Promise<T>;
  async runExclusive<T>(
    run: (held: HeldPermits) => T | PromiseLike<T>,
    permits?: number | WaitOptions,
    options?: WaitOptions,
  ): Promise<T> {
    checkType('Semaphore.runExclusive: run', run, 'function', 'a function');
    return this[during](this.#hold('runExclusive', permits, options), run);
  }

  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    ...request: PermitsRequest<WaitOptions>
  ): Limited<This, Arguments, T> {
    const [permits, options] = requestOf(request);
    const get = limited('Semaphore', run, options, (call, wait) => this.runExclusive(call, permits, wait));
    this.#permits('limit', permits);
    return get;
  }

  /**
   * Gives the semaphore another number of permits, for all processes. With more permits, waiters are served at once, in
   * their order. With fewer, the holders keep what they hold, and nobody is admitted until enough is given back. A
   * request for more than the new number fails with a `RangeError`, at the latest when it is at the head of the queue.
   * Never blocks the thread.
   *
   * From now on `Space.semaphore` opens the semaphore with any number of permits. So a new version of your program may
   * ask for 8 permits while the old version still asks for 4.
   * @param permits 1 to 2,147,483,647.
   * @throws {RangeError | TypeError} (rejects) for a bad number.
   * @throws {DisposedError} (rejects) if the semaphore has been disposed of.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example await pool.resize(8);
   */
  async resize(permits: number): Promise<void> {
    const { object, session } = this;
    const max = checkInteger('Semaphore.resize: permits', permits, 1, MOST_PERMITS);
    if (object.broken) throw object.broken;
    const answer = await session.calls.operate(wire.resize(object.name, object.born, max));
    // The server does not keep an idle ephemeral semaphore. The next request makes it, with the new number.
    if (answer === wire.DISPOSED && !object.settings.ephemeral) throw disposed(object);
    object.resize(max);
  }

  /** `Semaphore`. */
  get [Symbol.toStringTag](): string {
    return 'Semaphore';
  }
}
