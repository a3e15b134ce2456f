/**
 * This file keeps the promises of one thread on one shared object, and settles them in the order of their tickets.
 *
 *     Semaphore, Condition, RwLock, Channel         Mutex
 *             │                                       │
 *             │                                  HeadPromise    the promise that is the head of a mutex (head-promise.ts)
 *             │                                       │
 *             └──────────────► Promises ◄─────────────┘         those behind it, and of other classes all
 *                                 │
 *                             Settlement                        what the core has decided, until the promises are told
 *
 *     Promises and HeadPromise ──► Doorbell                     when the thread looks at them again (doorbell.ts)
 *
 * Calls go along the arrows. Only these go back: the doorbell calls `flush` (`Flushable`); Promises lets the head finish
 * before it settles those behind (`Ahead`), and calls `atRest` of its object (`Known`) and the functions that settle
 * promises. Such a function of a channel or a mutex may call methods here: these leave all other promises to the call
 * that is under way, and to the rest.
 *
 * Promises stand in runs (core/queue/runs.ts). The list of runs is what the queue of the core has of this thread. Only
 * between an answer of the core and the next call here it has promises that are in a settlement (class Settlement).
 *
 * If a run has just begun, or this thread has settled its first promises, the run is not entered in the waiting array,
 * and no thread can ring for it. A rest is a look at all promises that need one (doorbell.ts). It follows when the
 * running code has ended, before the thread can sleep, and enters the run. There is one rest, however many promises come
 * and go until then.
 *
 * If this thread itself releases, it does not ring its own doorbell: it settles its own promises before the release
 * returns. Mostly no other thread's request is before the first promise. Then one call of the core releases and settles
 * (`releaseToOwn`, `unlockToOwn`). If this thread cancels a request for which it has blocked, no promise here becomes due. The cancellation
 * makes only requests with later tickets due, and the promises here have earlier tickets than the cancelled request
 * (core/queue/queue.ts).
 *
 * cancelAll adds 1 to a count in the object and rings this thread. This thread reads the count before each promise
 * begins. If the count has changed since the last read, all promises here are older than the call of cancelAll, so all
 * of them leave. In a rest the thread first enters the first run and then reads the count. So a thread that calls
 * cancelAll after this read sees the run, and rings (D12).
 */

import type { Core } from '../border/core.js';
import { ADMITTED, CANCELLED, MORE } from '../border/numbers.js';
import type { Signal } from '../common/signals.js';
import { cancelOn, locate, type Wanted } from './cancellation.js';
import type { Doorbell, Flushable } from './doorbell.js';
import { CancelledError, type described, disposed } from './errors.js';
import { NO_REST, NO_SLOT } from './numbers.js';

/** Settles a promise. It gets nothing if the promise is fulfilled, and otherwise a promise that rejects. */
export type Resolve = (value?: Promise<never>) => void;

/**
 * The request of a promise for an object with a head. It is no function, since V8 takes more time to call a function that
 * has just been made than a method: for each promise of a mutex, as much as a fifth.
 */
export interface HeadRequest {
  /** Settles the promise, as `Resolve` does. */
  has(value?: Promise<never>): void;
}

/** What settles a promise. An object with a head has a HeadRequest for each promise. */
export type Waiter = Resolve | HeadRequest;

/** Consecutive tickets of promises of this thread on one object (core/queue/runs.ts). */
export interface Run {
  number: number;
  /** How many promises of the run wait in the core. */
  waiting: number;
  /** Settles a promise that may be cancelled, and so has a run of its own. */
  readonly alone: Waiter | undefined;
  previous: Run | undefined;
  next: Run | undefined;
}

/** How the waits of promises have ended: they are granted, or the function makes the reason for which they reject. */
export type Outcome = typeof GRANTED | (() => unknown);

export const GRANTED = Symbol();

/** A promise that may be cancelled, and a function that ends its time-out and leaves its signal. */
export interface Cancellable {
  readonly run: Run;
  readonly stop: () => void;
}

/** What a call returns if there is nothing to wait for. */
export const DONE = Promise.resolve();

/** Is called on a library object when its promise has found the shared object disposed of. */
export const closed = Symbol.for('taketurns:closed');

interface LibraryObject {
  [closed](): void;
  [described]?(): string;
}

/** All that the queue knows of the promise that is the head of its object (HeadPromise). */
export interface Ahead {
  /**
   * Whether an exception has ended a call for the head. Then `flush` must come before the core settles those behind: the
   * attachment says whether the head has its permit still, and for the next head it would say the same.
   */
  readonly isOwed: boolean;
  readonly owed: Settlement;
  /** The promise that has got the lock by `unlockToOwn`, and does not know it yet. */
  granted: HeadRequest | undefined;
  /** The count of cancelAll that the promises in the queue had seen when the promise became the head. */
  asks: number;
  flush(): void;
  /** The first promise of the queue is due, and becomes the head. */
  due(request: HeadRequest): void;
  /** Tells `granted`. */
  tell(): void;
}

/** The part of `Shared` (membership.ts) that promises need. */
export interface Known {
  readonly address: number;
  readonly countedBy: number;
  readonly attachment: number;
  readonly head: Ahead | undefined;
  grants: number;
  /** Is called by the event loop, before promises are settled. No function of a promise runs then. */
  readonly atRest: (() => void) | undefined;
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
export function granting(shared: Known, permits: number, settle: Resolve): Resolve {
  let uncounted = permits;
  return (value) => {
    settle(value);
    // In this order: if an exception ends the call before, it is made again.
    if (value === undefined) shared.grants += uncounted;
    uncounted = 0;
  };
}

/**
 * A settlement is what the core has decided about promises of this thread on one object, and what these promises have
 * not been told yet.
 *
 * An exhausted stack, or the `timeout` of node:vm, may end a call of the thread wherever the code calls a function, goes
 * round a loop or returns: the call is cut, and the thread goes on with other calls. When the core has decided, the
 * request is in its queue no more, so only this record knows the promise. Therefore nothing is called between the answer
 * of the core and the note of this answer here.
 *
 *     state     run  count  outcome  promise
 *     nothing    -     0       -        -
 *       │  the core answers: the first `count` promises of `run` are over. The caller notes this in the three fields
 *     noted      +    > 0      +        -      the promises stand in `run` still, and the core may have ended the run
 *       │  Promises takes them out of the run, and a promise that has a run of its own becomes `promise`
 *     out        -    > 0      +        -      `count` promises are the first ones of the queue of functions
 *       │  Promises takes the first of them
 *     told       -   >= 0      +        +      its function is called: now, or when somebody goes on after a cut
 *       │  the function has returned: back to `out`, or to `nothing` if `count` is 0
 *
 * For a promise that is the head of a mutex (head-promise.ts), `promise` is set as long as the promise waits. `run` and
 * `count` are not used, and the core decides once: `outcome` is set.
 *
 * Why a cut loses nothing, wherever it comes: each step from one state to the next is a row of assignments, in which
 * nothing can be cut. So a cut finds the record in one of the states, and each state says all that is left to do. Who
 * comes next goes on from there: a later call of the thread on the object, or the rest (doorbell.ts), which is planned
 * before the core is asked.
 *
 * Why no grant goes to two: a promise that has been granted is told so, and nothing else happens to its grant. Only the
 * telling may be done twice, if a cut comes between the effect of a function and the note that it has returned. So a
 * second call of such a function must have no effect if the first one has had its effect, as with the function that
 * resolves a promise.
 */
export class Settlement {
  run: Run | undefined;
  count = 0;
  outcome: Outcome | undefined;
  promise: Waiter | undefined;
  /** What the function of `promise` gets, if that is a promise and it is made. */
  #value: Promise<never> | undefined;
  /**
   * Whether the function of a promise runs. It stays true if the `timeout` of node:vm has ended this function: that
   * exception runs no `finally`.
   */
  isTelling = false;

  /** What the function of `promise` gets. The outcome is decided. A reason tells the state at the first call. */
  get value(): Promise<never> | undefined {
    if (this.outcome !== GRANTED) this.#value ??= rejected(this.outcome as () => unknown);
    return this.#value;
  }

  /**
   * The function of this promise has returned. It may have called a method that has gone on here before it. Each class
   * calls the functions itself, because V8 makes a call fast that always calls the same function.
   */
  told(promise: Waiter): void {
    if (this.promise !== promise) return;
    this.promise = this.#value = undefined;
    if (this.count === 0) this.outcome = undefined;
  }

  /** Forgets `promise`, and returns its function. */
  drop(): Waiter | undefined {
    const { promise } = this;
    this.promise = this.#value = this.outcome = undefined;
    return promise;
  }
}

/**
 * Returns a promise that rejects for this reason. An exception may end the call that is to pass it on, so it is handled
 * from the beginning: the program has promises of its own, which reject as it does.
 */
export function rejected(reason: () => unknown): Promise<never> {
  const promise = new Promise<never>((_, reject) => {
    rejectNew = reject;
  });
  promise.catch(() => {});
  try {
    rejectNew(reason());
  } catch (error) {
    rejectNew(error);
  }
  return promise;
}
let rejectNew: (reason: unknown) => void;

function tell(waiter: Waiter, value: Promise<never>): void {
  if (typeof waiter === 'function') waiter(value);
  else waiter.has(value);
}

/** A queue hands items out first in, first out, at a constant cost for each item. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  /** The index of the first item. */
  first = 0;
  /** The index behind the last item. */
  end = 0;

  /**
   * Returns the first item. It leaves the queue when the caller adds 1 to `first`, which is no call. So no exception can
   * end the caller between the two.
   */
  peek(): T | undefined {
    const { first } = this;
    if (first >= 64 && first * 2 >= this.end) {
      // Half of the array is empty, so the items move down. Each item pays once for this move.
      this.#items = this.#items.slice(first, this.end);
      this.end -= first;
      this.first = 0;
    } else if (first > 0) this.#items[first - 1] = undefined;
    return this.first < this.end ? this.#items[this.first] : undefined;
  }

  /** Puts an item behind the last one. It enters the queue when the caller adds 1 to `end`, which is no call. */
  put(item: T): void {
    if (this.first === this.end) this.#items.length = this.first = this.end = 0;
    this.#items[this.end] = item;
  }

  push(item: T): void {
    this.put(item);
    this.end++;
  }

  shift(): T | undefined {
    const item = this.peek();
    if (this.first < this.end) {
      this.#items[this.first] = undefined;
      this.first++;
    }
    return item;
  }
}

/**
 * The waiting promises of this thread on one semaphore, in ticket order. A look ends at the first one that is not due.
 */
export class Promises implements Flushable {
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
  plannedFor = NO_REST;
  #firstRun: Run | undefined;
  #lastRun: Run | undefined;
  /** The functions that settle the promises that do not stand alone. */
  readonly #waiters = new Fifo<Waiter>();
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
  /** The count of cancelAll that this thread has seen last: no promise here is older than this. */
  asks = 0;
  readonly #owed = new Settlement();
  /** Whether the function of a promise has called a method that has left promises to the call under way. */
  #again = false;

  /** @internal */
  constructor(core: Core, doorbell: Doorbell, shared: Known) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#shared = shared;
  }

  /** Returns what stands for a promise that may be cancelled, until it is settled by this function. */
  alone(settle: Waiter): Run {
    return { number: 0, waiting: 0, alone: settle, previous: undefined, next: undefined };
  }

  /** Does the same as `alone`, and watches over the time-out and the signal of the promise, whose code may run at once. */
  cancelOn(settle: Resolve, timeout: number, signal: Signal | undefined, wanted: Wanted): Cancellable {
    const run = this.alone((value) => {
      stop();
      // The second reaction runs only when the promise listens to it. V8 then finds who awaits the promise.
      settle(value?.catch(locate).catch(locate));
    });
    const stop = cancelOn(timeout, signal, (reason) => this.cancel(run, reason), wanted);
    return { run, stop };
  }

  /**
   * Asks the core for a place in the queue. Returns the answer of its `arrive`; above ADMITTED, a promise waits from now on.
   * If the call throws, no promise waits.
   * @param libraryObject is kept alive while promises wait.
   * @param settle settles the promise.
   * @param alone what `alone` has made of `settle`, if the promise may be cancelled.
   */
  arrive(libraryObject: LibraryObject, at: number, permits: number, settle: Waiter, alone?: Run): number {
    if (this.owes) this.#pay();
    if (!this.isTelling) this.obey();
    if (this.first === 0) {
      this.#notEntered = true;
      this.#doorbell.waitFor(this);
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
    const number = this.#core.arrive(at, permits, last, this.#shared.countedBy);
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
    const owed = this.#owed;
    owed.isTelling = false;
    if (this.owes) this.#pay();
    const why = (): unknown => reason;
    while (reason && this.#firstRun) {
      owed.run = this.#firstRun;
      owed.count = owed.run.waiting;
      owed.outcome = why;
      this.#pay();
    }
    for (let run = this.#firstRun; run; run = run.next) run.waiting = 0;
    this.first = this.last = 0;
    this.#firstRun = this.#lastRun = undefined;
  }

  /**
   * Cancels a promise that waits alone. Does nothing if it does not wait yet, or does not wait any more. Returns
   * whether it has left the queue.
   */
  cancel(run: Run, reason: () => unknown): boolean {
    if (this.owes) this.#pay();
    if (run.waiting === 0) return false;
    this.planRest();
    const answer = this.#core.cancelRun(run.number);
    const hasLeft = answer === CANCELLED || answer === MORE;
    if (hasLeft) {
      // Nothing is called until the run is out of the list.
      run.waiting = 0;
      if (run.previous) run.previous.next = run.next;
      else this.#firstRun = run.next;
      if (run.next) run.next.previous = run.previous;
      else {
        this.#lastRun = run.previous;
        this.last = this.#lastRun === undefined || this.#lastRun.alone ? 0 : this.#lastRun.number;
      }
      this.first = this.#firstRun?.number ?? 0;
      const isNested = this.isTelling;
      if (!isNested) {
        this.#owed.promise = run.alone;
        this.#owed.outcome = reason;
      }
      if (answer === MORE) this.#core.finishCancelRun();
      if (isNested) tell(run.alone as Waiter, rejected(reason));
    }
    // The run may have been due, or may have passed permits to other promises of this thread. No thread rings for these
    // promises, so they are settled here.
    this.#settle();
    return hasLeft;
  }

  /**
   * Rejects all promises if cancelAll has been called since this thread last read the count. Returns whether it has
   * been.
   */
  obey(): boolean {
    const isAsked = this.#core.asks(this.#shared.address) !== this.asks;
    if (isAsked) this.cancelAll(new CancelledError());
    return isAsked;
  }

  /** Rejects all promises except those that are due. */
  cancelAll(error: CancelledError): void {
    this.planRest();
    if (this.owes) this.#pay();
    if (this.isTelling) return;
    const owed = this.#owed;
    const asks = this.#core.asks(this.#shared.address);
    const why = (): unknown => error;
    while (this.first !== 0) {
      const run = this.first;
      const answer = this.#core.cancelRun(run);
      if (answer === CANCELLED || answer === MORE) {
        owed.run = this.#firstRun as Run;
        owed.count = owed.run.waiting;
        owed.outcome = why;
        if (answer === MORE) this.#core.finishCancelRun();
        this.#pay();
      } else this.#settle();
    }
    // Only now: if an exception has ended an earlier call midway, the rest goes on.
    this.asks = asks;
  }

  /**
   * Finishes a release of `permits` of the object at this address, which the core has begun with the answer `answered`
   * (core/queue/queue.ts). Fulfils the promises that this has made due. Returns the answer of the core; above
   * ADMITTED it is the number of the fulfilled promises.
   */
  finishRelease(at: number, permits: number, answered: number): number {
    if (!this.#notEntered) this.planRest();
    if (this.owes) this.#pay();
    const owed = this.#owed;
    const run = owed.isTelling ? 0 : this.first;
    const attachment = this.#shared.countedBy;
    const answer =
      run === 0
        ? this.#core.finishRelease(at, permits, answered, attachment)
        : this.#core.finishReleaseAndSettle(at, permits, answered, run, attachment);
    if (answer > ADMITTED && run !== 0) {
      owed.run = this.#firstRun;
      owed.count = answer;
      owed.outcome = GRANTED;
      this.#pay();
      // Later runs may be due as well.
      if (this.first !== run || this.#again) this.#settle();
    } else if (owed.isTelling) this.#again = true;
    return answer;
  }

  /**
   * Gives one permit of the object at this address back to the first promise, if no other request is before the promise.
   * Fulfils the promise. Returns false if nothing has changed: then the thread releases as if no promise waited.
   */
  releaseToOwn(at: number): boolean {
    if (!this.#notEntered) this.planRest();
    const owed = this.#owed;
    const settle = this.#waiters.peek() as Resolve;
    if (owed.outcome !== undefined || this.#core.releaseToOwn(at, 1, this.first, this.#shared.countedBy) === 0)
      return false;
    // Nothing is called until this is noted.
    const run = this.#firstRun as Run;
    owed.outcome = GRANTED;
    if (run.waiting > 1) {
      // This does what `#pay` does for one promise, in less time.
      owed.promise = settle;
      run.waiting--;
      this.#waiters.first++;
      this.#over++;
      owed.isTelling = true;
      try {
        settle();
        owed.told(settle);
      } finally {
        owed.isTelling = false;
      }
      if (this.#over >= this.#nextFrom) this.#tellTime();
    } else {
      owed.run = run;
      owed.count = 1;
      this.#pay();
    }
    // The function of the promise may have released, and left the promises to this call.
    if (this.#again) this.#settle();
    return true;
  }

  /**
   * Gives the lock of this thread to its promise that is the head. The first promise here becomes the head, if no other
   * request is between the two. Returns false if nothing has changed: then the thread unlocks as if no promise waited.
   */
  unlockToOwn(head: Ahead): boolean {
    const run = this.#firstRun;
    if (run === undefined || this.owes || head.isOwed) return false;
    const { owed } = head;
    const next = run.alone ?? this.#waiters.peek();
    const { address, attachment } = this.#shared;
    if (this.#core.unlockToOwn(address, run.number, attachment) === 0) return false;
    // Nothing is called until both promises are noted, and the new head is out of its run.
    head.granted = owed.promise as HeadRequest;
    owed.promise = next;
    head.asks = this.asks;
    if (run.alone === undefined) {
      this.#waiters.first++;
      this.#over++;
    }
    run.waiting--;
    if (run.waiting === 0) {
      const following = run.next;
      this.#firstRun = following;
      if (following) {
        following.previous = undefined;
        this.first = following.number;
      } else {
        this.#lastRun = undefined;
        this.first = this.last = 0;
      }
    }
    head.tell();
    this.#paid();
    return true;
  }

  /**
   * Settles all promises that are due, whichever thread made them due. No thread rings for a run after this
   * thread has settled its first promises.
   */
  settle(): void {
    this.planRest();
    this.#settle();
  }

  /**
   * Plans a rest if promises wait. Is called before the core makes some of them due, or takes some out of the array: an
   * exception may end the call of the thread afterwards, and then the rest goes on.
   */
  planRest(): void {
    if (this.first === 0 || this.#notEntered) return;
    this.#doorbell.restSoon(this);
    this.#notEntered = true;
  }

  /** Settles the due promises and leaves the others to the doorbell. */
  flush(): void {
    // The event loop has called, so no function runs. An exception may have ended one.
    this.#owed.isTelling = false;
    this.#shared.atRest?.();
    do this.#settle();
    while (this.first !== 0 && (this.#core.enterRun(this.first) !== 0 || this.obey()));
    this.#notEntered = false;
    if (this.first !== 0) this.#doorbell.entered(this, this.first);
    else this.#end();
  }

  #settle(): void {
    const owed = this.#owed;
    if (this.owes) this.#pay();
    this.#again = owed.isTelling;
    const { head } = this.#shared;
    if (head?.isOwed && !owed.isTelling) head.flush();
    while (this.first !== 0 && !owed.isTelling) {
      const count = this.#core.settle(this.first, this.#shared.countedBy);
      if (count === 0) return;
      if (count < 0) this.#close();
      else {
        owed.run = this.#firstRun;
        owed.count = count;
        owed.outcome = GRANTED;
        this.#pay();
      }
    }
  }

  /** Whether promises wait, or one that has waited does not know yet how its wait has ended. */
  get waits(): boolean {
    return this.first !== 0 || this.owes;
  }

  /** Whether the core has decided about promises here that do not know it yet. */
  get owes(): boolean {
    return this.#owed.outcome !== undefined;
  }

  /** Whether the function of a promise runs. */
  get isTelling(): boolean {
    return this.#owed.isTelling;
  }

  /** Tells the promises what the core has decided about them. */
  #pay(): void {
    const owed = this.#owed;
    if (owed.isTelling) return;
    const { run } = owed;
    if (run !== undefined) {
      // Nothing is called here until the promises are out of their run.
      owed.run = undefined;
      run.waiting -= owed.count;
      if (run.alone !== undefined) {
        owed.promise = run.alone;
        owed.count = 0;
      }
      if (run.waiting === 0) {
        const { next } = run;
        this.#firstRun = next;
        if (next) {
          next.previous = undefined;
          this.first = next.number;
        } else {
          this.#lastRun = undefined;
          this.first = this.last = 0;
        }
      }
    }
    while (owed.outcome !== undefined) {
      if (owed.promise === undefined) {
        const settle = this.#waiters.peek();
        // Nothing is called here until the promise has left the queue of functions.
        owed.promise = settle;
        owed.count--;
        this.#waiters.first++;
        this.#over++;
      }
      const { promise, value } = owed;
      const { head } = this.#shared;
      owed.isTelling = true;
      try {
        if (head === undefined) (promise as Resolve)(value);
        else if (value === undefined) head.due(promise as HeadRequest);
        else (promise as HeadRequest).has(value);
        owed.told(promise as Waiter);
      } finally {
        owed.isTelling = false;
      }
    }
    this.#paid();
  }

  /** Promises have left the queue. */
  #paid(): void {
    if (this.first === 0) this.#end();
    else if (this.#over >= this.#nextFrom) this.#tellTime();
  }

  /** Records since when the next promise waits. That is another time than that of the promise before. */
  #tellTime(): void {
    let since = 0;
    do {
      since = this.#times.shift()?.since as number;
      this.#nextFrom = this.#times.peek()?.from ?? Infinity;
    } while (this.#over >= this.#nextFrom);
    const run = this.#firstRun as Run;
    if (!run.alone) this.#core.waitsSince(run.number, since);
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
    const owed = this.#owed;
    const libraryObjects = [...this.#libraryObjects];
    while (this.first !== 0) {
      this.#core.dropRun(this.first);
      owed.run = this.#firstRun as Run;
      owed.count = owed.run.waiting;
      // All library objects of this thread have the same name.
      owed.outcome = () => disposed(libraryObjects[0]);
      this.#pay();
    }
    for (const libraryObject of libraryObjects) libraryObject[closed]();
  }
}
