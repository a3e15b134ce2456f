/**
 * KeyedRateLimiter is a rate for each key.
 *
 *     key ──► a cell        of 48 to 80 bytes, in a table (keyed-cells.ts). Nobody waits for the key
 *         ──► a RateQueue   if a request waits for the key, or a function is limited by it: the schedule of the key, and
 *                           the promises that wait for it (rate-queue.ts)
 *
 * A key has one of both. When the first request is to wait for a key, the log of its cell goes into a queue (`#of`). When
 * nobody waits any more, it goes back (`#tidy`): each new key looks at two queues, all in turn.
 */
import { checkInteger, checkOptions } from '../common/errors.js';
import { checkKey, type Key, keyText, keyToInspect } from '../common/keys.js';
import type { Limited } from '../common/limiting.js';
import {
  checkPause,
  checkRate,
  checkSpent,
  type KeyedRateLimiting,
  limitedByRate,
  type Rate,
  type RateOptions,
  type RateRequest,
} from '../common/rate.js';
import { requestOf, type WaitOptions } from '../common/waits.js';
import { KeyedCells } from './keyed-cells.js';
import type { RateLimiterStats } from './rate-limiter.js';
import { RateQueue } from './rate-queue.js';
import { begin, checkOpen, close, count, DONE, state, TaskObject } from './task-object.js';

/** The options of a new `KeyedRateLimiter`. */
export type KeyedRateLimiterOptions = RateOptions;

/** What `KeyedRateLimiter.inspect` tells about all keys. */
export interface KeyedRateLimiterStats extends Rate {
  /** The number of keys of which something counts. */
  readonly size: number;
  /** The number of promises that wait, for all keys together. */
  readonly waiting: number;
}

const KIND = 'KeyedRateLimiter';

export interface KeyedRateLimiter extends KeyedRateLimiting {}

/**
 * A rate for each key, for the tasks of one thread: at most so many permits of a key begin in any window of so many
 * milliseconds, in the order of the calls. A key needs no set-up. Of a key whose permits count no more, nothing is kept.
 *
 * A key for which nobody waits takes about 100 bytes. With more than 7 permits it may get a little less than its rate, and
 * never more; see docs/rate-limiter.md.
 *
 * Source: a log of the window beside the generic cell rate algorithm (ITU-T I.371), as in `RateLimiter`.
 *
 * @example
 * ```ts
 * import { KeyedRateLimiter } from 'taketurns/tasks';
 *
 * const users = new KeyedRateLimiter(100, 60_000, { burst: 10 }); // 100 in any minute, for each user
 * if (!users.tryTake('Ann')) console.log('429, Retry-After:', Math.ceil(users.dueIn('Ann') / 1000));
 * ```
 * @since 0.3.0
 */
export class KeyedRateLimiter extends TaskObject implements KeyedRateLimiting {
  readonly #rate: Rate;
  readonly #cells: KeyedCells;
  readonly #queues = new Map<Key, RateQueue>();
  /** The keys of the queues at which the next new key looks. */
  #toLookAt = this.#queues.keys();

  /**
   * @param permits the most permits of a key in a window, 1 to 2,147,483,647.
   * @param per the length of a window, 1 to 2,147,483,647 milliseconds.
   * @throws {RangeError | TypeError} for a bad number or option.
   */
  constructor(permits: number, per: number, options: KeyedRateLimiterOptions = {}) {
    super(KIND);
    checkOptions(KIND, options, ['burst']);
    this.#rate = checkRate(KIND, permits, per, options);
    this.#cells = new KeyedCells(this.#rate, () => this.#tidy());
  }

  /** The most permits of a key in a window. */
  get permits(): number {
    return this.#rate.permits;
  }

  /** The length of a window, in milliseconds. */
  get per(): number {
    return this.#rate.per;
  }

  /** How many permits of a key may go at once after a pause. */
  get burst(): number {
    return this.#rate.burst;
  }

  /** The number of keys of which something counts. It looks at the room for each key. */
  get size(): number {
    return this.#size;
  }

  get #size(): number {
    let { size } = this.#cells;
    for (const queue of this.#queues.values()) if (!queue.isFresh) size++;
    return size;
  }

  /** The number of promises that wait, for all keys together. It looks at every key that somebody waits for. */
  override get waiting(): number {
    return this[count];
  }

  /** @internal */
  protected get [count](): number {
    let waiting = 0;
    for (const queue of this.#queues.values()) waiting += queue.count;
    return waiting;
  }

  /** Returns the queue of a key, and makes it if there is none. */
  #of(key: Key): RateQueue {
    const known = this.#queues.get(key);
    if (known) return known;
    this.#tidy();
    const queue = new RateQueue(this.#rate, `${keyText(key)} of the ${KIND}`);
    const state = this.#cells.stateOf(key);
    if (state) queue.restore(state);
    // If an exhausted stack cuts this short, the key has both, and the queue counts.
    this.#queues.set(key, queue);
    this.#cells.forget(key);
    return queue;
  }

  /** Looks at two queues. If nobody waits in one, its key gets a cell again, or is forgotten. */
  #tidy(): void {
    for (let looks = 0; looks < 2 && this.#queues.size > 0; looks++) {
      let next = this.#toLookAt.next();
      if (next.done) {
        this.#toLookAt = this.#queues.keys();
        next = this.#toLookAt.next();
        if (next.done) return;
      }
      const queue = this.#queues.get(next.value);
      const state = queue?.state;
      if (!state) continue;
      if (!queue?.isFresh) this.#cells.give(next.value, state);
      this.#queues.delete(next.value);
    }
  }

  #check(method: string, key: Key, permits: number): void {
    checkKey(KIND, method, key);
    checkInteger(`${KIND}.${method}: permits`, permits, 1, this.#rate.permits, ' (its permits)');
  }

  /**
   * Takes permits of a key: the promise is fulfilled when they may go. Never blocks. They count from then on, as those of
   * `RateLimiter.takeAsync` do; `limit` dates exactly.
   * @param permits 1 (the default) to `permits` of the constructor. The options may stand in its place.
   * @param options a time-out and a signal; without them the promise waits as long as it takes.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad key, number or option, with CancelledError if `cancelAll`
   * has cancelled it, and with DisposedError if the limiter has been or is being disposed of. The request has taken
   * nothing then, and those behind it move up.
   * @example await users.takeAsync('Ann', { timeout: 1000 });
   */
  takeAsync(key: Key, permits?: number, options?: WaitOptions): Promise<void>;
  takeAsync(key: Key, options: WaitOptions): Promise<void>;
  takeAsync(key: Key, permits: number | WaitOptions = 1, options?: WaitOptions): Promise<void> {
    try {
      const [wanted, more] = requestOf([permits, options]);
      this.#check('takeAsync', key, wanted);
      const limits = this[begin]('takeAsync', more);
      return this.#tryTake(key, wanted) ? DONE : this.#of(key).take(wanted, limits);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Takes permits of a key if they may go now and no request waits for the key. Never blocks.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @returns whether it has taken them.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example if (!users.tryTake('Ann')) console.log('too many requests');
   */
  tryTake(key: Key, permits = 1): boolean {
    this.#check('tryTake', key, permits);
    this[checkOpen]();
    return this.#tryTake(key, permits);
  }

  #tryTake(key: Key, permits: number): boolean {
    return this.#queues.get(key)?.tryTake(permits) ?? this.#cells.tryTake(key, permits);
  }

  limit<This, K extends Key, Arguments extends unknown[], T>(
    run: (this: This, key: K, ...args: Arguments) => T,
    ...request: RateRequest
  ): Limited<This, [key: K, ...args: Arguments], T> {
    return limitedByRate(KIND, run, request, this.#rate.permits, (call, { permits, stays }, wait, [key]) => {
      this.#check('limit', key, permits);
      const limits = this[begin]('limit', wait);
      return this.#of(key).run(permits, limits, stays, call);
    });
  }

  /**
   * Returns in how many milliseconds permits of a key could go if they were asked for now, and all who wait go on time:
   * what a server says in `Retry-After`. 0: now. `Infinity`: nobody knows, because calls `until: 'end'` run. Never blocks.
   * @param permits 1 (the default) to `permits` of the constructor.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example response.setHeader('Retry-After', Math.ceil(users.dueIn('Ann') / 1000));
   */
  dueIn(key: Key, permits = 1): number {
    this.#check('dueIn', key, permits);
    this[checkOpen]();
    return this.#queues.get(key)?.dueIn(permits) ?? this.#cells.dueIn(key, permits);
  }

  /**
   * Lets nobody go for a key before so many milliseconds have passed. A pause that ends later stays. Never blocks.
   * @param milliseconds 0 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example hosts.pause('example.org', 1000 * Number(response.headers.get('Retry-After')));
   */
  pause(key: Key, milliseconds: number): void {
    checkKey(KIND, 'pause', key);
    checkPause(KIND, milliseconds);
    this[checkOpen]();
    (this.#queues.get(key) ?? this.#cells.of(key)).pause(milliseconds);
  }

  /**
   * Counts permits of a key that have been used, without waiting, also more than there are. A number below 0 gives back
   * permits that were taken and not used, as far as they still count. Never blocks.
   * @param permits -2,147,483,647 to 2,147,483,647.
   * @throws {RangeError | TypeError} for a bad key or number.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example tokens.spend('Ann', answer.usage.total - estimate);
   */
  spend(key: Key, permits: number): void {
    checkKey(KIND, 'spend', key);
    checkSpent(KIND, permits);
    this[checkOpen]();
    (this.#queues.get(key) ?? this.#cells.of(key)).spend(permits);
  }

  /**
   * Rejects all requests that wait now, for any key, with a CancelledError. Later requests are not touched. Never blocks,
   * throws nothing.
   * @param reason the `cause` of the errors.
   * @example users.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    for (const queue of [...this.#queues.values()]) queue.cancelAll(reason);
  }

  /**
   * Describes one key, or all keys together, by a plain object. Never blocks.
   * @throws {RangeError | TypeError} for a bad key.
   * @throws {DisposedError} if the limiter has been disposed of.
   * @example console.log(users.inspect().size, users.inspect('Ann').taken);
   */
  inspect(): KeyedRateLimiterStats;
  inspect(key: Key): RateLimiterStats;
  inspect(...given: [key?: Key]): KeyedRateLimiterStats | RateLimiterStats {
    this[checkOpen]();
    const key = keyToInspect(KIND, given);
    if (key === undefined) return { ...this.#rate, size: this.#size, waiting: this[count] };
    const queue = this.#queues.get(key);
    const { taken = this.#cells.taken(key), count: waiting = 0, timeouts = 0, waiters = [] } = queue ?? {};
    return { ...this.#rate, taken, waiting, timeouts, waiters };
  }

  /** @internal */
  protected get [state](): string {
    const { permits, per } = this.#rate;
    return `${permits} in ${per} ms, ${this.#size} keys`;
  }

  /** @internal */
  protected [close](error: Error): void {
    for (const queue of this.#queues.values()) queue.close(error);
    this.#queues.clear();
    this.#cells.clear();
  }
}
