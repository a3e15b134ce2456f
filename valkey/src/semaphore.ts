/** A counting semaphore of a space: first come, first served, by the order in which requests reach the server. */
import { WAIT_OPTIONS, type WaitOptions } from './acquire.js';
import { checkFunction, checkInteger } from './errors.js';
import { Handle } from './handle.js';
import { HeldPermits } from './hold.js';

/** The options of `Semaphore.runExclusive`. */
export interface RunOptions extends WaitOptions {
  /** The number of permits, 1 to `max`. Default 1. */
  readonly permits?: number | undefined;
}

/**
 * A semaphore that all processes of a space share. Permits belong to the guard that holds them. A request for several
 * permits at the head of the queue holds up lighter ones behind it. `Space.semaphore` opens it.
 */
export class Semaphore extends Handle {
  /** The number of permits that there are. */
  get max(): number {
    return this.object.settings.max;
  }

  #permits(what: string, permits: unknown): number {
    return checkInteger(`Semaphore.${what}: permits`, permits, 1, this.max);
  }

  /**
   * Waits for permits.
   *
   *     await using held = await pool.holdAsync(2, { timeout: 500 });
   *     await write(row, held.token);
   * @param permits 1 to `max`. Default 1.
   * @throws (rejects) {RangeError | TypeError} for a bad argument.
   * @throws (rejects) {TimeoutError} when the time-out has passed; it holds nothing then.
   * @throws (rejects) {CancelledError | DisposedError} when `cancelAll` or `dispose` was called.
   * @throws (rejects) {SpaceError} when the server refuses, with its code.
   */
  async holdAsync(permits: number | WaitOptions = 1, options?: WaitOptions): Promise<HeldPermits> {
    if (typeof permits === 'object' && permits !== null && options === undefined) {
      return new HeldPermits(await this.acquire('holdAsync', 1, permits));
    }
    return new HeldPermits(await this.acquire('holdAsync', this.#permits('holdAsync', permits), options));
  }

  /**
   * Takes permits if they are to be had at once and nobody waits. One round trip.
   * @returns (resolves to) undefined if they are not.
   */
  async tryHold(permits = 1): Promise<HeldPermits | undefined> {
    const hold = await this.try('tryHold', this.#permits('tryHold', permits));
    return hold && new HeldPermits(hold);
  }

  /**
   * Holds permits while a function runs and its promise is pending.
   *
   *     await pool.runExclusive(async ({ token, signal }) => write(row, token, signal), { permits: 2 });
   * @returns a promise of the result. It rejects with the error of the function, of `holdAsync`, and with a
   * `LeaseLostError` if the lease was lost before the function was done.
   */
  async runExclusive<T>(run: (held: HeldPermits) => T | PromiseLike<T>, options: RunOptions = {}): Promise<T> {
    checkFunction('Semaphore.runExclusive: run', run);
    const permits = this.#permits('runExclusive', options?.permits ?? 1);
    const hold = await this.acquire('runExclusive', permits, options, [...WAIT_OPTIONS, 'permits']);
    return this.run(new HeldPermits(hold), run);
  }

  /** `Semaphore`. */
  get [Symbol.toStringTag](): string {
    return 'Semaphore';
  }
}
