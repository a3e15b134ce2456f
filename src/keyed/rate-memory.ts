/**
 * The schedule of a RateLimiter in the memory of its arena: pages, as channels have them (core/kinds/channel/pages.ts), a
 * lock, and the journal that takes back what a thread has left midway.
 *
 *     object of the limiter ──► page 0: lock │ clock, sleeps │ schedule │ journal │ cells ...
 *                               page 1: cells ...        a page is claimed when the cells before it are in use
 *
 * An entry of the table of pages says to which object, of which generation, a page belongs. So the pages are free as soon
 * as the object has gone, however its last thread has ended, and nobody gives them back. A page that a thread has claimed
 * before it died is the limiter's until then, too. Threads that open a limiter at once may both make a schedule. The word
 * R_PAGE of the object decides, and the other one gives its page back.
 *
 * The lock is a word with the number of the thread that has it: its index in the registry of the arena, and its life. A
 * thread keeps the lock for a microsecond, and waits for nothing meanwhile. So another thread polls, and then sleeps a
 * millisecond at a time. If it finds that the thread of the lock is dead, it takes the lock over, takes back what the
 * dead thread has not committed, and plans anew. That a thread is dead is known from the registry alone: Deno reports
 * the exit of workers that run on.
 *
 * A thread can also be cut here and live on (src/runtime/interrupts.ts). Then it finds itself in the word of the lock when
 * it comes again, at the latest in its event loop, and goes on as after a death.
 */
import {
  H_END,
  H_THREADS,
  LABEL_SIZE,
  METRICS_SIZE,
  O_INITIAL,
  O_LIFE,
  O_MAX,
  O_SPIN,
  OBJECT_SIZE,
  PAGE_SIZE,
  R_PAGE,
  THREAD_MASK,
} from '../border/numbers.js';
import { CELLS, Cells, SCHEDULE, Schedule, type Who } from '../common/schedule.js';
import type { Membership } from '../runtime/membership.js';
import type { KeyNames } from './key-names.js';
import { commonClock } from './rate-clock.js';

/** A log of more permits has about so many runs. */
const GRAIN = 90;

// The first page. Words of 4 bytes:
export const LOCK = 0;
/** 1 while a thread may sleep until the lock is free. */
const CONTENDED = 1;
/** 1 once a thread has slept in the pause of the limiter. */
const SLEEPS = 2;
// Floats:
const CLOCK = 2;
/** When a thread has last looked for dead ones. */
const TENDED = 3;
export const NUMBERS = 4;
const JOURNAL = NUMBERS + SCHEDULE;
const FIRST_CELL = JOURNAL + CELLS;
const PAGE_FLOATS = PAGE_SIZE / 8;

const ENTRY = 8;
/** How often a thread polls the lock before it looks at who has it. */
const POLLS = 200;
/** How long a thread waits for the lock if it may not block, in rounds of polls. */
export const BRIEFLY = 50;
/** A second at least, for a thread that may block. */
export const PATIENTLY = 1000;
/** Where the epoch of a thread begins in its life, and how much of it is in its number. */
const EPOCH_SHIFT = 2;
const EPOCHS = 0x7ffff;
/** Who waits behind others looks at least so often, in milliseconds, whether they are alive. */
export const WATCH = 1000;

/** The pages of an arena. */
class Pages {
  readonly #words: Int32Array;
  readonly #entries: BigInt64Array;
  /** Where the entries lie, in words of 4 bytes, and how many there are. */
  readonly #table: number;
  readonly #count: number;
  readonly #first: number;
  readonly #objects: number;

  constructor({ words, objects }: KeyNames) {
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

  /** Claims a page for an object. Returns its address, or 0 if no page is free. */
  claim(object: number): number {
    const number = (object - this.#objects) / OBJECT_SIZE;
    const mine = BigInt.asIntN(64, (BigInt(this.#generation(object)) << 32n) | BigInt(number + 1));
    // Channels look for runs of pages from the first one on.
    for (let i = 0; i < this.#count; i++) {
      const page = this.#count - 1 - ((number + i) % this.#count);
      const at = this.#table / 2 + page;
      const low = Atomics.load(this.#words, 2 * at);
      if (low !== 0 && this.#generation(this.#objects + (low - 1) * OBJECT_SIZE) === this.#words[2 * at + 1]) continue;
      // The two halves of the entry may be of two threads.
      const entry = Atomics.load(this.#entries, at);
      const owner = Number(BigInt.asUintN(32, entry));
      const isFree =
        owner === 0 ||
        this.#generation(this.#objects + (owner - 1) * OBJECT_SIZE) !== Number(BigInt.asIntN(32, entry >> 32n));
      if (isFree && Atomics.compareExchange(this.#entries, at, entry, mine) === entry)
        return this.#first + page * PAGE_SIZE;
    }
    return 0;
  }

  giveBack(address: number): void {
    const page = (address - this.#first) / PAGE_SIZE;
    Atomics.store(this.#entries, this.#table / 2 + page, 0n);
  }
}

/** Returns the address of the first page of a limiter, and makes its schedule if there is none; 0 if no page is free. */
function pageOf(words: Int32Array, floats: Float64Array, pages: Pages, object: number): number {
  const word = (object + R_PAGE) >> 2;
  const known = Atomics.load(words, word) >>> 0;
  if (known !== 0) return known;
  const page = pages.claim(object);
  if (page === 0) return 0;
  const first = page / 8;
  const load = (property: number): number => words[(object + property) >> 2] as number;
  floats.fill(0, first, first + FIRST_CELL);
  floats[first + CLOCK] = Number.NaN;
  const cells = new Cells(floats, first + JOURNAL, true);
  cells.begin(first + FIRST_CELL, first + PAGE_FLOATS);
  new Schedule(cells, first + NUMBERS, GRAIN, {}).begin(load(O_INITIAL), load(O_MAX), load(O_SPIN));
  const other = Atomics.compareExchange(words, word, 0, page | 0) >>> 0;
  if (other !== 0) pages.giveBack(page);
  return other || page;
}

export class RateMemory {
  readonly schedule: Schedule;
  /** The number of this thread. */
  readonly me: Who;
  /** Returns the time by the clock that all threads share. */
  readonly now: () => number;
  /** Whether requests of other threads may go earlier than they were told. */
  areOthersEarlier = false;
  /** Whether requests of this thread may. */
  isEarlier = false;
  /** Whether this thread is no longer attached to the limiter, and the pages may belong to another one. */
  isOver = false;
  readonly #membership: Membership;
  readonly #words: Int32Array;
  readonly #floats: Float64Array;
  readonly #cells: Cells;
  readonly #pages: Pages;
  readonly #object: number;
  /** Where page 0 begins, in words of 4 bytes. */
  readonly #at: number;

  /** @throws what `full` returns if the arena has no page. */
  constructor(membership: Membership, names: KeyNames, object: number, full: () => Error) {
    const { core, thread } = membership;
    this.#membership = membership;
    this.#object = object;
    this.#words = names.words;
    this.#floats = new Float64Array(names.words.buffer);
    this.#pages = new Pages(names);
    const page = pageOf(names.words, this.#floats, this.#pages, object);
    if (page === 0) throw full();
    this.me = thread + ((core.lifeIfAlive(thread) >>> EPOCH_SHIFT) & EPOCHS) * (THREAD_MASK + 1);
    this.#at = page / 4;
    const floats = page / 8;
    this.now = commonClock(this.#floats, floats + CLOCK);
    this.#cells = new Cells(this.#floats, floats + JOURNAL, true);
    this.schedule = new Schedule(this.#cells, floats + NUMBERS, GRAIN, {
      earlier: (who) => {
        if (who === this.me) this.isEarlier = true;
        else this.areOthersEarlier = true;
      },
      dated: (cell) => {
        if (this.schedule.whoseIs(cell) === this.me) this.isEarlier = true;
      },
    });
  }

  #isAlive(who: Who): boolean {
    const life = this.#membership.core.lifeIfAlive(who & THREAD_MASK);
    return life !== 0 && ((life >>> EPOCH_SHIFT) & EPOCHS) === Math.floor(who / (THREAD_MASK + 1));
  }

  /**
   * Gets the lock. Returns false if another thread has it and does not go on.
   * @param rounds for how long this thread tries: rounds of polls, and a millisecond for each if it may block.
   */
  enter(rounds: number): boolean {
    return Atomics.compareExchange(this.#words, this.#at + LOCK, 0, this.me) === 0 || this.#enter(rounds);
  }

  #enter(rounds: number): boolean {
    const words = this.#words;
    const lock = this.#at + LOCK;
    for (let round = 0; round < rounds; round++) {
      let holder = 0;
      for (let polls = 0; polls < POLLS; polls++) {
        holder = Atomics.compareExchange(words, lock, 0, this.me);
        if (holder === 0) return true;
        if (holder === this.me) break;
      }
      if (holder === this.me || !this.#isAlive(holder)) {
        if (holder !== this.me && Atomics.compareExchange(words, lock, holder, this.me) !== holder) continue;
        this.#takeOver(holder);
        return true;
      }
      if (this.#membership.mayBlock) {
        Atomics.store(words, this.#at + CONTENDED, 1);
        Atomics.wait(words, lock, holder, 1);
      }
    }
    return false;
  }

  /** Goes on where a call was cut. This thread has the lock. */
  #takeOver(holder: Who): void {
    this.#cells.rollback();
    const now = this.now();
    this.schedule.recover(now);
    if (holder !== this.me) this.schedule.bury(holder, now);
    this.areOthersEarlier = true;
  }

  /** Whether this thread has the lock. Between two calls this means that the first of them was cut. */
  get isMine(): boolean {
    return Atomics.load(this.#words, this.#at + LOCK) === this.me;
  }

  /** Lets go of the lock. */
  leave(): void {
    const words = this.#words;
    Atomics.store(words, this.#at + LOCK, 0);
    if (Atomics.load(words, this.#at + CONTENDED) === 0) return;
    Atomics.store(words, this.#at + CONTENDED, 0);
    Atomics.notify(words, this.#at + LOCK, 1);
  }

  /** Makes sure that there is room for a request. Returns false if the arena has none. */
  reserve(): boolean {
    if (this.schedule.reserve()) return true;
    const page = this.#pages.claim(this.#object);
    if (page === 0) return false;
    this.#cells.extend(page / 8, page / 8 + PAGE_FLOATS);
    return true;
  }

  /** Whether a thread has slept, or may be about to. */
  get sleeps(): boolean {
    return Atomics.load(this.#words, this.#at + SLEEPS) !== 0;
  }

  /** This thread is about to sleep: from now on those who make others earlier wake the sleepers. */
  setSleeps(): void {
    Atomics.store(this.#words, this.#at + SLEEPS, 1);
  }

  /** The requests of dead threads leave. Looks for dead threads once in a while only, unless it is to look `now`. */
  bury(time: number, looksNow = false): void {
    const tended = this.#at / 2 + TENDED;
    if (!looksNow && time - (this.#floats[tended] as number) < WATCH / 2) return;
    this.#floats[tended] = time;
    for (const who of this.schedule.owners) if (!this.#isAlive(who)) this.schedule.bury(who, time);
  }

  /** Whether somebody of another thread is the first who waits. */
  get isBehindOthers(): boolean {
    const { head } = this.schedule;
    return head !== 0 && this.schedule.whoseIs(head) !== this.me;
  }
}
