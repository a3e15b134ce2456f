/**
 * Leader election: of all processes that are candidates, one process leads, until it ends, resigns or loses its lease.
 *
 *     #stand --> #campaign: waits for the mutex --> leads: `held` is the guard of its term
 *        ^                                            |
 *        +--- the lease is lost; or after `unlock`, at the next call of `elected`
 *
 * The election is a mutex with a bypass of 0, so the candidates lead in the order in which they came. The mutex sees to
 * it that no two processes lead at once.
 */

import { inspected, shown } from '../../../src/common/shown.js';
import { asyncDispose } from '../../../src/common/symbols.js';
import { DisposedError, timedOut } from '../errors.js';
import type { Clock, Timer } from '../runtime/clock.js';
import { whenAborted } from './abort.js';
import { aborted, checkWait, type WaitOptions } from './acquire.js';
import type { HeldLock } from './hold.js';
import type { Mutex } from './mutex.js';

/** The leader, as the server knows of it. */
export interface LeaderState {
  /** The session of the leader's process. */
  readonly session: string;
  /** The label of that process: the option `label` of `Space.connect`. */
  readonly label: string;
  /** The fencing token of the leader's term. It is larger than the tokens of all earlier terms. */
  readonly token: bigint;
  /** For how many milliseconds the leader has led, at least: see `Party.since`. */
  readonly since: number;
  /** How many other candidates wait. */
  readonly waiting: number;
}

/**
 * The candidacy of this process in an election. `Space.leader` makes this object, and the process is a candidate until
 * `close`. One candidate leads at a time. When the leader's process ends or its lease is lost, the next candidate
 * leads, in the order in which the candidates came. The election is a mutex of the same name, with a bypass of 0.
 */
export class Leader implements AsyncDisposable {
  readonly #mutex: Mutex;
  readonly #clock: Clock;
  /** Is aborted by `close`. */
  readonly #end = new AbortController();
  /** The wait for the present or next term; undefined if this process does not wait and does not lead. */
  #term: Promise<HeldLock> | undefined;
  /** The guard of the last term. */
  #held: HeldLock | undefined;

  /** @internal */
  constructor(mutex: Mutex, clock: Clock) {
    this.#mutex = mutex;
    this.#clock = clock;
    this.#stand();
  }

  /** The name of the election. */
  get name(): string {
    return this.#mutex.name;
  }

  /** The guard of this process's term, with its `token` and `signal`; undefined while this process does not lead. */
  get held(): HeldLock | undefined {
    return this.#held?.held ? this.#held : undefined;
  }

  /** Makes the process a candidate, if it is none. */
  #stand(): void {
    this.#elected().catch(() => {});
  }

  /** Resolves to the guard when this process leads. All callers share one wait. */
  #elected(): Promise<HeldLock> {
    // If the last term has ended, a new wait begins.
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
      // When the lease is lost, the process is a candidate again at once.
      held.signal.addEventListener('abort', () => this.#stand());
      // It may have been lost before, and then the signal tells of no event.
      if (held.lost) this.#stand();
      return held;
    } catch (error) {
      this.#term = undefined;
      throw error;
    }
  }

  /**
   * Waits until this process leads. All callers get the same guard. The `signal` of the guard is aborted when the lease
   * is lost, and its `token` is the fencing token of the term. When the lease was lost, the process is a candidate
   * again without a further call. `unlock` of the guard resigns; the next call of `elected` makes the process a
   * candidate again. Never blocks the thread.
   *
   *     for (;;) {
   *       const { signal, token } = await scheduler.elected();
   *       await schedule(signal, token); // until the signal is aborted
   *     }
   * @param options how long this caller waits. If the caller gives up, the process is still a candidate.
   * @throws {RangeError | TypeError} (rejects) for a bad argument.
   * @throws {TimeoutError} (rejects) when the time-out has passed.
   * @throws {CancelledError} (rejects) when `cancelAll` of the mutex was called. The next call makes the process a
   * candidate again.
   * @throws {DisposedError} (rejects) when this leader or the space was closed, or the mutex was disposed of.
   * @throws {SpaceError} (rejects) when the server refuses, or cannot be reached any more. The next call tries again.
   */
  async elected(options: WaitOptions = {}): Promise<HeldLock> {
    const { timeout, signal } = checkWait('Leader.elected', options);
    if (signal?.aborted) throw aborted(signal);
    const clock = this.#clock;
    let timer: Timer;
    let unlisten: (() => void) | undefined;
    return new Promise<HeldLock>((resolve, reject) => {
      const late = (): void => reject(timedOut(`${this}, which is another process`, timeout));
      if (timeout !== Infinity) timer = clock.after(timeout, late, true);
      if (signal) unlisten = whenAborted(signal, () => reject(aborted(signal)));
      this.#elected().then(resolve, reject);
    }).finally(() => {
      clock.stop(timer);
      unlisten?.();
    });
  }

  /**
   * Asks the server who leads. Never blocks the thread.
   * @returns (resolves to) undefined if nobody leads.
   * @throws {SpaceError} (rejects) when no server answers within `connectTimeout`, or when the server refuses.
   * @example console.log(await leader.inspect());
   */
  async inspect(): Promise<LeaderState | undefined> {
    const { holders, waiting = 0 } = (await this.#mutex.inspect(1)) ?? {};
    if (!holders?.[0]) return undefined;
    const [{ session, label, token, since }] = holders;
    return { session, label, token, since, waiting };
  }

  /**
   * Ends the candidacy. If this process leads, the next candidate leads at once. Never blocks the thread.
   * @returns a promise that resolves when the server knows that this process leads no more. It never rejects.
   * @example await leader.close();
   */
  async close(): Promise<void> {
    this.#end.abort(new DisposedError(`${this} has been closed`));
    await this.#term?.then(
      (held) => held.unlock(),
      () => {},
    );
  }

  /** Returns, for example, `Leader("scheduler")`. Never blocks, throws nothing. */
  toString(): string {
    return `Leader(${JSON.stringify(this.name)})`;
  }

  /** `Leader`. */
  get [Symbol.toStringTag](): string {
    return 'Leader';
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  /** Ends an `await using` scope: calls `close`. */
  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
