/**
 * Waiting promises of one thread, and the one word they wait on together.
 *
 * A thread that makes an async waiter due adds 1 to the doorbell of the waiter's thread and notifies it.
 * This thread has at most one `Atomics.waitAsync` pending on its doorbell, however many promises wait: such
 * a wait cannot be cancelled, and every one costs the engine memory until it is notified.
 *
 *     listen: d = doorbell; settle what is due; none left? done. Else waitAsync(doorbell, d), then again
 *
 * The doorbell is read before the grants: a ring after that makes the wait return at once (D7). A release
 * by this very thread does not ring; it settles its own promises before it returns.
 */
import { host } from '#host';
import { DisposedError } from '../errors.js';
import { ANSWER_CLOSED, type Core, REFUSED } from './core.js';
import { Fifo } from './fifo.js';

interface Waiter {
  readonly number: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Called on a library object when its promise has found the shared object disposed of. */
export const closed = Symbol('closed');

interface Owner {
  [closed](): void;
}

/** Without it a promise could be queued, but never be told. */
export const canWaitAsync = typeof Atomics.waitAsync === 'function';
export const NO_WAIT_ASYNC =
  'this engine has no Atomics.waitAsync, which acquireAsync needs: use acquire, in a worker';

// The executor of every promise here: one function for all, since a promise may wait in a hot loop.
let resolveNew: () => void;
let rejectNew: (error: Error) => void;
function capture(resolve: () => void, reject: (error: Error) => void): void {
  resolveNew = resolve;
  rejectNew = reject;
}

/** This thread's waiting promises on one semaphore, in ticket order: the first that is not due ends a look. */
export class Promises {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  readonly #waiters = new Fifo<Waiter>();
  /** Library objects with a promise here, kept from collection until all are settled: with them would go the references. */
  readonly #owners = new Set<Owner>();
  #latest: Owner | undefined;

  /** @internal */
  constructor(core: Core, doorbell: Doorbell) {
    this.#core = core;
    this.#doorbell = doorbell;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** A promise for the waiter that the core has just queued under this number. */
  wait(owner: Owner, number: number): Promise<void> {
    const promise = new Promise<void>(capture);
    this.#waiters.push({ number, resolve: resolveNew, reject: rejectNew });
    if (owner !== this.#latest) {
      this.#latest = owner;
      this.#owners.add(owner);
    }
    if (this.#waiters.size === 1) this.#doorbell.waitFor(this);
    return promise;
  }

  /**
   * Settles the promises whose turn has come: all of them, whoever made them due, since who comes later and
   * finds one settled does not ring for it.
   */
  settle(): void {
    if (this.#waiters.size === 0) return;
    let isClosed = false;
    for (let waiter = this.#waiters.peek(); waiter; waiter = this.#waiters.peek()) {
      const answer = this.#core.settle(waiter.number);
      if (answer === REFUSED) return;
      this.#waiters.shift();
      if (answer === ANSWER_CLOSED) {
        isClosed = true;
        waiter.reject(new DisposedError());
      } else waiter.resolve();
    }
    const owners = isClosed ? [...this.#owners] : [];
    this.#owners.clear();
    this.#latest = undefined;
    this.#doorbell.done(this);
    for (const owner of owners) owner[closed]();
  }
}

export class Doorbell {
  readonly #core: Core;
  readonly #words: Int32Array;
  readonly #index: number;
  /** Those with waiters. */
  readonly #waiting = new Set<Promises>();
  #listening = false;

  constructor(core: Core, memory: WebAssembly.Memory) {
    this.#core = core;
    this.#words = new Int32Array(memory.buffer);
    this.#index = core.doorbell() >> 2;
  }

  /** Whether a promise waits. */
  get busy(): boolean {
    return this.#waiting.size > 0;
  }

  promises(): Promises {
    return new Promises(this.#core, this);
  }

  /** @internal The first promise waits. */
  waitFor(promises: Promises): void {
    if (!this.busy) host.keepAlive(true);
    this.#waiting.add(promises);
    if (!this.#listening) this.#listen();
  }

  /** @internal The last promise has been settled. */
  done(promises: Promises): void {
    if (this.#waiting.delete(promises) && !this.busy) host.keepAlive(false);
  }

  #listen(): void {
    while (true) {
      const rung = Atomics.load(this.#words, this.#index);
      for (const promises of this.#waiting) promises.settle();
      if (!this.busy) return;
      const wait = Atomics.waitAsync(this.#words, this.#index, rung);
      if (!wait.async) continue;
      this.#listening = true;
      wait.value.then(() => {
        this.#listening = false;
        this.#listen();
      });
      return;
    }
  }
}
