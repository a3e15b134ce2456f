/** A queue hands items out first in, first out, at a constant cost for each item. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  /** Returns the item that `shift` hands out next. */
  peek(): T | undefined {
    return this.#items[this.#first];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#first];
    this.#items[this.#first++] = undefined;
    // Half of the array is empty, so the items move down. Each item pays once for this move.
    if (this.#first >= 64 && this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    } else if (this.#first === this.#items.length) {
      this.#items.length = this.#first = 0;
    }
    return item;
  }
}
