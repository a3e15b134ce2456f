/** A leader: of all processes that stand for an office, one process has the office for as long as it lives. */
import { whenAborted } from './abort.js';
import { aborted, checkWait, type WaitOptions } from './acquire.js';
import type { Clock, Timer } from './clock.js';
import { DisposedError, TimeoutError } from './errors.js';
import { asyncDispose, type HeldLock, inspected } from './hold.js';
import type { Mutex } from './mutex.js';

/** The leader, as the server knows it. */
export interface LeaderState {
  /** The session of the leader's process. */
  readonly session: string;
  /** The label of its process, as in the options of `Space.connect`. */
  readonly label: string;
  /** The fencing token of the leader's term. It is larger than the tokens of all earlier terms. */
  readonly token: bigint;
  /** For how many milliseconds the leader has led, at least, as `inspect` of a mutex tells. */
  readonly since: number;
  /** How many other processes stand. */
  readonly waiting: number;
}

/**
 * This process stands for an office, from when `Space.leader` made this object until `close`. One of the processes that
 * stand leads. When its process ends, or its lease is lost, the next process leads, in the order in which they came.
 * The office is a mutex of the same name, with a bypass of 0.
 */
export class Leader implements AsyncDisposable {
  readonly #mutex: Mutex;
  readonly #clock: Clock;
  readonly #end = new AbortController();
  #term: Promise<HeldLock> | undefined;
  #held: HeldLock | undefined;

  /** @internal */
  constructor(mutex: Mutex, clock: Clock) {
    this.#mutex = mutex;
    this.#clock = clock;
    this.#stand();
  }

  /** The name of the office. */
  get name(): string {
    return this.#mutex.name;
  }

  /** The guard of this process's term, with its `token` and `signal`; undefined while this process does not lead. */
  get held(): HeldLock | undefined {
    return this.#held?.held ? this.#held : undefined;
  }

  #stand(): void {
    this.#elected().catch(() => {});
  }

  #elected(): Promise<HeldLock> {
    // The term has ended.
    if (this.#held && !this.held) this.#held = this.#term = undefined;
    this.#term ??= this.#campaign();
    return this.#term;
  }

  async #campaign(): Promise<HeldLock> {
    const { signal } = this.#end;
    try {
      signal.throwIfAborted();
      const held = await this.#mutex.holdAsync({ signal });
      this.#held = held;
      // The process stands again at once.
      held.signal.addEventListener('abort', () => this.#stand());
      return held;
    } catch (error) {
      this.#term = undefined;
      throw error;
    }
  }

  /**
   * Waits until this process leads. All callers get one guard: its `signal` is aborted when the term ends, and its
   * `token` fences. After the term the process stands again by itself. `unlock` of the guard resigns; the next call
   * stands again.
   *
   *     for (;;) {
   *       const { signal, token } = await scheduler.elected();
   *       await schedule(signal, token); // until the signal is aborted
   *     }
   * @param options how long this caller waits. If the caller gives up, the process still stands.
   * @throws (rejects) {RangeError | TypeError} for a bad argument.
   * @throws (rejects) {TimeoutError} when the time-out has passed.
   * @throws (rejects) {CancelledError} when `cancelAll` of the mutex was called; the next call stands again.
   * @throws (rejects) {DisposedError} when this, the space or the mutex is closed or disposed of.
   * @throws (rejects) {SpaceError} when the server refuses, or cannot be reached any more; the next call tries again.
   */
  async elected(options: WaitOptions = {}): Promise<HeldLock> {
    const { timeout, signal } = checkWait('Leader.elected', options);
    if (signal?.aborted) throw aborted(signal);
    const clock = this.#clock;
    let timer: Timer;
    let unlisten: (() => void) | undefined;
    return new Promise<HeldLock>((resolve, reject) => {
      const late = (): void => reject(new TimeoutError(`${this} is another process for ${timeout} ms`));
      if (timeout !== Infinity) timer = clock.after(timeout, late, true);
      if (signal) unlisten = whenAborted(signal, () => reject(aborted(signal)));
      this.#elected().then(resolve, reject);
    }).finally(() => {
      clock.stop(timer);
      unlisten?.();
    });
  }

  /**
   * Asks the server who leads. Any process that opens the leader may ask.
   * @returns undefined if nobody leads.
   * @throws (rejects) {SpaceError} when no server answers within `connectTimeout`, or it refuses.
   */
  async inspect(): Promise<LeaderState | undefined> {
    const { holders, waiting = 0 } = (await this.#mutex.inspect(1)) ?? {};
    if (!holders?.[0]) return undefined;
    const [{ session, label, token, since }] = holders;
    return { session, label, token, since, waiting };
  }

  /**
   * The process stands no more. If this process leads, the next one leads at once. Never rejects.
   * @returns a promise that resolves when the server knows it.
   */
  async close(): Promise<void> {
    this.#end.abort(new DisposedError(`${this} has been closed`));
    await this.#term?.then(
      (held) => held.unlock(),
      () => {},
    );
  }

  /** Returns, for example, `Leader("scheduler")`. Throws nothing. */
  toString(): string {
    return `Leader(${JSON.stringify(this.name)})`;
  }

  /** `Leader`. */
  get [Symbol.toStringTag](): string {
    return 'Leader';
  }

  /** @internal */
  [inspected](): string {
    return this.toString();
  }

  /** Ends an `await using` scope: calls `close`. */
  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
