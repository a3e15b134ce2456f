/**
 * The requests of one rate, of the tasks of this thread: the schedule (common/schedule.ts) in memory of its own, the
 * promises that wait for it, and one timer, for the head of the schedule.
 *
 * A call of `limit` is dated twice. The schedule dates its request when its turn has come, and the promise of the request
 * is fulfilled. When the function is about to be called, some microtasks later, the request looks again (`#begin`), and is
 * dated then. If the event loop was busy meanwhile for so long that the window has passed, or there is a pause, it waits
 * in its old place again.
 */
import { callEach } from '../common/each.js';
import { CancelledError, type TimeoutError, timedOut } from '../common/errors.js';
import { hasStack, TO_CHANGE_RATE, TO_TAKE } from '../common/has-stack.js';
import { MOST_WAITERS, type Rate, type RateWaiterStats, tooMany } from '../common/rate.js';
import {
  BEGUN,
  CELL,
  CELLS_OF_ONE,
  Cells,
  DISMISSED,
  type RateState,
  REFUSED,
  SCHEDULE,
  Schedule,
} from '../common/schedule.js';
import { clearTimeout, now, setTimeout } from './clock.js';
import { cancelOn, type Limits } from './limits.js';

/** A promise that waits. */
interface Waiter {
  readonly cell: number;
  readonly permits: number;
  /** Whether its permits begin when it is fulfilled. */
  readonly begins: boolean;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
  stop: (() => void) | undefined;
  /** Whether its permits have begun, or the schedule has sent it away: its cell is not its own any more. */
  isOver: boolean;
}

/** The most milliseconds of a timer. */
const LONGEST = 2 ** 31 - 1;
/** A log of more permits has about so many runs. */
const GRAIN = 1000;
/** For how many cells there is room at first. */
const FIRST_CELLS = 1;

export class RateQueue {
  readonly #schedule: Schedule;
  /** Those that wait, by their cells. */
  readonly #waiters = new Map<number, Waiter>();
  /** The cells that have got their dates, and have not been told. */
  #dated: number[] = [];
  /** Names the limiter in errors. */
  readonly #what: string;
  #timer: unknown;
  /** Whether an exception has ended a call of `#moveUp`, such as that of an exhausted stack. */
  #wasCut = false;
  /** Makes the error of a request that `cancelAll` or `resize` has sent away between its turn and its call. */
  #gone: ((permits: number) => Error) | undefined;
  #end: Error | undefined;
  /** How many waits have ended by a time-out, a signal or `cancelAll`. */
  timeouts = 0;

  constructor({ permits, per, burst }: Rate, what: string) {
    this.#what = what;
    const first = CELLS_OF_ONE + SCHEDULE;
    const floats = new Float64Array(first + FIRST_CELLS * CELL);
    const cells = new Cells(floats, 0, false);
    cells.begin(first, floats.length);
    this.#schedule = new Schedule(cells, CELLS_OF_ONE, GRAIN, {
      dated: (cell) => this.#dated.push(cell),
      takes: () => hasStack(TO_TAKE),
    });
    this.#schedule.begin(permits, per, burst);
  }

  get rate(): Rate {
    const { permits, per, burst } = this.#schedule;
    return { permits, per, burst };
  }

  get permits(): number {
    return this.#schedule.permits;
  }

  /** How many promises wait. */
  get count(): number {
    return this.#waiters.size;
  }

  /** The promises that wait: the first 100. */
  get waiters(): RateWaiterStats[] {
    hasStack(TO_CHANGE_RATE);
    const waiters = this.#schedule.waiters(MOST_WAITERS, now()).map(({ permits, left }) => ({ permits, left }));
    if (this.#dated.length > 0) this.#moveUp();
    return waiters;
  }

  /** Takes permits if they may begin now and nobody waits. */
  tryTake(permits: number): boolean {
    // A timer may be late, and the turn of those who wait has come. They go first all the same.
    if (this.#waiters.size > 0) return false;
    const time = now();
    return this.#schedule.tryJoin(permits, time) || this.#schedule.tryTake(permits, time);
  }

  /** Returns a promise that is fulfilled when permits begin. */
  take(permits: number, limits: Limits | undefined): Promise<void> {
    return this.#wait(this.#ask(permits), permits, true, limits);
  }

  /**
   * Calls a function when permits begin.
   * @param stays whether they count until its result is settled, and a window from then on.
   */
  async run<T>(permits: number, limits: Limits | undefined, stays: boolean, call: () => T): Promise<Awaited<T>> {
    const cell = this.#ask(permits);
    if (this.#schedule.isDated(cell)) await undefined;
    else await this.#wait(cell, permits, false, limits);
    while (!this.#begin(cell, permits, stays)) await this.#wait(cell, permits, false, limits);
    try {
      return await call();
    } finally {
      if (stays && !this.#end) {
        this.#schedule.end(cell, now());
        this.#moveUp();
      }
    }
  }

  /** Begins a call whose turn has come, unless that was too long ago. */
  #begin(cell: number, permits: number, stays: boolean): boolean {
    // Its turn came before the limiter was disposed of.
    if (this.#end) return true;
    const answer = this.#schedule.look(cell, now(), stays);
    if (this.#dated.length > 0) this.#moveUp();
    if (answer === DISMISSED || answer === REFUSED) throw this.#gone?.(permits);
    return answer === BEGUN;
  }

  #ask(permits: number): number {
    const schedule = this.#schedule;
    hasStack(TO_CHANGE_RATE);
    // Before the request gets the cell of one that has not been told.
    if (this.#wasCut) this.#moveUp();
    schedule.reserve();
    const cell = schedule.ask(permits, now(), 0);
    // Code of the user may have called `resize` since the request was checked: a getter of its options.
    if (cell === 0) {
      this.timeouts++;
      throw tooMany('RateLimiter', permits, schedule.permits);
    }
    return cell;
  }

  #wait(cell: number, permits: number, begins: boolean, limits: Limits | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#end) {
        reject(this.#end);
        return;
      }
      const waiter: Waiter = { cell, permits, begins, resolve, reject, stop: undefined, isOver: false };
      this.#waiters.set(cell, waiter);
      if (this.#dated.length > 0 || this.#schedule.head === cell) this.#moveUp();
      if (limits) this.#cancelOn(waiter, limits);
    });
  }

  #cancelOn(waiter: Waiter, limits: Limits): void {
    // `callEach` calls this again if it was cut. So it notes what it has done last, when the request has left the schedule.
    const leave = (reason: () => unknown): void => {
      hasStack(TO_CHANGE_RATE);
      if (this.#waiters.get(waiter.cell) === waiter && !waiter.isOver) {
        waiter.reject(reason());
        if (this.#schedule.isRequest(waiter.cell)) this.#schedule.leave(waiter.cell, now());
        this.#remove(waiter);
        this.timeouts++;
      } else if (!this.#wasCut) return;
      this.#moveUp();
    };
    const { timeout } = limits;
    const stop = cancelOn(
      limits,
      () => leave(() => this.#late(waiter.permits, timeout)),
      (reason) => leave(() => reason),
    );
    if (this.#waiters.get(waiter.cell) === waiter) waiter.stop = stop;
    else stop();
  }

  /** The request itself still counts among those that wait. */
  #late(permits: number, timeout: number): TimeoutError {
    const wanted = `${permits} permit${permits > 1 ? 's' : ''} of ${this.#what} (${this.count - 1} waiting)`;
    return timedOut(wanted, timeout);
  }

  /** If this is cut, it may be called again. */
  #remove(waiter: Waiter): void {
    waiter.stop?.();
    this.#waiters.delete(waiter.cell);
  }

  /** Brings the schedule up to date, lets all go on whose turn has come, and sets the timer for the head. */
  #moveUp(): void {
    const schedule = this.#schedule;
    clearTimeout(this.#timer as never);
    if (this.#end) return;
    this.#wasCut = true;
    const time = schedule.advance(now());
    // To look may give others their dates, and then the loop goes on to these. If it is cut, it begins anew in a microtask:
    // to tell one twice has no effect. The timer is set all the same.
    try {
      if (this.#dated.length > 0) {
        const dated = this.#dated;
        callEach([
          () => {
            for (const cell of dated) this.#goOn(cell, time);
          },
        ]);
        this.#dated = [];
      }
    } finally {
      this.#setTimer(time);
    }
    this.#wasCut = false;
  }

  /** A request has got its date. */
  #goOn(cell: number, time: number): void {
    const waiter = this.#waiters.get(cell);
    if (!waiter) return;
    if (!waiter.isOver) {
      if (this.#schedule.isWaiting(cell)) return;
      // If the timer is late by more than a window, the request waits on.
      if (waiter.begins && this.#schedule.look(cell, time) !== BEGUN) return;
      waiter.isOver = true;
    }
    waiter.resolve();
    this.#remove(waiter);
  }

  /** The head is to go on when it is due. */
  #setTimer(time: number): void {
    const schedule = this.#schedule;
    const { head } = schedule;
    if (head === 0) return;
    const left = schedule.look(head, time);
    // A timer may fire early, and then finds that some time is left. A call that is to end sets a timer then.
    if (left < Infinity) this.#timer = setTimeout(() => this.#moveUp(), Math.min(Math.ceil(left), LONGEST));
  }

  dueIn(permits: number): number {
    // If nobody waits, this only looks.
    if (this.#schedule.head !== 0) hasStack(TO_CHANGE_RATE);
    const due = this.#schedule.dueIn(permits, now());
    if (this.#dated.length > 0) this.#moveUp();
    return due;
  }

  pause(milliseconds: number): void {
    hasStack(TO_CHANGE_RATE);
    this.#schedule.pause(milliseconds, now());
    this.#moveUp();
  }

  spend(permits: number): void {
    hasStack(TO_CHANGE_RATE);
    this.#schedule.reserve();
    this.#schedule.spend(permits, now());
    this.#moveUp();
  }

  /** @param tooMany makes the error of a request for more permits than there are from now on. */
  resize({ permits, per, burst }: Rate, tooMany: (permits: number) => Error): void {
    hasStack(TO_CHANGE_RATE);
    this.#schedule.resize(permits, per, burst, now());
    this.#sendAway(tooMany);
  }

  cancelAll(reason: unknown): void {
    hasStack(TO_CHANGE_RATE);
    this.#schedule.dismiss(now());
    this.#sendAway(() => new CancelledError(reason));
  }

  /** Rejects those that the schedule has let go. */
  #sendAway(errorOf: (permits: number) => Error): void {
    this.#gone = errorOf;
    try {
      callEach([() => this.#tellAway(errorOf)]);
    } finally {
      this.#moveUp();
    }
  }

  /** If this is cut, it may be called again. */
  #tellAway(errorOf: (permits: number) => Error): void {
    for (const waiter of this.#waiters.values()) {
      if (!waiter.isOver) {
        if (!this.#schedule.isAway(waiter.cell)) continue;
        waiter.reject(errorOf(waiter.permits));
        this.#schedule.look(waiter.cell, now());
        waiter.isOver = true;
        this.timeouts++;
      }
      // If its permits had begun, and a cut call has not told it.
      else waiter.resolve();
      this.#remove(waiter);
    }
  }

  /** How many permits count in the window that ends now. */
  get taken(): number {
    hasStack(TO_CHANGE_RATE);
    const taken = this.#schedule.taken(now());
    if (this.#dated.length > 0) this.#moveUp();
    return taken;
  }

  /** The log of the rate, if nobody waits, and no call is about to begin, or counts until its end. */
  get state(): RateState | undefined {
    return this.#waiters.size > 0 ? undefined : this.#schedule.state;
  }

  /** Gives a new queue the log of another rate. */
  restore(state: RateState): void {
    this.#schedule.restore(state);
  }

  /** Whether nobody waits, and a new rate would answer the same. */
  get isFresh(): boolean {
    if (this.count > 0) return false;
    hasStack(TO_TAKE);
    return this.#schedule.isFresh(now());
  }

  /** The limiter has been disposed of. */
  close(error: Error): void {
    this.#end = error;
    clearTimeout(this.#timer as never);
    callEach([
      () => {
        for (const waiter of this.#waiters.values()) {
          waiter.reject(error);
          this.#remove(waiter);
        }
      },
    ]);
  }
}
