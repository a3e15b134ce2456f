/**
 * When the permits of a RateLimiter were given, in the memory of the arena. Only the thread that has the turn of the
 * limiter (rate-limiter.ts) reads and writes it. It allows a permit if
 *
 *     the log     n permits ago, more than a window has passed. Permits are numbered, and the log has, for each group of
 *                 so many of them, the time of the last:    group 7 ──► time    group 8 ──► time    ...
 *     the cell    it is not too early, by the generic cell rate algorithm (common/rate.ts)
 *
 * The log keeps the promise for every window, whatever the cell does. Proof: permit p is given at a time that is at
 * least a window after the last permit of the group of permit p - n, so after permit p - n itself. So no n + 1 permits
 * lie in a window. There are at most 90 groups in a window. So if there are more than 90 permits, one may have to wait
 * for the last permit of a group in place of an earlier one: a ninetieth of the permits of a window at most.
 *
 * Where it lies. The limiter's object has the number of permits given, `next`, and a mark of the log. The times lie in
 * objects that belong to the limiter, behind their names: names are compared only to their length, and nobody else
 * reads on. A group was written before it is read, so it does no harm that a new object has old times there. The objects
 * of the log go with the last thread that has the limiter open, as the limiter does. If a thread opens the limiter
 * beside this, it may find new log objects. Then the mark differs, and the thread begins a new log.
 *
 * A thread that dies while it notes a permit leaves the log fit for use: it writes the times first, then `next`, and the
 * number of permits last. So what it has left says at most that permits went later than they did, and none too few.
 *
 * The core knows nothing of the log. So if a garbage collection takes all library objects of a limiter in a thread, the
 * thread keeps the limiter as long as a new one would give permits earlier (isFresh).
 */
import { NAME_SIZE, O_INITIAL, O_LIFE, O_MAX, O_SPIN, OBJECT_SIZE, R_GIVEN, R_NEXT, R_OF } from '../border/numbers.js';
import { dueAfter, type Rate, tooEarly } from '../common/rate.js';
import { N_REST } from '../look/key-reading.js';
import type { KeyNames } from './key-names.js';

/** The most groups of permits in a window. */
const MOST_GROUPS = 90;
/** Where the times begin behind the name of a log object, which ends with a number of 4 bytes; and how many there are. */
const N_TIMES = (N_REST + 4 + 7) & ~7;
const TIMES = (NAME_SIZE - N_TIMES) / 8;

/** Returns how many log objects a limiter of so many permits needs. */
export function logObjectsOf(permits: number): number {
  return Math.ceil((groupsOf(permits) + 1) / TIMES);
}

/** Returns how many groups the permits of a window fill, at least in part. */
function groupsOf(permits: number): number {
  return Math.ceil(permits / Math.ceil(permits / MOST_GROUPS));
}

export class RateLog {
  readonly rate: Rate;
  readonly #words: Int32Array;
  readonly #floats: Float64Array;
  /** The address of the limiter. */
  readonly #at: number;
  /** The addresses of the times of each log object. */
  readonly #times: readonly number[];
  /** Tells these log objects from others. */
  readonly #mark: number;
  /** How many permits make a group, and how many groups have room. */
  readonly #size: number;
  readonly #room: number;

  /** @param logs the addresses of the log objects. */
  constructor(names: KeyNames, at: number, logs: readonly number[]) {
    const { words, objects } = names;
    const load = (address: number): number => words[address >> 2] as number;
    this.#words = words;
    this.#floats = new Float64Array(words.buffer);
    this.#at = at;
    const permits = load(at + O_INITIAL);
    this.rate = { permits, per: load(at + O_MAX), burst: load(at + O_SPIN) };
    this.#times = logs.map((log) => log - objects + names.names + N_TIMES);
    const number = (log: number): number => (log - objects) / OBJECT_SIZE + load(log + O_LIFE + 4);
    this.#mark = logs.reduce((mark, log) => Math.imul(mark, 31) + number(log), 1) | 1;
    this.#size = Math.ceil(permits / MOST_GROUPS);
    this.#room = groupsOf(permits) + 1;
  }

  get #given(): number {
    return this.#floats[(this.#at + R_GIVEN) >> 3] as number;
  }

  #timeAt(group: number): number {
    const place = group % this.#room;
    return ((this.#times[Math.floor(place / TIMES)] as number) >> 3) + (place % TIMES);
  }

  /** Takes permits if they may go. Returns how many milliseconds are left until they may; at most 0 if it has. */
  take(permits: number, time: number): number {
    const floats = this.#floats;
    if (this.#words[(this.#at + R_OF) >> 2] !== this.#mark) this.#begin();
    const { rate } = this;
    const given = this.#given;
    const next = floats[(this.#at + R_NEXT) >> 3] as number;
    let left = tooEarly(rate, next, permits, time);
    const before = given + permits - 1 - rate.permits;
    if (before >= 0) {
      const last = floats[this.#timeAt(Math.floor(before / this.#size))] as number;
      left = Math.max(left, last + rate.per - time);
    }
    if (left > 0) return left;
    const end = given + permits;
    for (let group = Math.floor(given / this.#size); group * this.#size < end; group++)
      floats[this.#timeAt(group)] = time;
    floats[(this.#at + R_NEXT) >> 3] = dueAfter(rate, next, permits, time);
    floats[(this.#at + R_GIVEN) >> 3] = end;
    return left;
  }

  /** Begins a log in which no permit was given. */
  #begin(): void {
    this.#floats[(this.#at + R_GIVEN) >> 3] = 0;
    this.#floats[(this.#at + R_NEXT) >> 3] = 0;
    this.#words[(this.#at + R_OF) >> 2] = this.#mark;
  }

  /** Whether a new log would give permits no earlier. */
  isFresh(time: number): boolean {
    return this.taken(time) === 0 && (this.#floats[(this.#at + R_NEXT) >> 3] as number) <= time;
  }

  /** Returns how many permits were given in the window that ends now; those of a group count while its last one does. */
  taken(time: number): number {
    if (this.#words[(this.#at + R_OF) >> 2] !== this.#mark) return 0;
    const given = this.#given;
    let from = given;
    for (let group = Math.ceil(given / this.#size) - 1; group >= 0 && from > given - this.rate.permits; group--) {
      if (time - (this.#floats[this.#timeAt(group)] as number) >= this.rate.per) break;
      from = group * this.#size;
    }
    return Math.min(given - from, this.rate.permits);
  }
}
