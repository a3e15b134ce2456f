/** A queue hands items out first in, first out, at a constant cost for each item. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;
  /** The index behind the last item. */
  end = 0;

  /** Returns the item that `shift` hands out next. */
  peek(): T | undefined {
    return this.#first < this.end ? this.#items[this.#first] : undefined;
  }

  /** Puts an item behind the last one. It enters the queue when the caller adds 1 to `end`, which is no call. */
  put(item: T): void {
    this.#items[this.end] = item;
  }

  push(item: T): void {
    this.put(item);
    this.end++;
  }

  shift(): T | undefined {
    if (this.#first === this.end) return undefined;
    const item = this.#items[this.#first];
    this.#items[this.#first++] = undefined;
    // Half of the array is empty, so the items move down. Each item pays once for this move.
    if (this.#first >= 64 && this.#first * 2 >= this.end) {
      this.#items = this.#items.slice(this.#first, this.end);
      this.end -= this.#first;
      this.#first = 0;
    } else if (this.#first === this.end) {
      this.#items.length = this.#first = this.end = 0;
    }
    return item;
  }
}
