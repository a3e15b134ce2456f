/**
 * A line of waiters, as a doubly linked list. Each operation costs the same, however many wait. To find the first entry
 * of a `Set` would cost more, because a `Set` steps over all entries that were deleted.
 */

/** An entry that can stand in one line at a time. The line sets these properties. */
export interface Waiter {
  line: Line | undefined;
  before: Waiter | undefined;
  after: Waiter | undefined;
}

export class Line {
  first: Waiter | undefined;
  size = 0;
  #last: Waiter | undefined;

  add(waiter: Waiter): void {
    waiter.before = this.#last;
    if (this.#last) this.#last.after = waiter;
    else this.first = waiter;
    this.#last = waiter;
    waiter.line = this;
    this.size++;
  }

  /** Does nothing if the entry is not in the line. */
  delete(waiter: Waiter): void {
    const { before, after } = waiter;
    if (waiter.line !== this) return;
    if (before) before.after = after;
    else this.first = after;
    if (after) after.before = before;
    else this.#last = before;
    waiter.line = undefined;
    waiter.before = undefined;
    waiter.after = undefined;
    this.size--;
  }
}
