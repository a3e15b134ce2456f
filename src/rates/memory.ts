/**
 * The schedule of a RateLimiter in the memory of its arena: pages, as channels have them (core/kinds/channel/pages.ts), a
 * lock, and the journal that takes back what a thread has left midway.
 *
 *     object of the limiter ──► page 0: lock │ clock, sleeps │ schedule │ journal │ cells ...
 *                               page 1: cells ...        a page is claimed when the cells before it are in use
 *
 * An entry of the table of pages says to which object, of which generation, a page belongs. So the pages are free as soon
 * as the object has gone, however its last thread has ended, and nobody gives them back. A page that a thread has claimed
 * before it died is the limiter's until then, too. One thread makes the schedule (first-page.ts).
 *
 * The lock is told in lock.ts. Whoever takes it over from a dead thread takes back what that thread has not committed,
 * and plans anew.
 */
import { O_INITIAL, O_MAX, O_SPIN, PAGE_SIZE } from '../border/numbers.js';
import { CELLS, Cells, SCHEDULE, Schedule, type Who } from '../common/schedule.js';
import { CLOCK, LOCK, NUMBERS, REFUSALS, SLEEPS, TENDED } from '../look/rate-page.js';
import type { NameDraft } from '../objects/name-draft.js';
import type { Membership } from '../runtime/membership.js';
import { commonClock } from '../runtime/rate-clock.js';
import { firstPageOf } from './first-page.js';
import { RateLocks } from './lock.js';
import { Pages } from './pages.js';

export { BRIEFLY, PATIENTLY } from './lock.js';

/** A log of more permits has about so many runs. */
const GRAIN = 90;

// The first page, in floats. What lies before this stands in look/rate-page.ts, because reports read it.
const JOURNAL = NUMBERS + SCHEDULE;
const FIRST_CELL = JOURNAL + CELLS;
const PAGE_FLOATS = PAGE_SIZE / 8;

/** Who waits for others looks at least so often, in milliseconds, whether they are alive. */
export const WATCH = 1000;

/** Makes the schedule of a limiter in its first page. */
function makeSchedule(words: Int32Array, floats: Float64Array, object: number, first: number): void {
  const load = (property: number): number => words[(object + property) >> 2] as number;
  floats.fill(0, first, first + FIRST_CELL);
  floats[first + CLOCK] = Number.NaN;
  const cells = new Cells(floats, first + JOURNAL, true);
  cells.begin(first + FIRST_CELL, first + PAGE_FLOATS);
  new Schedule(cells, first + NUMBERS, GRAIN, {}).begin(load(O_INITIAL), load(O_MAX), load(O_SPIN));
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
  /** Whether this thread has found that a call of its own was cut in the lock. */
  wasCut = false;
  /** Whether this thread is no longer attached to the limiter, and the pages may belong to another one. */
  isOver = false;
  readonly #locks: RateLocks;
  readonly #words: Int32Array;
  readonly #floats: Float64Array;
  readonly #cells: Cells;
  readonly #pages: Pages;
  readonly #object: number;
  /** Where page 0 begins, in words of 4 bytes. */
  readonly #at: number;

  /** @throws what `full` returns if the arena has no page. */
  constructor(membership: Membership, names: NameDraft, object: number, full: () => Error) {
    this.#object = object;
    this.#words = names.words;
    this.#floats = new Float64Array(names.words.buffer);
    this.#pages = new Pages(names);
    const page = firstPageOf(membership, names, object, 1, (page) =>
      makeSchedule(names.words, this.#floats, object, page / 8),
    );
    if (page === 0) throw full();
    this.#locks = new RateLocks(membership, names.words, (_, holder) => this.#takeOver(holder));
    this.me = this.#locks.me;
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

  /** Gets the lock. Returns false if another thread has it and does not go on. See `RateLocks.enter`. */
  enter(rounds: number): boolean {
    return this.#locks.enter(this.#at + LOCK, rounds);
  }

  /** Goes on where a call was cut. This thread has the lock. */
  #takeOver(holder: Who): void {
    this.#cells.rollback();
    const now = this.now();
    this.schedule.recover(now);
    if (holder === this.me) this.wasCut = true;
    else this.schedule.bury(holder, now);
    this.areOthersEarlier = true;
  }

  /** Whether this thread has the lock. Between two calls this means that the first of them was cut. */
  get isMine(): boolean {
    return this.#locks.isMine(this.#at + LOCK);
  }

  /** Lets go of the lock. */
  leave(): void {
    this.#locks.leave(this.#at + LOCK);
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

  /** Counts a call of `tryTake` that was refused. This thread has the lock. */
  refuse(): void {
    (this.#words[this.#at + REFUSALS] as number)++;
  }

  /** The requests of dead threads leave. Looks for dead threads once in a while only, unless it is to look `now`. */
  bury(time: number, looksNow = false): void {
    const tended = this.#at / 2 + TENDED;
    if (!looksNow && time - (this.#floats[tended] as number) < WATCH / 2) return;
    this.#floats[tended] = time;
    for (const who of this.schedule.owners) if (!this.#locks.isAlive(who)) this.schedule.bury(who, time);
  }

  /** Whether those who wait may wait for another thread: for its turn, or for the end of a call `until: 'end'`. */
  get isBehindOthers(): boolean {
    const { head, open } = this.schedule;
    return head !== 0 && (open > 0 || this.schedule.whoseIs(head) !== this.me);
  }
}
