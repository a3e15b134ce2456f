/**
 * Rates of many keys in little memory: for each key a cell of 48 to 80 bytes, in a table. No cell has a name or an owner,
 * and nobody deletes one: a cell that says what a new one says *is* free. So there is nothing to tidy up, and a key that
 * comes back finds its cell, or one that says the same.
 *
 *     region: the hashes of all cells | the cells
 *     bucket: 16 cells. A key may be in one of two buckets, which its hash chooses; a new key takes the emptier one
 *     cell:   next, paused, base | permits of each run | date of each run | begin of the newest run, number of runs
 *
 * The promise is that of schedule.ts: at most n permits of a key begin in any window of t milliseconds. Nobody waits
 * here, so there is no queue, and a cell is only the log, with up to `runs` runs, and `next` of the generic cell rate
 * algorithm (schedule.ts). The dates of runs count in 32,768ths of a window, rounded up: so a permit may count by that
 * much longer, and never shorter.
 *
 * With more permits than runs, permits of a sixth of a window are one run, and its date is that of its last permit. When
 * such a run leaves the window, not all its permits leave at once. The algorithm has spread them: of permits that it has
 * let go, at most (u + TICK) / interval + burst lie in the last u milliseconds of a run. (Between the first permit of
 * these, at time f, and the last one, `next` has grown from f or later by the interval for each permit, and it is at most
 * `ahead` later than the last one.) So the run counts by this bound, and at most about `burst` permits count for longer
 * than a window. This does not hold for permits that `spend` has counted, that were more at once than the burst, or that
 * came after `spend` has given some back. A run with such permits is *uneven*, and counts as a whole until its date has
 * left the window.
 *
 * Two keys with the same hash of 53 bits share a rate: each of them gets fewer permits then, never more. The hash begins
 * with a random seed, so nobody can choose such keys in advance.
 */
import type { Key } from './keys.js';
import type { Rate } from './rate.js';
import { type RateState, TICK } from './schedule.js';

/** The most runs of a cell. */
const MOST_RUNS = 7;
/** Permits of so many parts of a window are in one run. */
const GRAIN = MOST_RUNS - 1;
/** Dates of runs count in so many parts of a window. */
const PARTS = 2 ** 15;
const MOST_PARTS = 2 ** 16 - 1;
/** How many cells a bucket has. */
export const BUCKET = 16;

// A cell, in floats.
const NEXT = 0;
const PAUSED = 1;
/** The time from which the dates of the runs count. */
const BASE = 2;
const RUNS = 3;

/** The bit of an uneven run. */
const UNEVEN = 2 ** 31;
const MOST_PERMITS = UNEVEN - 1;
const NONE = -1;

/** The first part of a number below 1: `part` of 2^32. */
const fraction = (part: number): number => (part >>> 0) / 2 ** 32;

/** The cells of one limiter. A call works on the cell that `find` has found last. No time is before an earlier one. */
export class RateCells {
  readonly #permits: number;
  readonly #per: number;
  readonly #burst: number;
  readonly #interval: number;
  /** How many permits more than evenly may lie in a part of a run. */
  readonly #more: number;
  readonly #seed: number;
  readonly #runs: number;
  /** How many floats a cell takes, without its hash. */
  readonly size: number;
  /** Called before a cell changes, with the indices of its hash and of the cell. */
  readonly #touch: ((hash: number, cell: number) => void) | undefined;
  #floats!: Float64Array;
  #words!: Uint32Array;
  #parts!: Uint16Array;
  /** The hash of the key: two halves. */
  #a = 0;
  #b = 0;
  #hash = 0;
  /** Where the hash of the cell stands, and the cell: indices of floats. */
  #at = 0;
  #cell = 0;

  constructor({ permits, per, burst }: Rate, seed: number, touch?: (hash: number, cell: number) => void) {
    this.#permits = permits;
    this.#per = per;
    this.#burst = burst;
    this.#interval = per / permits;
    this.#more = burst + TICK / this.#interval;
    this.#seed = seed;
    this.#runs = Math.min(permits, MOST_RUNS);
    this.size = RUNS + Math.ceil((6 * this.#runs + 4) / 8);
    this.#touch = touch;
  }

  /** How many floats a region of so many buckets takes. */
  floatsOf(buckets: number): number {
    return buckets * BUCKET * (1 + this.size);
  }

  /** The cells lie in these floats from now on. */
  use(floats: Float64Array): void {
    this.#floats = floats;
    this.#words = new Uint32Array(floats.buffer, floats.byteOffset, floats.length * 2);
    this.#parts = new Uint16Array(floats.buffer, floats.byteOffset, floats.length * 4);
  }

  // --- Keys.

  /** The calls that follow are for this key. Returns in which part of the regions it is, 0 to below 1. */
  enter(key: Key): number {
    let a = this.#seed;
    let b = typeof key === 'string' ? ~a : a ^ 0x55555555;
    const parts = typeof key === 'string' ? key.length : 2;
    for (let i = 0; i < parts; i++) {
      const part = typeof key === 'string' ? key.charCodeAt(i) : i === 0 ? key | 0 : Math.floor(key / 2 ** 32);
      a = Math.imul(a ^ part, 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b ^ part, 0x85ebca77);
      b ^= b >>> 13;
    }
    // The last steps of MurmurHash3: each bit depends on all.
    a = Math.imul(a ^ (a >>> 16) ^ b, 0x85ebca6b);
    a = Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
    a ^= a >>> 16;
    b = Math.imul(b ^ (b >>> 16) ^ a, 0xc2b2ae35);
    b = Math.imul(b ^ (b >>> 13), 0x85ebca6b);
    b ^= b >>> 16;
    this.#a = a;
    this.#b = b;
    // 0 is no hash.
    this.#hash = (a & 0x1fffff) * 2 ** 32 + (b >>> 0) || 1;
    return fraction(a);
  }

  /** Finds the cell of the key in a region. Returns whether there is one. */
  find(region: number, buckets: number): boolean {
    return this.#findIn(region, buckets, this.#first(buckets)) || this.#findIn(region, buckets, this.#second(buckets));
  }

  #first(buckets: number): number {
    return Math.floor(fraction(this.#b) * buckets);
  }

  #second(buckets: number): number {
    return Math.floor(fraction(this.#a << 12) * buckets);
  }

  #findIn(region: number, buckets: number, bucket: number): boolean {
    const floats = this.#floats;
    const first = region + bucket * BUCKET;
    for (let at = first; at < first + BUCKET; at++)
      if (floats[at] === this.#hash) {
        this.#select(region, buckets, at);
        return true;
      }
    return false;
  }

  #select(region: number, buckets: number, at: number): void {
    this.#at = at;
    this.#cell = region + buckets * BUCKET + (at - region) * this.size;
  }

  /** Makes a cell for the key, which has none. Returns false if there is no room. */
  make(region: number, buckets: number, now: number): boolean {
    const floats = this.#floats;
    let place = NONE;
    // A cell that was never in use is known by its hash alone. So the others are looked at only if there is none.
    for (let tries = 0; tries < 2 && place === NONE; tries++) {
      let most = 0;
      for (let choice = 0; choice < 2; choice++) {
        const first = region + BUCKET * (choice === 0 ? this.#first(buckets) : this.#second(buckets));
        let room = 0;
        let free = NONE;
        for (let at = first; at < first + BUCKET; at++) {
          if (floats[at] !== 0) {
            if (tries === 0) continue;
            this.#select(region, buckets, at);
            if (this.freeAt > now) continue;
          }
          room++;
          if (free === NONE) free = at;
        }
        if (room > most) {
          most = room;
          place = free;
        }
      }
    }
    if (place === NONE) return false;
    this.#select(region, buckets, place);
    this.#touch?.(this.#at, this.#cell);
    floats[place] = this.#hash;
    floats.fill(0, this.#cell, this.#cell + this.size);
    floats[this.#cell + NEXT] = -Infinity;
    floats[this.#cell + PAUSED] = -Infinity;
    return true;
  }

  /** When the first cell of the buckets of a key is free, which has none. */
  roomAt(region: number, buckets: number): number {
    let earliest = Infinity;
    for (const bucket of [this.#first(buckets), this.#second(buckets)])
      for (let i = 0; i < BUCKET; i++) {
        const at = region + bucket * BUCKET + i;
        if (this.#floats[at] === 0) return -Infinity;
        this.#select(region, buckets, at);
        earliest = Math.min(earliest, this.freeAt);
      }
    return earliest;
  }

  /** Calls a function for each cell of a region that is not free. The calls that it makes are for this cell. */
  each(region: number, buckets: number, now: number, act: (hash: number) => void): void {
    for (let at = region; at < region + buckets * BUCKET; at++) {
      const hash = this.#floats[at] as number;
      if (hash === 0) continue;
      this.#select(region, buckets, at);
      if (this.freeAt > now) act(hash);
    }
  }

  // --- What a cell consists of.

  get #count(): number {
    return this.#parts[4 * (this.#cell + RUNS) + 3 * this.#runs + 1] as number;
  }

  set #count(count: number) {
    this.#parts[4 * (this.#cell + RUNS) + 3 * this.#runs + 1] = count;
  }

  /** When the newest run has begun, in parts of a window. */
  get #from(): number {
    return this.#parts[4 * (this.#cell + RUNS) + 3 * this.#runs] as number;
  }

  set #from(part: number) {
    this.#parts[4 * (this.#cell + RUNS) + 3 * this.#runs] = part;
  }

  #wordOf(run: number): number {
    return 2 * (this.#cell + RUNS) + run;
  }

  #partOf(run: number): number {
    return 4 * (this.#cell + RUNS) + 2 * this.#runs + run;
  }

  #permitsOf(run: number): number {
    return (this.#words[this.#wordOf(run)] as number) & MOST_PERMITS;
  }

  #isUneven(run: number): boolean {
    return (this.#words[this.#wordOf(run)] as number) > MOST_PERMITS;
  }

  #dateOf(run: number): number {
    return (
      (this.#floats[this.#cell + BASE] as number) + ((this.#parts[this.#partOf(run)] as number) * this.#per) / PARTS
    );
  }

  /** When the cell says what a new one says. */
  get freeAt(): number {
    const floats = this.#floats;
    const count = this.#count;
    const last = count === 0 ? -Infinity : this.#dateOf(count - 1) + this.#per;
    return Math.max(floats[this.#cell + NEXT] as number, floats[this.#cell + PAUSED] as number, last);
  }

  // --- Dates.

  /** Returns the earliest date, not before `now`, at which permits may go. */
  due(permits: number, now: number): number {
    if (permits > this.#permits) return Infinity;
    const floats = this.#floats;
    const ahead = Math.max((this.#burst - permits) * this.#interval, TICK);
    const even = (floats[this.#cell + NEXT] as number) - ahead;
    let date = Math.max(now, floats[this.#cell + PAUSED] as number, even);
    const count = this.#count;
    let over = permits - this.#permits;
    for (let run = 0; run < count; run++) over += this.#permitsOf(run);
    for (let run = 0; over > 0; run++) {
      const its = this.#permitsOf(run);
      let end = this.#dateOf(run) + this.#per;
      // So many of its permits may still count.
      if (its > over && !this.#isUneven(run)) end -= Math.max(its - over - this.#more, 0) * this.#interval;
      date = Math.max(date, end);
      over -= its;
    }
    return date;
  }

  /** Takes permits if they may begin now. */
  tryTake(permits: number, now: number): boolean {
    if (this.due(permits, now) > now) return false;
    this.#add(permits, now, permits <= this.#burst);
    return true;
  }

  #add(permits: number, now: number, isEven: boolean): void {
    this.#touch?.(this.#at, this.#cell);
    this.#expire(now);
    this.#append(permits, now, isEven);
    const floats = this.#floats;
    const next = Math.max(floats[this.#cell + NEXT] as number, now);
    floats[this.#cell + NEXT] = next + permits * this.#interval;
  }

  /** Counts permits without waiting; a number below 0 gives some back, the oldest first. See schedule.ts. */
  spend(permits: number, now: number): void {
    if (permits >= 0) {
      if (permits > 0) this.#add(permits, now, false);
      return;
    }
    this.#touch?.(this.#at, this.#cell);
    this.#expire(now);
    let left = -permits;
    this.#floats[this.#cell + NEXT] = (this.#floats[this.#cell + NEXT] as number) - left * this.#interval;
    while (left > 0 && this.#count > 0) {
      const its = this.#permitsOf(0);
      // It has counted fewer permits than were spent, so nobody knows how many are left.
      if (its === MOST_PERMITS) break;
      const given = Math.min(left, its);
      left -= given;
      if (given === its) this.#remove(1);
      else (this.#words[this.#wordOf(0)] as number) -= given;
    }
    const count = this.#count;
    if (count > 0) this.#words[this.#wordOf(count - 1)] = this.#permitsOf(count - 1) + UNEVEN;
  }

  pause(milliseconds: number, now: number): void {
    this.#touch?.(this.#at, this.#cell);
    this.#floats[this.#cell + PAUSED] = Math.max(this.#floats[this.#cell + PAUSED] as number, now + milliseconds);
  }

  /** How many permits count in the window that ends now, at most. */
  taken(now: number): number {
    let sum = 0;
    for (let run = 0; run < this.#count; run++) {
      const left = this.#dateOf(run) + this.#per - now;
      if (left <= 0) continue;
      const its = this.#permitsOf(run);
      sum += this.#isUneven(run) ? its : Math.min(its, Math.floor(left / this.#interval + this.#more));
    }
    return sum;
  }

  /** Removes the oldest runs. */
  #remove(runs: number): void {
    const count = this.#count - runs;
    for (let run = 0; run < count; run++) {
      this.#words[this.#wordOf(run)] = this.#words[this.#wordOf(run + runs)] as number;
      this.#parts[this.#partOf(run)] = this.#parts[this.#partOf(run + runs)] as number;
    }
    this.#count = count;
  }

  /** What lies a window before now counts no more. */
  #expire(now: number): void {
    let gone = 0;
    while (gone < this.#count && this.#dateOf(gone) + this.#per <= now) gone++;
    if (gone > 0) this.#remove(gone);
  }

  /** Adds permits that begin now to the end of the log, from which all that counts no more has gone. */
  #append(permits: number, now: number, isEven: boolean): void {
    const parts = this.#parts;
    const part = this.#partAt(now);
    let newest = this.#count - 1;
    const isNew =
      newest < 0 ||
      (newest + 1 < this.#runs &&
        part !== parts[this.#partOf(newest)] &&
        (this.#permits <= this.#runs || (part - this.#from) * GRAIN >= PARTS));
    if (isNew) {
      newest++;
      this.#words[this.#wordOf(newest)] = 0;
      this.#from = part;
      this.#count = newest + 1;
    }
    parts[this.#partOf(newest)] = part;
    const sum = Math.min(this.#permitsOf(newest) + permits, MOST_PERMITS);
    this.#words[this.#wordOf(newest)] = sum + (isEven && !this.#isUneven(newest) ? 0 : UNEVEN);
  }

  /** Returns the date of permits that begin now, in parts of a window since the base, which moves if need be. */
  #partAt(now: number): number {
    const count = this.#count;
    const base = this.#cell + BASE;
    if (count === 0) {
      this.#floats[base] = now;
      return 0;
    }
    const part = Math.ceil(((now - (this.#floats[base] as number)) * PARTS) / this.#per);
    if (part <= MOST_PARTS) return part;
    const by = this.#parts[this.#partOf(0)] as number;
    this.#floats[base] = (this.#floats[base] as number) + (by * this.#per) / PARTS;
    for (let run = 0; run < count; run++) (this.#parts[this.#partOf(run)] as number) -= by;
    this.#from = Math.max(this.#from - by, 0);
    return part - by;
  }

  // --- Whole cells.

  /** Where the log of the cell goes on in a schedule: its numbers, and its runs, the oldest first. */
  state(now: number): RateState {
    const runs: [date: number, permits: number][] = [];
    for (let run = 0; run < this.#count; run++) {
      const date = this.#dateOf(run);
      if (date + this.#per > now) runs.push([Math.min(date, now), this.#permitsOf(run)]);
    }
    return {
      next: this.#floats[this.#cell + NEXT] as number,
      paused: this.#floats[this.#cell + PAUSED] as number,
      runs,
    };
  }

  /** The cell says what a new one says: a schedule goes on for the key. */
  clear(): void {
    this.#count = 0;
    this.#floats[this.#cell + NEXT] = -Infinity;
    this.#floats[this.#cell + PAUSED] = -Infinity;
  }

  /** Gives a new cell the state of a schedule. */
  restore({ next, paused, runs }: RateState): void {
    for (const [date, permits] of runs) {
      this.#expire(date);
      this.#append(permits, date, false);
    }
    this.#floats[this.#cell + NEXT] = next;
    this.#floats[this.#cell + PAUSED] = paused;
  }

  /**
   * Copies all cells that are not free from the one region of these floats to the one of other floats, which are in use
   * then. Returns false if there is no room for them; then all is as before.
   */
  moveTo(to: Float64Array, buckets: number, toBuckets: number, now: number): boolean {
    const from = this.#floats;
    const words = this.#words;
    const parts = this.#parts;
    this.use(to);
    const [toWords, toParts] = [this.#words, this.#parts];
    const swap = (floats: Float64Array, its: Uint32Array, theirs: Uint16Array): void => {
      this.#floats = floats;
      this.#words = its;
      this.#parts = theirs;
    };
    swap(from, words, parts);
    for (let at = 0; at < buckets * BUCKET; at++) {
      const hash = from[at] as number;
      if (hash === 0) continue;
      this.#select(0, buckets, at);
      if (this.freeAt <= now) continue;
      const cell = this.#cell;
      this.#hash = hash;
      this.#a = Math.floor(hash / 2 ** 32);
      this.#b = hash % 2 ** 32;
      swap(to, toWords, toParts);
      const has = this.make(0, toBuckets, now);
      // As words: a float that is not a number might change on its way.
      if (has) for (let i = 0; i < 2 * this.size; i++) toWords[2 * this.#cell + i] = words[2 * cell + i] as number;
      swap(from, words, parts);
      if (!has) return false;
    }
    swap(to, toWords, toParts);
    return true;
  }
}
