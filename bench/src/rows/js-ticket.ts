// A ticket semaphore as a programmer writes it in plain JavaScript: the baseline that the library has to beat.
//
// Ticket and grant are 32-bit words. All waiters wait on grant. A release does not know which waiter is next, so it
// wakes all of them. The semaphore is fair. It compares a ticket with grant by the sign of their difference, which
// wraps. So it is correct as long as no thread sleeps through 2^31 releases.

const TICKET = 0;
const GRANT = 1;

export class JsTicketSemaphore {
  readonly #words: Int32Array;
  #latest = 0;

  constructor(words: Int32Array) {
    this.#words = words;
  }

  static share(permits: number): Int32Array {
    const words = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    words[GRANT] = permits;
    return words;
  }

  /** The ticket that this thread's latest acquire took. */
  get latest(): number {
    return this.#latest;
  }

  acquire(): void {
    const ticket = Atomics.add(this.#words, TICKET, 1);
    this.#latest = ticket;
    while (true) {
      const grant = Atomics.load(this.#words, GRANT);
      if (((grant - ticket) | 0) > 0) return;
      Atomics.wait(this.#words, GRANT, grant);
    }
  }

  release(): void {
    Atomics.add(this.#words, GRANT, 1);
    Atomics.notify(this.#words, GRANT);
  }
}
