/**
 * This file keeps the promises of one thread on one shared object, and settles them in the order of their tickets.
 *
 * Promises stand in runs (core/queue/runs.ts). If a run has just begun, or this thread has settled its first promises,
 * the run is not entered in the waiting array, and no thread can ring for it. A rest is a look at all promises that
 * need one (doorbell.ts). It follows when the running code has ended, before the thread can sleep, and enters the run.
 * There is one rest, however many promises come and go until then.
 *
 * If this thread itself releases, it does not ring its own doorbell: it settles its own promises before the release
 * returns. If this thread cancels a request for which it has blocked, no promise here becomes due. The cancellation
 * makes only requests with later tickets due, and the promises here have earlier tickets than the cancelled request
 * (core/queue/cancelling.ts).
 *
 * cancelAll adds 1 to a count in the object and rings this thread. This thread reads the count before each promise
 * begins. If the count has changed since the last read, all promises here are older than the call of cancelAll, so all
 * of them leave. In a rest the thread first enters the first run and then reads the count. So a thread that calls
 * cancelAll after this read sees the run, and rings (D12).
 */

import type { Core } from '../border/core.js';
import { ADMITTED, REFUSED } from '../border/numbers.js';
import { CancelledError, DisposedError } from '../errors.js';
import { locate, type Signal, type Wanted, watch } from './cancellation.js';
import type { Doorbell, Flushable } from './doorbell.js';
import { Fifo } from './fifo.js';
import { NO_SLOT } from './numbers.js';

export interface Run {
  number: number;
  waiting: number;
  /** Settles a promise that may be cancelled, and so has a run of its own. */
  readonly alone: Resolve | undefined;
  previous: Run | undefined;
  next: Run | undefined;
}

export type Resolve = (value?: Promise<never>) => void;

/** A promise that may be cancelled, and a function that stops the watch over its time-out and its signal. */
export interface Watched {
  readonly run: Run;
  readonly unwatch: () => void;
}

/** What a call returns if there is nothing to wait for. */
export const DONE = Promise.resolve();

/** Is called on a library object when its promise has found the shared object disposed of. */
export const closed = Symbol.for('taketurns:closed');

interface LibraryObject {
  [closed](): void;
}

/** The part of `Shared` (membership.ts) that promises need. */
export interface Known {
  readonly address: number;
  readonly attachment: number;
  readonly countedBy: number;
  readonly promises: Promises;
  /** The promise that is the head of the object, if the object is a mutex. */
  readonly head?: Flushable & { cancel(reason: () => unknown): void };
  grants: number;
}

// All promises here share one executor, because promises may be made in a hot loop. The executor drops `reject`,
// because a promise that resolves to a rejected promise rejects as well.
let resolveNew: (value?: unknown) => void;
function capture(resolve: (value?: unknown) => void): void {
  resolveNew = resolve;
}

/** Returns a promise. `resolveOfNew` returns what resolves it, until the next promise is made. */
export function newPromise<T>(): Promise<T> {
  return new Promise<unknown>(capture) as Promise<T>;
}

/** Returns the function that resolves the promise which `newPromise` has made last. */
export function resolveOfNew(): (value?: unknown) => void {
  return resolveNew;
}

/** Returns a function that notes how many permits a promise has got, and then settles the promise. */
export const granting =
  (shared: Known, permits: number, settle: Resolve): Resolve =>
  (value) => {
    if (value === undefined) shared.grants += permits;
    settle(value);
  };

/**
 * The waiting promises of this thread on one semaphore, in ticket order. A look ends at the first one that is not due.
 */
export class Promises {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  readonly #shared: Known;
  /**
   * `first` is the number of the first run, or 0 if no promise waits. `last` is the number of the last run, or 0 if the
   * promise of that run stands alone.
   */
  first = 0;
  last = 0;
  /** Whether the first run is perhaps not entered. */
  #notEntered = false;
  slot = NO_SLOT;
  #firstRun: Run | undefined;
  #lastRun: Run | undefined;
  /** The functions that settle the promises that do not stand alone. */
  readonly #waiters = new Fifo<Resolve>();
  /** How many of these promises have begun to wait, and how many are settled. */
  #begun = 0;
  #over = 0;
  /**
   * Since when these promises wait, where that is not the time of the promise before. `from` is how many had begun
   * before, and `#nextFrom` is that of the first entry.
   */
  readonly #times = new Fifo<{ readonly from: number; readonly since: number }>();
  #nextFrom = Infinity;
  #lastTime = 0;
  /** The library objects with a promise here. The set keeps them alive until all promises are settled. */
  readonly #libraryObjects = new Set<LibraryObject>();
  #latest: LibraryObject | undefined;
  /** The count of cancelAll that this thread has seen last. */
  #asks = 0;

  /** @internal */
  constructor(core: Core, doorbell: Doorbell, shared: Known) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#shared = shared;
  }

  /** Returns what stands for a promise that may be cancelled, until it is settled by this function. */
  alone(settle: Resolve): Run {
    return { number: 0, waiting: 0, alone: settle, previous: undefined, next: undefined };
  }

  /** Does the same as `alone`, and watches over the time-out and the signal of the promise, whose code may run at once. */
  watch(settle: Resolve, timeout: number, signal: Signal | undefined, wanted: Wanted): Watched {
    const run = this.alone((value) => {
      unwatch();
      // The second reaction runs only when the promise listens to it. V8 then finds who awaits the promise.
      settle(value?.catch(locate).catch(locate));
    });
    const unwatch = watch(timeout, signal, (reason) => this.cancel(run, reason), wanted);
    return { run, unwatch };
  }

  /**
   * Asks the core for a place in the queue. Returns the answer of its `arrive`; above ADMITTED, a promise waits from now on.
   * If the call throws, no promise waits.
   * @param libraryObject is kept alive while promises wait.
   * @param settle settles the promise.
   * @param alone what `alone` has made of `settle`, if the promise may be cancelled.
   */
  arrive(
    libraryObject: LibraryObject,
    at: number,
    permits: number,
    attachment: number,
    settle: Resolve,
    alone?: Run,
  ): number {
    this.obey();
    if (this.first === 0) {
      const { head } = this.#shared;
      this.#notEntered = true;
      this.#doorbell.waitFor(this);
      // The promise may become the head at once.
      if (head) this.#doorbell.waitFor(head);
    } else if (this.#notEntered) this.#doorbell.restSoon(this);
    const since = this.#doorbell.timestamp();
    if (!alone) {
      if (since !== this.#lastTime) {
        if (this.#begun > 0) this.#times.push({ from: this.#begun, since });
        if (this.#nextFrom === Infinity && this.#begun > 0) this.#nextFrom = this.#begun;
        this.#lastTime = since;
      }
      this.#waiters.put(settle);
    }
    if (libraryObject !== this.#latest) {
      this.#latest = libraryObject;
      this.#libraryObjects.add(libraryObject);
    }
    const last = alone ? 0 : this.last;
    const number = this.#core.arrive(at, permits, last, attachment);
    // From here on nothing is called until the promise is noted. If it does not wait, the rest finds that nobody waits.
    if (number <= ADMITTED) return number;
    if (!alone) {
      this.#begun++;
      this.#waiters.end++;
    }
    if (number === last) (this.#lastRun as Run).waiting++;
    else {
      const run: Run = alone ?? { number, waiting: 1, alone, previous: undefined, next: undefined };
      run.number = number;
      run.waiting = 1;
      run.previous = this.#lastRun;
      if (this.#lastRun) this.#lastRun.next = run;
      else {
        this.#firstRun = run;
        this.first = number;
      }
      this.#lastRun = run;
      this.last = alone ? 0 : number;
      try {
        this.#core.waitsSince(number, since);
      } catch {
        // The time is for diagnostics only, and the promise waits.
      }
    }
    return number;
  }

  /**
   * Is called when the thread ends or leaves. The core cancels the requests. Without a reason the promises stay
   * pending.
   */
  forget(reason?: Error): void {
    if (reason) while (this.#firstRun) this.#fulfil(this.#firstRun.waiting, () => reason);
    for (let run = this.#firstRun; run; run = run.next) run.waiting = 0;
    this.first = this.last = 0;
    this.#firstRun = this.#lastRun = undefined;
  }

  /** Removes a run, wherever it stands. */
  #remove(run: Run): void {
    if (run.previous) run.previous.next = run.next;
    else this.#firstRun = run.next;
    if (run.next) run.next.previous = run.previous;
    else {
      this.#lastRun = run.previous;
      this.last = this.#lastRun === undefined || this.#lastRun.alone ? 0 : this.#lastRun.number;
    }
    this.first = this.#firstRun?.number ?? 0;
  }

  /** Cancels a promise that waits alone. Does nothing if it does not wait yet, or does not wait any more. */
  cancel(run: Run, reason: () => unknown): void {
    if (run.waiting === 0) return;
    if (this.#core.cancelRun(run.number) === REFUSED) {
      run.waiting = 0;
      this.#remove(run);
      run.alone?.(Promise.reject(reason()));
    }
    // The run may have been due, or may have passed permits to other promises of this thread. No thread rings for these
    // promises, so they are settled here.
    this.settle();
    if (this.first === 0) this.#end();
  }

  /**
   * Rejects all promises if cancelAll has been called since this thread last read the count. Returns whether it has
   * been.
   */
  obey(): boolean {
    const isAsked = this.#core.asks(this.#shared.address) !== this.#asks;
    if (isAsked) this.cancelAll(new CancelledError());
    return isAsked;
  }

  /** Rejects all promises except those that are due. */
  cancelAll(error: CancelledError): void {
    this.#asks = this.#core.asks(this.#shared.address);
    while (this.first !== 0) {
      if (this.#core.cancelRun(this.first) !== REFUSED) this.#settle();
      else this.#fulfil((this.#firstRun as Run).waiting, () => error);
    }
    this.#shared.head?.cancel(() => error);
  }

  /** The core has settled so many promises of the first run. Fulfils them, and then the due promises of later runs. */
  settled(count: number): void {
    const run = this.first;
    this.#fulfil(count);
    if (this.first === run) this.#restSoon();
    else this.settle();
  }

  /**
   * Settles all promises that are due, whichever thread made them due. No thread rings for a run after this
   * thread has settled its first promises.
   */
  settle(): void {
    this.#settle();
    if (this.first !== 0) this.#restSoon();
  }

  #restSoon(): void {
    this.#notEntered = true;
    this.#doorbell.restSoon(this);
  }

  /** Settles the due promises and leaves the others to the doorbell. */
  flush(): void {
    do this.#settle();
    while (this.first !== 0 && (this.#core.enterRun(this.first) !== 0 || this.obey()));
    this.#notEntered = false;
    if (this.first !== 0) this.#doorbell.entered(this, this.first);
    else this.#end();
  }

  /** So many promises of this run are settled. Records since when the next one waits, if that is another time. */
  #tellTime(run: Run, count: number): void {
    this.#over += count;
    if (this.#over < this.#nextFrom) return;
    let since = 0;
    do {
      since = this.#times.shift()?.since as number;
      this.#nextFrom = this.#times.peek()?.from ?? Infinity;
    } while (this.#over >= this.#nextFrom);
    if (run.waiting > 0) this.#core.waitsSince(run.number, since);
  }

  #settle(): void {
    while (this.first !== 0) {
      const count = this.#core.settle(this.first, this.#shared.countedBy);
      if (count === 0) return;
      if (count < 0) this.#close();
      else this.#fulfil(count);
    }
  }

  /** Fulfils so many promises of the first run; or rejects them, if `reason` is given. */
  #fulfil(count: number, reason?: () => Error): void {
    const run = this.#firstRun as Run;
    run.waiting -= count;
    if (run.waiting === 0) this.#remove(run);
    if (!run.alone) this.#tellTime(run, count);
    for (let i = 0; i < count; i++) (run.alone ?? this.#waiters.shift())?.(reason && Promise.reject(reason()));
    if (this.first === 0) this.#end();
  }

  /** Is called when no promise waits any more. */
  #end(): void {
    this.#libraryObjects.clear();
    this.#latest = undefined;
    while (this.#times.shift());
    this.#begun = this.#over = this.#lastTime = 0;
    this.#nextFrom = Infinity;
    // `arrive` has put it there for a promise that did not have to wait.
    this.#waiters.put(undefined as never);
    this.#doorbell.done(this);
  }

  /** Is called when the semaphore has been disposed of. */
  #close(): void {
    const libraryObjects = [...this.#libraryObjects];
    while (this.first !== 0) {
      this.#core.dropRun(this.first);
      this.#fulfil((this.#firstRun as Run).waiting, () => new DisposedError());
    }
    for (const libraryObject of libraryObjects) libraryObject[closed]();
  }
}
