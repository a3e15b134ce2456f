/** A counting semaphore of a space: first come, first served, by the order in which requests reach the server. */
import type { WaitOptions } from './acquire.js';
import { checkInteger, checkType } from './errors.js';
import { ask, askAtOnce, during, Handle } from './handle.js';
import { HeldPermits } from './hold.js';
import { disposed, MOST_PERMITS } from './object.js';
import * as wire from './wire.js';

/**
 * A semaphore that all processes of a space share. Permits belong to the guard that holds them. A request for several
 * permits at the head of the queue holds up lighter ones behind it. `Space.semaphore` opens it.
 */
export class Semaphore extends Handle {
  /** The number of permits that there are, as this process has last heard. */
  get max(): number {
    return this.object.settings.max;
  }

  #permits(what: string, permits: unknown): number {
    return checkInteger(`Semaphore.${what}: permits`, permits, 1, this.max);
  }

  /** The permits of a request, checked. If they seem too many, the server is asked: somebody may have resized the semaphore. */
  #wanted(what: string, permits: unknown): number | Promise<number> {
    const check = (): number => this.#permits(what, permits);
    return Number.isInteger(permits) && (permits as number) > this.max ? this.inspect(0).then(check) : check();
  }

  /**
   * Waits for permits.
   *
   *     await using held = await pool.holdAsync(2, { timeout: 500 });
   *     await query(held.signal);
   * @param permits 1 to `max`. Default 1.
   * @throws (rejects) {RangeError | TypeError} for a bad argument.
   * @throws (rejects) {TimeoutError} when the time-out has passed; it holds nothing then.
   * @throws (rejects) {CancelledError | DisposedError} when `cancelAll` or `dispose` was called.
   * @throws (rejects) {SpaceError} when the server refuses, with its code.
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
    // Requests of one turn of the event loop are made in its order.
    return this[ask](what, typeof wanted === 'number' ? wanted : await wanted, HeldPermits, options);
  }

  /**
   * Takes permits if they are to be had at once and nobody waits. One round trip.
   * @returns (resolves to) undefined if they are not.
   */
  tryHold(permits?: number): Promise<HeldPermits | undefined>;
  async tryHold(permits = 1, ...none: readonly unknown[]): Promise<HeldPermits | undefined> {
    const wanted = this.#wanted('tryHold', permits);
    return this[askAtOnce]('tryHold', typeof wanted === 'number' ? wanted : await wanted, HeldPermits, none);
  }

  /**
   * Holds permits while a function runs and its promise is pending.
   *
   *     await pool.runExclusive(async ({ signal }) => query(signal), 2);
   * @param permits 1 (the default) to `max`. The options may stand in its place.
   * @returns a promise of the result. It rejects with the error of the function, of `holdAsync`, and with a
   * `LeaseLostError` if the lease was lost before the function was done.
   */
  runExclusive<T>(run: (held: HeldPermits) => T | PromiseLike<T>, permits?: number, options?: WaitOptions): Promise<T>;
  runExclusive<T>(run: (held: HeldPermits) => T | PromiseLike<T>, options: WaitOptions): Promise<T>;
  async runExclusive<T>(
    run: (held: HeldPermits) => T | PromiseLike<T>,
    permits?: number | WaitOptions,
    options?: WaitOptions,
  ): Promise<T> {
    checkType('Semaphore.runExclusive: run', run, 'function', 'a function');
    return this[during](await this.#hold('runExclusive', permits, options), run);
  }

  /**
   * Makes a function that runs only while it holds permits: in all processes together, as many at a time as there are.
   *
   *     const get = pool.limit((address: string) => fetch(address));
   * @param permits those that each call takes, 1 (the default) to `max`.
   * @throws {RangeError | TypeError} for a bad argument.
   */
  limit<This, Arguments extends unknown[], T>(
    run: (this: This, ...args: Arguments) => T,
    permits = 1,
  ): (this: This, ...args: Arguments) => Promise<Awaited<T>> {
    checkType('Semaphore.limit: run', run, 'function', 'a function');
    this.#permits('limit', permits);
    const exclusively = (call: () => unknown) => this.runExclusive(call, permits) as Promise<Awaited<T>>;
    return function (...args) {
      return exclusively(() => run.apply(this, args));
    };
  }

  /**
   * Gives the semaphore another number of permits, for all processes. With more, those who wait are served at once, in
   * turn. With fewer, those who hold go on, and nobody is admitted until there is room; a request for more permits than
   * there are then fails with a `RangeError`, at the latest when its turn comes. From then on `Space.semaphore` opens it
   * with whatever number, so a new release may ask for 8 while the one before asks for 4.
   *
   *     await pool.resize(8);
   * @param permits 1 to 2,147,483,647.
   * @throws (rejects) {RangeError | TypeError} for a bad number.
   * @throws (rejects) {DisposedError} if it has been disposed of.
   * @throws (rejects) {SpaceError} when no server answers within `connectTimeout`, or it refuses.
   */
  async resize(permits: number): Promise<void> {
    const { object, session } = this;
    const max = checkInteger('Semaphore.resize: permits', permits, 1, MOST_PERMITS);
    if (object.broken) throw object.broken;
    const answer = await session.operate(wire.resize(object.name, object.born, max));
    // An ephemeral one that is idle is none on the server: the next request makes it.
    if (answer === wire.DISPOSED && !object.settings.ephemeral) throw disposed(object);
    object.resize(max);
  }

  /** `Semaphore`. */
  get [Symbol.toStringTag](): string {
    return 'Semaphore';
  }
}
