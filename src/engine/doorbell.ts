/**
 * Waiting promises of one thread, and the one word they wait on together.
 *
 * A thread that makes an async waiter due adds 1 to the doorbell of the waiter's thread and notifies it.
 * This thread has at most one `Atomics.waitAsync` pending on its doorbell, however many promises wait: such
 * a wait cannot be cancelled, and every one costs the engine memory until it is notified.
 *
 *     rest: d = doorbell; settle what is due and enter what is not entered; none left? done.
 *           Else waitAsync(doorbell, d) unless one is pending, then again
 *
 * Who rings notes in the record of the thread which run is due, of all modulo 256; so a thread looks at that and few
 * others, however many wait. It looks at every one when the look before was cut short by an exception.
 *
 * The doorbell is read before what is due, and that before the grants: a ring after that makes the wait return at once
 * (D7). A release by this very thread does not ring; it settles its own promises before it returns. A request for which it
 * blocks has a later ticket than they, so when that gives up it makes none of them due (core/queue/cancelling.ts).
 *
 * Promises stand in runs (core/queue/runs.ts). A run that has just begun, or whose front this thread has settled,
 * is not entered in the waiting array, so nobody can ring for it; then a rest is due in this turn of the
 * event loop, however many promises come and go until then.
 */
import { host } from '#host';
import { DisposedError } from '../errors.js';
import { type Core, REFUSED } from './core.js';
import { Fifo } from './fifo.js';
import { waitAsync } from './wait-async.js';

interface Run {
  readonly number: number;
  waiting: number;
  /** Of a promise that may give up, which has a run of its own: what settles it. */
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
   * A promise that may give up, in a run that the core has just begun for it.
   * @param watch is called at once with what makes it give up, for a reason; returns what is done when it is settled.
   */
  waitAlone(
    owner: Owner,
    number: number,
    watch: (giveUp: (reason: unknown) => void) => () => void,
  ): Promise<void> {
    return new Promise<void>((resolve) => {
      const giveUp = this.addAlone(owner, number, (value) => {
        unwatch();
        resolve(value);
      });
      const unwatch = watch(giveUp);
    });
  }

  /** The same, whatever is done when it is settled. Returns what makes it give up. */
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

  /** The thread ends: what waits is given up in the core, and nobody will be told. */
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
    if (this.#core.giveUpRun(run.number) === REFUSED) {
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

/** What looks after its promises when the doorbell has rung for it. */
export interface Resting {
  /** Leaves it entered, by which the doorbell knows it, or done. */
  rest(): void;
  /** @internal Where the doorbell has it. */
  place: number;
}

/** Words of the thread's record, as core/memory/layout.ts has them: from the doorbell on. */
const TO_DUE = 7;
const DUE_WORDS = 8;
const PLACES = 32 * DUE_WORDS;
/** In no place. */
export const NOWHERE = -1;

export class Doorbell {
  readonly #core: Core;
  readonly #words: Int32Array;
  readonly #index: number;
  /** Those with waiters. */
  readonly #waiting = new Set<Resting>();
  /** Those of them that may not be entered. */
  readonly #awake = new Set<Resting>();
  /** Those that are entered, by the bit that is set for them when they are due. */
  readonly #entered: (Set<Resting> | undefined)[] = [];
  /** Whether a look has not come to its end. */
  #inDoubt = false;
  #listening = false;
  #restDue = false;
  #keepsAlive = false;

  constructor(core: Core, memory: WebAssembly.Memory) {
    this.#core = core;
    this.#words = new Int32Array(memory.buffer);
    this.#index = core.doorbell() >> 2;
  }

  /** Whether a promise waits. */
  get busy(): boolean {
    return this.#waiting.size > 0;
  }

  promises(attachment: number): Promises {
    return new Promises(this.#core, this, attachment);
  }

  /** @internal The first promise waits. */
  waitFor(promises: Resting): void {
    this.#waiting.add(promises);
    this.wake(promises);
  }

  /** @internal The last promise has been settled. */
  done(promises: Resting): void {
    this.#waiting.delete(promises);
    this.#awake.delete(promises);
    this.#put(promises, NOWHERE);
    if (!this.busy) this.#keepAlive(false);
  }

  /** @internal They are entered, and noted by this number when they are due. */
  entered(promises: Resting, number: number): void {
    this.#awake.delete(promises);
    this.#put(promises, number % PLACES);
  }

  #put(promises: Resting, place: number): void {
    if (promises.place === place) return;
    this.#entered[promises.place]?.delete(promises);
    promises.place = place;
    if (place === NOWHERE) return;
    this.#entered[place] ??= new Set();
    this.#entered[place].add(promises);
  }

  /** @internal A run may not be entered. */
  wake(promises: Resting): void {
    this.#awake.add(promises);
    if (this.#restDue) return;
    // In this order: if an exhausted stack lets the first fail, the next one to come tries again.
    host.soon(this.#soon);
    this.#restDue = true;
  }

  readonly #soon = (): void => {
    this.#restDue = false;
    this.#rest();
  };

  #rest(): void {
    while (true) {
      const rung = Atomics.load(this.#words, this.#index);
      this.#look();
      if (!this.busy) return;
      this.#keepAlive(true);
      if (this.#listening) return;
      const wait = waitAsync(this.#words, this.#index, rung);
      if (!wait.async) continue;
      this.#listening = true;
      wait.value.then(() => {
        this.#listening = false;
        this.#rest();
      });
      return;
    }
  }

  #look(): void {
    const inDoubt = this.#inDoubt;
    this.#inDoubt = true;
    for (const promises of inDoubt ? this.#waiting : this.#awake) promises.rest();
    const first = this.#index + TO_DUE;
    for (let i = 0; i < DUE_WORDS; i++) {
      let due = Atomics.load(this.#words, first + i);
      if (due !== 0) due = Atomics.exchange(this.#words, first + i, 0);
      for (; due !== 0; due &= due - 1) {
        const place = 32 * i + 31 - Math.clz32(due & -due);
        for (const promises of this.#entered[place] ?? []) promises.rest();
      }
    }
    this.#inDoubt = false;
  }

  #keepAlive(on: boolean): void {
    if (on === this.#keepsAlive) return;
    this.#keepsAlive = on;
    host.keepAlive(on);
  }
}
