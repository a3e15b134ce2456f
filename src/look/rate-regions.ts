/**
 * Where the regions of a KeyedRateLimiter lie in the memory of its arena (src/rates/keyed-memory.ts tells what they
 * are), and how to read without a lock what they have counted.
 */
import { O_INITIAL, O_MAX, O_SPIN, O_THRESHOLD, PAGE_SIZE } from '../border/numbers.js';
import type { Rate } from '../common/rate.js';
import { BUCKET, RateCells } from '../common/rate-cells.js';
import { readRate } from './rate-page.js';
import type { View } from './view.js';

/** Which part of the cells may be in use before a new key may find no room. */
const FULL = 0.8;
/** The most cells of a region. */
const REGION = 2048;

// The first floats.
export const CLOCK = 0;
export const SEED = 1;
export const HEADS = 2;
// The head of a region. The lock is two words; the word after it is 1 once the region has been made.
export const MADE = 2;
export const NOTED_HASH_AT = 2;
export const NOTED_CELL_AT = 3;
export const NOTED_HASH = 4;
/** From this time on nothing of the region counts. */
export const UNTIL = 5;
export const TAKEN = 6;
export const REFUSED = 7;
export const NO_ROOM = 8;
/** The latest time that a thread has seen here. */
export const NOW = 9;
export const NOTED_CELL = 10;

/** How the memory of a limiter is divided. */
export class Plan {
  readonly regions: number;
  /** Of each region. */
  readonly buckets: number;
  readonly head: number;
  readonly region: number;
  readonly pages: number;

  constructor(cells: RateCells, keys: number) {
    const all = Math.ceil(keys / FULL);
    this.regions = Math.ceil(all / REGION);
    this.buckets = Math.ceil(all / this.regions / BUCKET);
    this.head = NOTED_CELL + cells.size;
    this.region = cells.floatsOf(this.buckets);
    this.pages = Math.ceil(((HEADS + this.regions * (this.head + this.region)) * 8) / PAGE_SIZE);
  }
}

/** Returns the rate of each key of a limiter. */
export function rateIn(words: Int32Array, object: number): Rate {
  const load = (property: number): number => words[(object + property) >> 2] as number;
  return { permits: load(O_INITIAL), per: load(O_MAX), burst: load(O_SPIN) };
}

export function planAt(words: Int32Array, object: number): Plan {
  return new Plan(new RateCells(rateIn(words, object), 0), words[(object + O_THRESHOLD) >> 2] as number);
}

/** Returns how many permits a KeyedRateLimiter has given, and how many calls it has refused. */
export function countsAt(view: View, object: number): { readonly taken: number; readonly refused: number } {
  const read = (words: Int32Array, floats: Float64Array, page: number) => {
    const counts = { taken: 0, refused: 0 };
    const { regions, head } = planAt(words, object);
    for (let at = page / 8 + HEADS, region = 0; region < regions; at += head, region++) {
      counts.taken += floats[at + TAKEN] as number;
      counts.refused += floats[at + REFUSED] as number;
    }
    return counts;
  };
  return readRate(view, object, read) ?? { taken: 0, refused: 0 };
}
