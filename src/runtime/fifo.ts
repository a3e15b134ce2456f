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
