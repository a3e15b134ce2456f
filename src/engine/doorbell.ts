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
 *
 * Waiters of one semaphore stand in ticket order, so the first that is not due ends the look.
 */
import { host } from '#host';
import { DisposedError } from '../errors.js';
import { ANSWER_CLOSED, type Core, REFUSED } from './core.js';
import { Fifo } from './fifo.js';

interface Waiter {
  /** The library object, kept from collection while its promise waits: with it would go the reference. */
  readonly owner: object;
  readonly number: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class Doorbell {
  readonly #core: Core;
  readonly #words: Int32Array;
  readonly #index: number;
  /** By address of the semaphore; only those with waiters. */
  readonly #queues = new Map<number, Fifo<Waiter>>();
  #listening = false;

  constructor(core: Core, memory: WebAssembly.Memory) {
    this.#core = core;
    this.#words = new Int32Array(memory.buffer);
    this.#index = core.doorbell() >> 2;
  }

  /** Whether a promise waits. */
  get busy(): boolean {
    return this.#queues.size > 0;
  }

  /** A promise for the waiter that the core has just queued under this number. */
  wait(owner: object, address: number, number: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let queue = this.#queues.get(address);
      if (!queue) {
        if (!this.busy) host.keepAlive(true);
        queue = new Fifo();
        this.#queues.set(address, queue);
      }
      queue.push({ owner, number, resolve, reject });
      if (!this.#listening) this.#listen();
    });
  }

  /** Settles those promises of the semaphore whose turn has come, in ticket order. */
  settle(address: number): void {
    const queue = this.#queues.get(address);
    if (!queue) return;
    for (let waiter = queue.peek(); waiter; waiter = queue.peek()) {
      const answer = this.#core.settle(waiter.number);
      if (answer === REFUSED) return;
      queue.shift();
      if (answer === ANSWER_CLOSED) waiter.reject(new DisposedError('the semaphore has been disposed of'));
      else waiter.resolve();
    }
    this.#queues.delete(address);
    if (!this.busy) host.keepAlive(false);
  }

  #listen(): void {
    while (true) {
      const rung = Atomics.load(this.#words, this.#index);
      for (const address of this.#queues.keys()) this.settle(address);
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
