/**
 * This file keeps the promises of one thread that wait on one shared object, and settles them in the order of their tickets.
 *
 * Promises stand in runs (core/queue/runs.ts). A run that has just begun, or whose front this thread has settled, is not
 * entered in the waiting array, so nobody can ring for it. A rest (doorbell.ts) is then due in this turn of the event
 * loop, however many promises come and go until then.
 *
 * A release by this very thread does not ring. It settles the thread's own promises before it returns. A request for which
 * the thread blocks has a later ticket than they, so none of them becomes due when that request cancels
 * (core/queue/cancelling.ts).
 */
import { DisposedError } from '../errors.js';
import { type Core, REFUSED } from './core.js';
import { type Doorbell, NOWHERE } from './doorbell.js';
import { Fifo } from './fifo.js';

interface Run {
  readonly number: number;
  waiting: number;
  /** Of a promise that may cancel, which has a run of its own: what settles it. */
  readonly alone: Resolve | undefined;
  previous: Run | undefined;
  next: Run | undefined;
}

export type Resolve = (value?: Promise<never>) => void;

/** Called on a library object when its promise has found the shared object disposed of. */
export const closed = Symbol('closed');

interface Owner {
  [closed](): void;
}

// The executor of every promise here: one function for all, since a promise may wait in a hot loop. It lets go
// of `reject`, because to be resolved with a rejected promise does as well.
let resolveNew: Resolve;
function capture(resolve: (value?: void | PromiseLike<void>) => void): void {
  resolveNew = resolve;
}

/** This thread's waiting promises on one semaphore, in ticket order: the first that is not due ends a look. */
export class Promises {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  /** Where permits are counted that this thread holds, if the semaphore is robust; else 0. */
  readonly #attachment: number;
  /** Number of the first run, 0 if no promise waits; and of the last, 0 also if that stands alone. */
  first = 0;
  last = 0;
  /** Whether the first run may not be entered. */
  #awake = false;
  place = NOWHERE;
  #head: Run | undefined;
  #tail: Run | undefined;
  /** Of all that do not stand alone. */
  readonly #waiters = new Fifo<Resolve>();
  /** Library objects with a promise here, kept from collection until all are settled: with them would go the references. */
  readonly #owners = new Set<Owner>();
  #latest: Owner | undefined;

  /** @internal */
  constructor(core: Core, doorbell: Doorbell, attachment: number) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#attachment = attachment;
  }

  /** A promise that the core has just queued in the run of this number. */
  wait(owner: Owner, number: number): Promise<void> {
    const promise = new Promise<void>(capture);
    this.add(owner, number, resolveNew);
    return promise;
  }

  /** The same, whatever is done when it is settled. */
  add(owner: Owner, number: number, settle: Resolve): void {
    this.#waiters.push(settle);
    if (number === this.last) (this.#tail as Run).waiting++;
    else {
      this.#append(number, undefined);
      this.last = number;
    }
    this.#own(owner);
  }

  /**
   * A promise that may cancel, in a run that the core has just begun for it.
   * @param watch is called at once with what makes it cancel, for a reason; returns what is done when it is settled.
   */
  waitAlone(
    owner: Owner,
    number: number,
    watch: (cancel: (reason: unknown) => void) => () => void,
  ): Promise<void> {
    return new Promise<void>((resolve) => {
      const cancel = this.addAlone(owner, number, (value) => {
        unwatch();
        resolve(value);
      });
      const unwatch = watch(cancel);
    });
  }

  /** The same, whatever is done when it is settled. Returns what makes it cancel. */
  addAlone(owner: Owner, number: number, settle: Resolve): (reason: unknown) => void {
    const run = this.#append(number, settle);
    this.last = 0;
    this.#own(owner);
    return (reason) => this.#giveUp(run, reason);
  }

  #own(owner: Owner): void {
    if (this.#awake) this.#doorbell.wake(this);
    if (owner === this.#latest) return;
    this.#latest = owner;
    this.#owners.add(owner);
  }

  #append(number: number, alone: Resolve | undefined): Run {
    const run: Run = { number, waiting: 1, alone, previous: this.#tail, next: undefined };
    if (this.#tail) this.#tail.next = run;
    else this.#head = run;
    this.#tail = run;
    if (this.first === 0) {
      this.first = number;
      this.#awake = true;
      this.#doorbell.waitFor(this);
    }
    return run;
  }

  /** The thread ends: what waits is cancelled in the core, and nobody will be told. */
  forget(): void {
    for (let run = this.#head; run; run = run.next) run.waiting = 0;
    this.first = this.last = 0;
    this.#head = this.#tail = undefined;
  }

  /** Takes out a run, wherever it stands. */
  #remove(run: Run): void {
    if (run.previous) run.previous.next = run.next;
    else this.#head = run.next;
    if (run.next) run.next.previous = run.previous;
    else {
      this.#tail = run.previous;
      this.last = this.#tail === undefined || this.#tail.alone ? 0 : this.#tail.number;
    }
    this.first = this.#head?.number ?? 0;
  }

  #giveUp(run: Run, reason: unknown): void {
    if (run.waiting === 0) return;
    if (this.#core.cancelRun(run.number) === REFUSED) {
      run.waiting = 0;
      this.#remove(run);
      run.alone?.(Promise.reject(reason));
    }
    // It may have been due, or have passed on permits to promises of this thread, for which nobody rings.
    this.settle();
    if (this.first === 0) this.#end();
  }

  /** Fulfils so many promises, which the core has settled in the first run, and what is due behind that. */
  settled(count: number): void {
    const run = this.first;
    this.#fulfil(count);
    if (this.first === run) this.#restSoon();
    else this.settle();
  }

  /**
   * Settles the promises whose turn has come: all of them, whoever made them due, since who comes later and
   * finds one settled does not ring for it.
   */
  settle(): void {
    this.#settle();
    if (this.first !== 0) this.#restSoon();
  }

  #restSoon(): void {
    this.#awake = true;
    this.#doorbell.wake(this);
  }

  /** Settles what is due and leaves the rest to the doorbell. */
  rest(): void {
    do this.#settle();
    while (this.first !== 0 && this.#core.enterRun(this.first, Date.now() | 0) !== 0);
    this.#awake = false;
    if (this.first !== 0) this.#doorbell.entered(this, this.first);
  }

  #settle(): void {
    while (this.first !== 0) {
      const count = this.#core.settle(this.first, this.#attachment);
      if (count === 0) return;
      if (count < 0) this.#close();
      else this.#fulfil(count);
    }
  }

  #fulfil(count: number): void {
    const run = this.#head as Run;
    run.waiting -= count;
    if (run.waiting === 0) this.#remove(run);
    if (run.alone) run.alone();
    else for (let i = 0; i < count; i++) this.#waiters.shift()?.();
    if (this.first === 0) this.#end();
  }

  /** Nobody waits any more. */
  #end(): void {
    this.#owners.clear();
    this.#latest = undefined;
    this.#doorbell.done(this);
  }

  /** The semaphore has been disposed of. */
  #close(): void {
    for (let run = this.#head; run; run = this.#head) {
      this.#remove(run);
      this.#core.dropRun(run.number);
      const waiting = run.waiting;
      run.waiting = 0;
      if (run.alone) run.alone(Promise.reject(new DisposedError()));
      else for (let i = 0; i < waiting; i++) this.#waiters.shift()?.(Promise.reject(new DisposedError()));
    }
    const owners = [...this.#owners];
    this.#end();
    for (const owner of owners) owner[closed]();
  }
}
