/**
 * The pages of an arena, as rate limiters claim them. Channels have theirs by core/kinds/channel/pages.ts, and both read
 * the same table: an entry says to which object, of which generation, a page belongs. There are two claims, because
 * `taketurns/keyed` does not load the module of channels, and each program would carry the claim if the core had it.
 */
import { H_END, H_THREADS, LABEL_SIZE, METRICS_SIZE, O_LIFE, OBJECT_SIZE, PAGE_SIZE } from '../border/numbers.js';
import type { Regions } from '../look/key-reading.js';

const ENTRY = 8;

/** The pages of an arena. */
export class Pages {
  readonly #words: Int32Array;
  readonly #entries: BigInt64Array;
  /** Where the entries lie, in words of 4 bytes, and how many there are. */
  readonly #table: number;
  readonly #count: number;
  readonly #first: number;
  readonly #objects: number;

  constructor({ words, objects }: Regions) {
    this.#words = words;
    this.#entries = new BigInt64Array(words.buffer);
    this.#objects = objects;
    const labels = ((words[H_THREADS / 4] as number) + 1) * LABEL_SIZE;
    const table = Math.ceil(((words[H_END / 4] as number) + labels) / ENTRY) * ENTRY;
    this.#table = table / 4;
    const bytes = words.byteLength - table - PAGE_SIZE - METRICS_SIZE;
    this.#count = Math.max(Math.floor(bytes / (PAGE_SIZE + ENTRY)), 0);
    this.#first = Math.ceil((table + this.#count * ENTRY) / PAGE_SIZE) * PAGE_SIZE;
  }

  #generation(object: number): number {
    return Atomics.load(this.#words, (object + O_LIFE + 4) >> 2);
  }

  /**
   * Claims pages for an object, side by side. Returns the address of the first, or 0 if no so many are free.
   * @param areOwnFree whether pages that belong to the object already are free: nothing of it lies there.
   */
  claim(object: number, pages = 1, areOwnFree = false): number {
    const number = (object - this.#objects) / OBJECT_SIZE;
    const mine = BigInt.asIntN(64, (BigInt(this.#generation(object)) << 32n) | BigInt(number + 1));
    // Channels look for runs of pages from the first one on. So this begins at the end, and each object elsewhere.
    const skipped = pages === 1 && this.#count > 0 ? number % this.#count : 0;
    for (let tried = 0, last = this.#count - 1 - skipped; tried < this.#count; ) {
      let has = 0;
      while (has < pages && has <= last && this.#claim(last - has, mine, areOwnFree)) has++;
      if (has === pages) return this.#first + (last - has + 1) * PAGE_SIZE;
      for (let i = 0; i < has; i++) this.#free(last - i);
      tried += has + 1;
      last -= has + 1;
      if (last < 0) last += this.#count;
    }
    return 0;
  }

  #claim(page: number, mine: bigint, isOwnFree: boolean): boolean {
    const at = this.#table / 2 + page;
    if (isOwnFree && Atomics.load(this.#entries, at) === mine) return true;
    const low = Atomics.load(this.#words, 2 * at);
    if (low !== 0 && this.#generation(this.#objects + (low - 1) * OBJECT_SIZE) === this.#words[2 * at + 1])
      return false;
    // The two halves of the entry may be of two threads.
    const entry = Atomics.load(this.#entries, at);
    const owner = Number(BigInt.asUintN(32, entry));
    const isFree =
      owner === 0 ||
      this.#generation(this.#objects + (owner - 1) * OBJECT_SIZE) !== Number(BigInt.asIntN(32, entry >> 32n));
    return isFree && Atomics.compareExchange(this.#entries, at, entry, mine) === entry;
  }

  #free(page: number): void {
    Atomics.store(this.#entries, this.#table / 2 + page, 0n);
  }
}
