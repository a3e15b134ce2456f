/**
 * The cells of a KeyedRateLimiter (common/rate-cells.ts) in the memory of its arena. All lie side by side, in pages that
 * the limiter claims when it is made (first-page.ts); memory that no key has used yet takes no room in the computer.
 *
 *     object of the limiter ──► clock, seed │ head of each region │ region │ region ...
 *     head:   lock │ note: which cell, and what was in it │ counts
 *     region: 2,048 cells, or fewer
 *
 * A key belongs to one region, by its hash, and each region has a lock of its own (lock.ts), so threads with
 * different keys rarely meet. A call changes one cell. Before it does, it notes what was there, so that whoever takes the
 * lock over from a dead thread puts that back (`#takeOver`). When a call has changed the cell, it forgets the note.
 *
 * A cell belongs to no thread, so nothing is to be done when a thread dies elsewhere than in a call: what it has taken
 * counts for its window.
 */
import type { Key } from '../common/keys.js';
import { BUCKET, RateCells } from '../common/rate-cells.js';
import {
  CLOCK,
  HEADS,
  MADE,
  NO_ROOM,
  NOTED_CELL,
  NOTED_CELL_AT,
  NOTED_HASH,
  NOTED_HASH_AT,
  NOW,
  type Plan,
  planAt,
  REFUSED,
  rateIn,
  SEED,
  TAKEN,
  UNTIL,
} from '../look/rate-regions.js';
import { draftOf } from '../objects/name-draft.js';
import { common } from '../runtime/common.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import type { Membership, Shared } from '../runtime/membership.js';
import { commonClock } from '../runtime/rate-clock.js';
import { firstPageOf } from './first-page.js';
import { BRIEFLY, PATIENTLY, RateLocks } from './lock.js';

/** What all keys together say. */
export interface Counts {
  /** How many keys there are of which something counts. */
  readonly size: number;
  /** How many permits have been taken, since the limiter was made. */
  readonly taken: number;
  /** How many calls of `tryTake` were refused. */
  readonly refused: number;
  /** How many of these because there was no room for their key. */
  readonly noRoom: number;
}

export class KeyedRateMemory {
  readonly #words: Int32Array;
  readonly #floats: Float64Array;
  readonly #locks: RateLocks;
  readonly #cells: RateCells;
  readonly #plan: Plan;
  /** The clock that all threads share. */
  readonly #now: () => number;
  /** Where the heads and the regions begin, in floats. */
  readonly #heads: number;
  readonly #regions: number;
  /** The head of the region in which this thread works; 0: in none. Between two calls, a cut call has left another number. */
  #head = 0;
  /** Whether the thread is no longer attached to the limiter. */
  isOver = false;
  readonly #expectCut = afterInterrupt(() => {
    if (!this.isOver) this.#endCut();
  });

  /** @throws what `full` returns if the arena has no room. */
  constructor(membership: Membership, object: number, full: (pages: number) => Error) {
    const names = draftOf(membership);
    const { words } = names;
    const rate = rateIn(words, object);
    this.#words = words;
    this.#floats = new Float64Array(words.buffer);
    const plan = planAt(words, object);
    const page = firstPageOf(membership, names, object, plan.pages, (page) => this.#make(page / 8, plan));
    if (page === 0) throw full(plan.pages);
    const first = page / 8;
    this.#plan = plan;
    this.#heads = first + HEADS;
    this.#regions = this.#heads + plan.regions * plan.head;
    this.#cells = new RateCells(rate, this.#floats[first + SEED] as number, (hash, cell) => this.#note(hash, cell));
    this.#cells.use(this.#floats);
    this.#now = commonClock(this.#floats, first + CLOCK);
    this.#locks = new RateLocks(membership, words, (lock) => this.#takeOver(lock / 2));
  }

  /** Begins the memory of a new limiter. The regions are made when a key of them comes. */
  #make(first: number, plan: Plan): void {
    this.#floats.fill(0, first, first + HEADS + plan.regions * plan.head);
    this.#floats[first + CLOCK] = Number.NaN;
    this.#floats[first + SEED] = Math.floor(Math.random() * 2 ** 32) | 0;
  }

  // --- The lock and the note.

  /** Gets the lock of a region. Returns false if another thread has it and does not go on. */
  #enter(region: number, rounds: number): boolean {
    this.#expectCut();
    // The cut call may have been for another region, which nobody would look at any more.
    if (this.#head !== 0) this.#endCut();
    const head = this.#heads + region * this.#plan.head;
    this.#head = head;
    if (!this.#locks.enter(2 * head, rounds)) return false;
    if (this.#words[2 * head + MADE] === 0) {
      const at = this.#at(head);
      this.#floats.fill(0, at, at + this.#plan.buckets * BUCKET);
      this.#words[2 * head + MADE] = 1;
    }
    return true;
  }

  /** Takes back what a cut call of this thread has left, and lets go of its lock. */
  #endCut(): void {
    const lock = 2 * this.#head;
    if (lock !== 0 && this.#locks.isMine(lock) && this.#locks.enter(lock, BRIEFLY)) this.#locks.leave(lock);
    this.#head = 0;
  }

  /** Where the cells of a region begin. */
  #at(head: number): number {
    return this.#regions + ((head - this.#heads) / this.#plan.head) * this.#plan.region;
  }

  /** Notes what is in a cell before the call changes it. */
  #note(hash: number, cell: number): void {
    const floats = this.#floats;
    const head = this.#head;
    if (floats[head + NOTED_HASH_AT] !== 0) return;
    this.#copy(cell, head + NOTED_CELL);
    floats[head + NOTED_HASH] = floats[hash] as number;
    floats[head + NOTED_CELL_AT] = cell;
    // The note counts from here on.
    floats[head + NOTED_HASH_AT] = hash;
  }

  /** As words: a float that is not a number might change on its way. */
  #copy(from: number, to: number): void {
    const words = this.#words;
    for (let i = 0; i < 2 * this.#cells.size; i++) words[2 * to + i] = words[2 * from + i] as number;
  }

  /** A thread was cut in a call, or has died in it. This thread has the lock. */
  #takeOver(head: number): void {
    const floats = this.#floats;
    const hash = floats[head + NOTED_HASH_AT] as number;
    if (hash === 0) return;
    this.#copy(head + NOTED_CELL, floats[head + NOTED_CELL_AT] as number);
    floats[hash] = floats[head + NOTED_HASH] as number;
    floats[head + NOTED_HASH_AT] = 0;
  }

  /** The call has changed its cell. */
  #commit(): void {
    const floats = this.#floats;
    const until = this.#head + UNTIL;
    floats[until] = Math.max(floats[until] as number, this.#cells.freeAt);
    floats[this.#head + NOTED_HASH_AT] = 0;
  }

  #leave(): void {
    this.#locks.leave(2 * this.#head);
    this.#head = 0;
  }

  #regionOf(key: Key): number {
    return Math.floor(this.#cells.enter(key) * this.#plan.regions);
  }

  /** Does something rare with a region. */
  #locked<T>(region: number, act: (at: number, buckets: number, now: number) => T): T {
    if (!this.#enter(region, PATIENTLY))
      throw new Error(
        'KeyedRateLimiter: another thread has stopped in the middle of a call, and is not known to be dead',
      );
    const result = act(this.#at(this.#head), this.#plan.buckets, this.#time());
    this.#leave();
    return result;
  }

  /** The time is never before what another thread has seen. */
  #time(): number {
    const latest = this.#head + NOW;
    const now = Math.max(this.#now(), this.#floats[latest] as number);
    this.#floats[latest] = now;
    return now;
  }

  // --- What the limiter calls.

  tryTake(key: Key, permits: number): boolean {
    if (!this.#enter(this.#regionOf(key), BRIEFLY)) return false;
    const floats = this.#floats;
    const cells = this.#cells;
    const { buckets } = this.#plan;
    const head = this.#head;
    const at = this.#at(head);
    const now = this.#time();
    const hasCell = cells.find(at, buckets) || cells.make(at, buckets, now);
    const has = hasCell && cells.tryTake(permits, now);
    if (has) {
      this.#commit();
      (floats[head + TAKEN] as number) += permits;
    } else {
      (floats[head + REFUSED] as number)++;
      if (!hasCell) (floats[head + NO_ROOM] as number)++;
    }
    this.#leave();
    return has;
  }

  dueIn(key: Key, permits: number): number {
    return this.#locked(this.#regionOf(key), (at, buckets, now) => {
      const cells = this.#cells;
      return cells.find(at, buckets) ? cells.due(permits, now) - now : Math.max(cells.roomAt(at, buckets) - now, 0);
    });
  }

  /** Returns false if there is no room for the key. */
  spend(key: Key, permits: number): boolean {
    return this.#change(key, (now) => this.#cells.spend(permits, now));
  }

  /** Returns false if there is no room for the key. */
  pause(key: Key, milliseconds: number): boolean {
    return this.#change(key, (now) => this.#cells.pause(milliseconds, now));
  }

  #change(key: Key, act: (now: number) => void): boolean {
    return this.#locked(this.#regionOf(key), (at, buckets, now) => {
      if (!this.#cells.find(at, buckets) && !this.#cells.make(at, buckets, now)) return false;
      act(now);
      this.#commit();
      return true;
    });
  }

  taken(key: Key): number {
    return this.#locked(this.#regionOf(key), (at, buckets, now) =>
      this.#cells.find(at, buckets) ? this.#cells.taken(now) : 0,
    );
  }

  /** Looks at all keys. */
  counts(): Counts {
    const counts = { size: 0, taken: 0, refused: 0, noRoom: 0 };
    for (let region = 0; region < this.#plan.regions; region++) {
      const head = this.#heads + region * this.#plan.head;
      if (this.#words[2 * head + MADE] === 0) continue;
      this.#locked(region, (at, buckets, now) => {
        this.#cells.each(at, buckets, now, () => counts.size++);
        counts.taken += this.#floats[head + TAKEN] as number;
        counts.refused += this.#floats[head + REFUSED] as number;
        counts.noRoom += this.#floats[head + NO_ROOM] as number;
      });
    }
    return counts;
  }

  /** Whether a new limiter would answer the same. */
  get isFresh(): boolean {
    const now = this.#now();
    for (let region = 0; region < this.#plan.regions; region++)
      if ((this.#floats[this.#heads + region * this.#plan.head + UNTIL] as number) > now) return false;
    return true;
  }
}

// Copies of this package in one thread share these, as they share the memberships.
const known = common('keyed-rate-limiters', () => new WeakMap<Shared, KeyedRateMemory>());

/**
 * Returns what this thread has of a limiter, to which it is attached.
 * @param full makes the error of an arena that has no room for so many pages side by side.
 * @throws {ArenaFullError}
 */
export function memoryOf(membership: Membership, shared: Shared, full: (pages: number) => Error): KeyedRateMemory {
  const found = known.get(shared);
  if (found) return found;
  const make = () => new KeyedRateMemory(membership, shared.address, full);
  let memory: KeyedRateMemory;
  try {
    memory = make();
  } catch {
    // The arena is full: some of its objects may go.
    membership.sweep();
    memory = make();
  }
  known.set(shared, memory);
  // A new limiter of this name would not know what has been taken.
  shared.stays = () => !memory.isFresh;
  shared.detached = () => {
    memory.isOver = true;
  };
  return memory;
}
