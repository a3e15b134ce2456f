/**
 * A queue of waiters, as a doubly linked list. Each operation costs the same, however many wait. To find the first
 * entry of a `Set` would cost more, because a `Set` steps over all entries that were deleted.
 */

/** An entry that can stand in one queue at a time. The queue sets these properties. */
export interface Waiter {
  queue: Queue | undefined;
  before: Waiter | undefined;
  after: Waiter | undefined;
}

export class Queue {
  first: Waiter | undefined;
  size = 0;
  #last: Waiter | undefined;

  add(waiter: Waiter): void {
    waiter.before = this.#last;
    if (this.#last) this.#last.after = waiter;
    else this.first = waiter;
    this.#last = waiter;
    waiter.queue = this;
    this.size++;
  }

  /** Does nothing if the entry is not in the queue. */
  delete(waiter: Waiter): void {
    const { before, after } = waiter;
    if (waiter.queue !== this) return;
    if (before) before.after = after;
    else this.first = after;
    if (after) after.before = before;
    else this.#last = before;
    waiter.queue = undefined;
    waiter.before = undefined;
    waiter.after = undefined;
    this.size--;
  }
}
