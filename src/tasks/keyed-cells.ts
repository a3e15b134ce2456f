/**
 * The cells of a KeyedRateLimiter of tasks (common/rate-cells.ts): one region, in memory of its own. If a new key finds no
 * room, all cells that count move to memory that is a quarter larger. When as many new keys have come as there are cells,
 * and less than a quarter of the cells count, they move to less memory.
 */
import { hasStack, TO_CHANGE_RATE } from '../common/has-stack.js';
import type { Key } from '../common/keys.js';
import type { Rate } from '../common/rate.js';
import { BUCKET, RateCells } from '../common/rate-cells.js';
import type { RateState } from '../common/schedule.js';
import { now } from './clock.js';

const GROWTH = 1.25;
/** Which part of the cells counts after a move to less memory. */
const LOAD = 0.7;

export class KeyedCells {
  readonly #cells: RateCells;
  /** Called when a new key comes. It may call `give`. */
  readonly #onNew: () => void;
  #buckets = 1;
  /** How many new keys have come since the cells have moved or were looked at. */
  #made = 0;

  constructor(rate: Rate, onNew: () => void) {
    this.#cells = new RateCells(rate, Math.floor(Math.random() * 2 ** 32) | 0);
    this.#onNew = onNew;
    this.clear();
  }

  /** No key counts any more. */
  clear(): void {
    this.#buckets = 1;
    this.#cells.use(this.#memory(1));
  }

  #memory(buckets: number): Float64Array {
    return new Float64Array(this.#cells.floatsOf(buckets));
  }

  #find(key: Key): boolean {
    this.#cells.enter(key);
    return this.#cells.find(0, this.#buckets);
  }

  /** Finds the cell of a key, or makes one. */
  #findOrMake(key: Key, time: number): void {
    if (this.#find(key)) return;
    this.#onNew();
    this.#make(key, time);
  }

  #make(key: Key, time: number): void {
    if (++this.#made > this.#buckets * BUCKET) this.#shrink(time);
    this.#cells.enter(key);
    while (!this.#cells.make(0, this.#buckets, time)) {
      this.#move(Math.ceil(this.#buckets * GROWTH), time);
      this.#cells.enter(key);
    }
  }

  #move(buckets: number, time: number): void {
    hasStack(TO_CHANGE_RATE);
    let more = buckets;
    while (!this.#cells.moveTo(this.#memory(more), this.#buckets, more, time)) more = Math.ceil(more * GROWTH);
    this.#buckets = more;
    this.#made = 0;
  }

  #shrink(time: number): void {
    this.#made = 0;
    const size = this.#count(time);
    if (size < (this.#buckets * BUCKET) / 4) this.#move(Math.ceil(size / LOAD / BUCKET) || 1, time);
  }

  #count(time: number): number {
    let size = 0;
    this.#cells.each(0, this.#buckets, time, () => size++);
    return size;
  }

  /** How many keys count. */
  get size(): number {
    return this.#count(now());
  }

  tryTake(key: Key, permits: number): boolean {
    const time = now();
    this.#findOrMake(key, time);
    return this.#cells.tryTake(permits, time);
  }

  dueIn(key: Key, permits: number): number {
    const time = now();
    return this.#find(key) ? this.#cells.due(permits, time) - time : 0;
  }

  taken(key: Key): number {
    return this.#find(key) ? this.#cells.taken(now()) : 0;
  }

  /** Returns what changes the rate of a key. */
  of(key: Key): { pause(milliseconds: number): void; spend(permits: number): void } {
    const time = now();
    this.#findOrMake(key, time);
    return {
      pause: (milliseconds) => this.#cells.pause(milliseconds, time),
      spend: (permits) => this.#cells.spend(permits, time),
    };
  }

  /** The log of a key; undefined if nothing counts. */
  stateOf(key: Key): RateState | undefined {
    return this.#find(key) ? this.#cells.state(now()) : undefined;
  }

  /** The log of a key counts elsewhere. */
  forget(key: Key): void {
    if (this.#find(key)) this.#cells.clear();
  }

  /** Gives a key a log. What it had here counts no more. */
  give(key: Key, state: RateState): void {
    if (this.#find(key)) this.#cells.clear();
    else this.#make(key, now());
    this.#cells.restore(state);
  }
}
