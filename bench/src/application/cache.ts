// A cache of pages that threads share: the least recently used page goes when the cache is full. Each call runs under a
// lock that the program brings: the cache itself uses no atomic instruction, except to notice that two threads are in it.

const HEAD = 0;
const TAIL = 1;
const SIZE = 2;
/** 1 while a thread is inside. */
const INSIDE = 3;
const HEADER = 4;

/** The number of a place that is none. Places begin at 1. */
const NONE = 0;

export const PAGE_BYTES = 4096;
const PAGE_WORDS = PAGE_BYTES / Int32Array.BYTES_PER_ELEMENT;

/** Makes the page of a key. It takes much longer than a look-up, as a template that is filled in or text that is parsed. */
export function render(key: number, into: Int32Array): void {
  let word = key;
  for (let pass = 0; pass < 50; pass++) {
    for (let i = 1; i < PAGE_WORDS - 1; i++) {
      word = (Math.imul(word, 1664525) + 1013904223) | 0;
      into[i] = word;
    }
  }
  into[0] = key;
  into[PAGE_WORDS - 1] = key;
}

/** Whether the page is that of the key, from its first word to its last. */
export const isPageOf = (key: number, page: Int32Array): boolean => page[0] === key && page[PAGE_WORDS - 1] === key;

export const newPage = (): Int32Array => new Int32Array(PAGE_WORDS);

export class SharedCache {
  readonly #words: Int32Array;
  /** By the key: the place of its page. */
  readonly #places: Int32Array;
  /** By the place: its key, and its neighbours from the page used last to the one used first. */
  readonly #keys: Int32Array;
  readonly #newer: Int32Array;
  readonly #older: Int32Array;
  readonly #pages: Int32Array;
  readonly #capacity: number;

  /** @param keys keys are the whole numbers from 0 to keys - 1. @param capacity how many pages there is room for. */
  constructor(memory: SharedArrayBuffer, keys: number, capacity: number) {
    let at = 0;
    const part = (length: number): Int32Array => {
      const words = new Int32Array(memory, at, length);
      at += length * Int32Array.BYTES_PER_ELEMENT;
      return words;
    };
    this.#capacity = capacity;
    this.#words = part(HEADER);
    this.#places = part(keys);
    this.#keys = part(capacity + 1);
    this.#newer = part(capacity + 1);
    this.#older = part(capacity + 1);
    this.#pages = part((capacity + 1) * PAGE_WORDS);
  }

  static share(keys: number, capacity: number): SharedArrayBuffer {
    return new SharedArrayBuffer((HEADER + keys + (capacity + 1) * (3 + PAGE_WORDS)) * Int32Array.BYTES_PER_ELEMENT);
  }

  /** Copies the page of the key, if it is there, and makes it the one used last. Returns whether it is there. */
  get(key: number, into: Int32Array): boolean {
    this.#enter();
    const place = this.#places[key] as number;
    if (place !== NONE) {
      this.#unlink(place);
      this.#linkAsLast(place);
      into.set(this.#page(place));
    }
    this.#leave();
    return place !== NONE;
  }

  /** Keeps the page of the key, if another thread has not kept it meanwhile. */
  put(key: number, page: Int32Array): void {
    this.#enter();
    if (this.#places[key] === NONE) {
      const words = this.#words;
      let place: number;
      if ((words[SIZE] as number) < this.#capacity) {
        place = ++(words[SIZE] as number);
      } else {
        place = words[TAIL] as number;
        this.#unlink(place);
        this.#places[this.#keys[place] as number] = NONE;
      }
      this.#places[key] = place;
      this.#keys[place] = key;
      this.#page(place).set(page);
      this.#linkAsLast(place);
    }
    this.#leave();
  }

  /**
   * Checks that each page is in the list once, and that the list has every page.
   * @throws {Error} if the cache is damaged
   */
  check(): void {
    let count = 0;
    let before = NONE;
    for (let place = this.#words[HEAD] as number; place !== NONE; place = this.#older[place] as number) {
      const key = this.#keys[place] as number;
      if (++count > this.#capacity) throw new Error('the list of the cache is a ring');
      if (this.#newer[place] !== before) throw new Error(`place ${place} of the cache has another neighbour`);
      if (this.#places[key] !== place) throw new Error(`key ${key} of the cache is at another place`);
      if (!isPageOf(key, this.#page(place))) throw new Error(`the page of key ${key} is another`);
      before = place;
    }
    if (count !== this.#words[SIZE] || before !== this.#words[TAIL])
      throw new Error(`the list of the cache has ${count} pages of ${this.#words[SIZE]}`);
  }

  #page(place: number): Int32Array {
    return this.#pages.subarray(place * PAGE_WORDS, (place + 1) * PAGE_WORDS);
  }

  #enter(): void {
    if (Atomics.exchange(this.#words, INSIDE, 1) !== 0) throw new Error('two threads are in the cache at once');
  }

  #leave(): void {
    Atomics.store(this.#words, INSIDE, 0);
  }

  #unlink(place: number): void {
    const newer = this.#newer[place] as number;
    const older = this.#older[place] as number;
    if (newer === NONE) this.#words[HEAD] = older;
    else this.#older[newer] = older;
    if (older === NONE) this.#words[TAIL] = newer;
    else this.#newer[older] = newer;
  }

  #linkAsLast(place: number): void {
    const head = this.#words[HEAD] as number;
    this.#newer[place] = NONE;
    this.#older[place] = head;
    if (head === NONE) this.#words[TAIL] = place;
    else this.#newer[head] = place;
    this.#words[HEAD] = place;
  }
}
