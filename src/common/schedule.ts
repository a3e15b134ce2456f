/**
 * The schedule of a rate: at most n permits begin in any window of t milliseconds, in the order of the requests. The
 * limiter of tasks has one in memory of its own, and the limiter of threads has one in shared memory, under a lock.
 *
 *     oldest                                         head                     tail
 *       │                                             │                         │
 *       ▼                                             ▼                         ▼
 *     [run] ──► [run] ──► [dated] ──► [run] ──► ║ [waits] ──► [waits] ──► [waits]
 *     └────────── the log: dates so far ─────────┘ └── the queue: each has a planned date ──┘
 *
 *                  its turn has come             its thread looks in time
 *     waits ──────────────────────────► dated ────────────────────────────► run ──► its window passes: gone
 *       ▲                                 │                                  ▲
 *       │   its thread looks at last      ▼ its window passes                │ end
 *       └────────────────────────────── expired        (until: 'end')  open ─┘
 *
 * Log and queue are one list of cells. A request waits in a cell, and the cell becomes the run of its permits. Nobody
 * serves the schedule: whoever looks first brings it up to date (`advance`). He gives all heads that are due their dates,
 * also those of other threads. So a thread that is busy, blocked or dead stops nobody behind it.
 *
 * The date of a permit is when its call begins. A request that another thread has dated has the date of its turn at
 * first. When its own thread looks, its permits move to the present (`look`). If their window has passed meanwhile, or if
 * there is a pause, the request has its old place again. So a request of a thread that stands still uses up its permits
 * once, and then nothing.
 *
 * Invariants, whenever the lock is free:
 *
 *     1  the cells of the log are in the order of their dates, and no date is later than the present
 *     2  `taken` is the sum of the log, and in any window the log has at most `permits` less the open ones. What `spend`
 *        has added may exceed this, and then nothing goes
 *     3  a permit leaves the log only when a later date is given that lies a window behind it
 *     4  the planned date of a waiting request is at most when its turn comes, if nobody in front of it leaves
 *
 * Why no window has a permit too many. `due` is the earliest date at which the log, without what lies a window before, has
 * room. Dates never decrease (`dated`), so what has left the log lies before each later window. Permits that move from
 * date g to the present b still count in each window that ends at b or later, because b - g is less than a window. No
 * window between g and b is given anything afterwards, because the permits are dated b at most, and dates never decrease.
 * This holds because nothing is dated in the future: a date that is told in advance could neither move up nor move back.
 *
 * Why nobody waits in vain. A thread sleeps until the planned date of its request, which by 4 is not too late. Then it
 * serves all who are due. If those in front were late, it plans anew and sleeps on. Whoever makes room (leaves, dies, gives
 * permits back) plans anew for those behind and tells `earlier` whose dates have moved up.
 *
 * If a thread dies in a call, the next one takes back what the dead thread has written since the last `commit`. The
 * planned dates are not written down, because they can be made anew (`recover`).
 */

// The numbers of a schedule.
const N = 0;
const PER = 1;
const BURST = 2;
/** When the next permit would be due if all came evenly (rate.ts). */
const NEXT = 3;
/** The latest date. */
const DATED = 4;
/** Before this time nobody begins. */
const PAUSED = 5;
const OLDEST = 6;
const HEAD = 7;
const TAIL = 8;
const TAKEN = 9;
/** How many permits are open: their calls run, and they count until these end. */
const OPEN = 10;
/** The cells that belong to a request and are not in the list: expired, open, dismissed and refused ones. */
const AWAY = 11;
const WAITING = 12;
const TICKET = 13;
/** The latest time that a thread has seen. */
const NOW = 14;
/** `per / permits` */
const INTERVAL = 15;
/** How many floats a schedule takes, without its cells. */
export const SCHEDULE = 16;

// A cell.
const LINK = 0;
const BACK = 1;
const STATE = 2;
const K = 3;
const ORDER = 4;
const WHO = 5;
/** The date; of a request that waits, the planned date. */
const DATE = 6;
/** When the request came; of a run, when the first of its permits began. */
const FROM = 7;
/** What `next` will be behind the request, if all goes as planned. */
const AFTER = 8;
/** How many floats a cell takes. */
export const CELL = 9;

const WAITS = 1;
const IS_DATED = 2;
const RUN = 3;
const EXPIRED = 4;
const IS_OPEN = 5;
const IS_DISMISSED = 6;
const IS_REFUSED = 7;

/** Permits that are due within so many milliseconds may go together, because no timer is finer. */
export const TICK = 5;

/** `look` answers how many milliseconds the request waits on, or one of these. */
export const BEGUN = 0;
export const DISMISSED = -1;
/** It asks for more permits than a window has since `resize`. */
export const REFUSED = -2;

// The memory of schedules.
const FREE = 0;
const FRESH = 1;
const END = 2;
const NOTED = 3;
const JOURNAL = 4;
/** More than any call writes between two commits. */
const MOST_NOTED = 40;
/** How many floats the memory takes, without the cells and the schedules; and if it is not shared. */
export const CELLS = JOURNAL + 2 * MOST_NOTED;
export const CELLS_OF_ONE = JOURNAL;

/**
 * Memory for the cells of schedules, which a lock protects. If a thread dies with the lock, the next one calls `rollback`.
 *
 *     free, fresh, end of the cells, number of notes | notes: [index, what was there] ... | cells
 */
export class Cells {
  floats: Float64Array;
  /** Where it begins in `floats`. */
  readonly #at: number;
  /** Whether other threads share it, so that this thread may die in a call. Otherwise it grows as needed. */
  readonly #isShared: boolean;

  constructor(floats: Float64Array, at: number, isShared: boolean) {
    this.floats = floats;
    this.#at = at;
    this.#isShared = isShared;
  }

  /** Makes new memory, with room for cells from `from` to `end`. */
  begin(from: number, end: number): void {
    this.floats.fill(0, this.#at, this.#at + JOURNAL);
    this.floats[this.#at + FRESH] = from;
    this.floats[this.#at + END] = end;
  }

  /** Writes a float that must be as before if the thread dies before the next commit. */
  set(index: number, value: number): void {
    if (this.#isShared) this.#note(index);
    this.floats[index] = value;
  }

  /** Notes what a float is before it changes. It is apart from `set`, so that engines put `set` into its callers. */
  #note(index: number): void {
    const { floats } = this;
    const count = this.#at + NOTED;
    const noted = floats[count] as number;
    if (noted >= MOST_NOTED) throw new RangeError('a schedule has written too much at once');
    const note = this.#at + JOURNAL + 2 * noted;
    floats[note] = index;
    floats[note + 1] = floats[index] as number;
    // The note counts before the float changes.
    floats[count] = noted + 1;
  }

  commit(): void {
    this.floats[this.#at + NOTED] = 0;
  }

  /** Takes back what was written since the last commit. A thread that dies in here leaves the rest to the next one. */
  rollback(): void {
    const { floats } = this;
    const count = this.#at + NOTED;
    for (let noted = floats[count] as number; noted > 0; noted--) {
      const note = this.#at + JOURNAL + 2 * (noted - 1);
      floats[floats[note] as number] = floats[note + 1] as number;
      floats[count] = noted - 1;
    }
  }

  /** Makes sure that there is room for a cell. Returns false if there is none. */
  reserve(): boolean {
    const { floats } = this;
    const at = this.#at;
    if (floats[at + FREE] !== 0 || (floats[at + FRESH] as number) + CELL <= (floats[at + END] as number)) return true;
    return !this.#isShared && this.#grow();
  }

  #grow(): true {
    const { floats } = this;
    const wider = new Float64Array(2 * floats.length + CELL);
    wider.set(floats);
    wider[this.#at + END] = wider.length;
    this.floats = wider;
    return true;
  }

  /** Makes cells of more memory, when there is no room for another one. */
  extend(from: number, end: number): void {
    this.set(this.#at + FRESH, from);
    this.set(this.#at + END, end);
    this.commit();
  }

  /** Takes a cell. There must be room. */
  take(): number {
    const { floats } = this;
    const at = this.#at;
    const free = floats[at + FREE] as number;
    if (free !== 0) {
      this.set(at + FREE, floats[free + LINK] as number);
      return free;
    }
    const fresh = floats[at + FRESH] as number;
    this.set(at + FRESH, fresh + CELL);
    return fresh;
  }

  give(cell: number): void {
    const free = this.#at + FREE;
    this.set(cell + STATE, 0);
    this.set(cell + LINK, this.floats[free] as number);
    this.set(free, cell);
  }
}

/** What a rate says of the past, in a few numbers. */
export interface RateState {
  /** When the next permit would be due if all came evenly. */
  readonly next: number;
  /** Before this time nobody begins. */
  readonly paused: number;
  /** The log, the oldest first. */
  readonly runs: readonly (readonly [date: number, permits: number])[];
}

/** What somebody sees of a schedule who does not have its lock. */
export interface RateSeen {
  readonly permits: number;
  readonly per: number;
  /** The first who waits first. */
  readonly waiters: readonly {
    readonly who: Who;
    readonly permits: number;
    /** Since when it waits, and the planned date: Infinity if nobody knows. Its turn does not come before the date. */
    readonly since: number;
    readonly date: number;
  }[];
  /** Whether nobody has changed the queue meanwhile, as far as this can be seen. */
  readonly isWhole: boolean;
}

/** Reads a schedule without its lock: others may change it meanwhile. */
export function seenIn(floats: Float64Array, at: number): RateSeen {
  const get = (index: number): number => floats[index] as number;
  const before = [TICKET, WAITING, NOW, HEAD].map((field) => get(at + field));
  const waiting = get(at + WAITING);
  const waiters: RateSeen['waiters'][number][] = [];
  let cell = get(at + HEAD);
  while (waiters.length < waiting && cell > 0 && cell <= floats.length - CELL && get(cell + STATE) === WAITS) {
    waiters.push({ who: get(cell + WHO), permits: get(cell + K), since: get(cell + FROM), date: get(cell + DATE) });
    cell = get(cell + LINK);
  }
  const isSame = [TICKET, WAITING, NOW, HEAD].every((field, i) => get(at + field) === before[i]);
  return { permits: get(at + N), per: get(at + PER), waiters, isWhole: isSame && waiters.length === waiting };
}

/** What has the right to a cell, such as a thread: a number. */
export type Who = number;

/** What the schedule tells while it works. The functions must not call it. */
export interface Hooks {
  /**
   * A request of this owner may go earlier than it was told, or is dismissed or refused. Without this function there is
   * only one thread, so whoever looks, looks for all. Then the schedule plans no dates, and `look` knows only how long
   * the head waits.
   */
  readonly earlier?: (who: Who) => void;
  /** A request has got its date. */
  readonly dated?: (cell: number) => void;
  /** Where there is one thread: `tryTake` is about to change the schedule. If this throws, nothing has changed. */
  readonly takes?: () => void;
}

export class Schedule {
  readonly #cells: Cells;
  /** Where the numbers of the schedule lie. */
  readonly #at: number;
  /** A log of more than so many permits has about so many runs. Its permits may count by 1/grain of a window longer. */
  readonly #grain: number;
  readonly #earlier: ((who: Who) => void) | undefined;
  readonly #dated: ((cell: number) => void) | undefined;
  readonly #takes: (() => void) | undefined;

  constructor(cells: Cells, at: number, grain: number, { earlier, dated, takes }: Hooks) {
    this.#cells = cells;
    this.#at = at;
    this.#grain = grain;
    this.#earlier = earlier;
    this.#dated = dated;
    this.#takes = takes;
  }

  /** Begins a schedule in memory that had none. */
  begin(permits: number, per: number, burst: number): void {
    const { floats } = this.#cells;
    floats.fill(0, this.#at, this.#at + SCHEDULE);
    floats[this.#at + PER] = per;
    floats[this.#at + BURST] = burst;
    floats[this.#at + NEXT] = floats[this.#at + DATED] = floats[this.#at + NOW] = floats[this.#at + PAUSED] = -Infinity;
    floats[this.#at + N] = permits;
    floats[this.#at + INTERVAL] = per / permits;
  }

  get #isAlone(): boolean {
    return this.#earlier === undefined;
  }

  #get(field: number): number {
    return this.#cells.floats[this.#at + field] as number;
  }

  #set(field: number, value: number): void {
    this.#cells.set(this.#at + field, value);
  }

  get permits(): number {
    return this.#get(N);
  }

  get per(): number {
    return this.#get(PER);
  }

  get burst(): number {
    return this.#get(BURST);
  }

  get waiting(): number {
    return this.#get(WAITING);
  }

  get open(): number {
    return this.#get(OPEN);
  }

  /** The first request of the queue, or 0. */
  get head(): number {
    return this.#get(HEAD);
  }

  /** Whose the request of a cell is. */
  whoseIs(cell: number): Who {
    return this.#cells.floats[cell + WHO] as Who;
  }

  /** The planned date of a request that waits. */
  plannedDate(cell: number): number {
    return this.#cells.floats[cell + DATE] as number;
  }

  /** Whether the permits of a request may begin: the date of its turn has come. */
  isDated(cell: number): boolean {
    return this.#cells.floats[cell + STATE] === IS_DATED;
  }

  /** Whether the turn of a request has not come. It may have come and be over. */
  isWaiting(cell: number): boolean {
    return this.#cells.floats[cell + STATE] === WAITS;
  }

  /** Whether a cell belongs to a request that has not begun, and has not been told that it is dismissed or refused. */
  isRequest(cell: number): boolean {
    const state = this.#cells.floats[cell + STATE];
    return state === WAITS || state === IS_DATED || state === EXPIRED || this.isAway(cell);
  }

  /** Whether the permits of a cell are open: the call runs that has them. */
  isOpen(cell: number): boolean {
    return this.#cells.floats[cell + STATE] === IS_OPEN;
  }

  /** Whether a request has been dismissed or refused, and `look` has not told so yet. */
  isAway(cell: number): boolean {
    const state = this.#cells.floats[cell + STATE];
    return state === IS_DISMISSED || state === IS_REFUSED;
  }

  // --- The list.

  /** Puts a cell in front of another one, or at the end. */
  #link(cell: number, before: number): void {
    const { floats } = this.#cells;
    const back = before === 0 ? this.#get(TAIL) : (floats[before + BACK] as number);
    this.#cells.set(cell + LINK, before);
    this.#cells.set(cell + BACK, back);
    if (back === 0) this.#set(OLDEST, cell);
    else this.#cells.set(back + LINK, cell);
    if (before === 0) this.#set(TAIL, cell);
    else this.#cells.set(before + BACK, cell);
  }

  #unlink(cell: number): void {
    const { floats } = this.#cells;
    const link = floats[cell + LINK] as number;
    const back = floats[cell + BACK] as number;
    if (back === 0) this.#set(OLDEST, link);
    else this.#cells.set(back + LINK, link);
    if (link === 0) this.#set(TAIL, back);
    else this.#cells.set(link + BACK, back);
    if (cell === this.#get(HEAD)) this.#set(HEAD, link);
  }

  #putAway(cell: number, state: number): void {
    const first = this.#get(AWAY);
    this.#cells.set(cell + STATE, state);
    this.#cells.set(cell + LINK, first);
    this.#cells.set(cell + BACK, 0);
    if (first !== 0) this.#cells.set(first + BACK, cell);
    this.#set(AWAY, cell);
  }

  #fetch(cell: number): void {
    const { floats } = this.#cells;
    const link = floats[cell + LINK] as number;
    const back = floats[cell + BACK] as number;
    if (back === 0) this.#set(AWAY, link);
    else this.#cells.set(back + LINK, link);
    if (link !== 0) this.#cells.set(link + BACK, back);
  }

  // --- The log.

  /** How much earlier than `next` k permits may go: what is left of the burst. */
  #ahead(permits: number): number {
    const { floats } = this.#cells;
    const at = this.#at;
    return Math.max(((floats[at + BURST] as number) - permits) * (floats[at + INTERVAL] as number), TICK);
  }

  get #interval(): number {
    return this.#get(INTERVAL);
  }

  /** Returns the earliest date, not before `from`, at which permits may go, if nobody waits in front of them. */
  #due(permits: number, from: number): number {
    const { floats } = this.#cells;
    const at = this.#at;
    const room = (floats[at + N] as number) - (floats[at + OPEN] as number);
    if (permits > room) return Infinity;
    const even = (floats[at + NEXT] as number) - this.#ahead(permits);
    // V8 takes 10 ns longer for the maximum of four.
    const held = Math.max(floats[at + PAUSED] as number, floats[at + DATED] as number);
    let date = Math.max(Math.max(from, even), held);
    let over = (floats[at + TAKEN] as number) + permits - room;
    // If `taken` says more than the log, an exception has cut a call where there is one thread, and the log is right.
    const head = floats[at + HEAD] as number;
    for (let cell = floats[at + OLDEST] as number; over > 0 && cell !== head; cell = floats[cell + LINK] as number) {
      over -= floats[cell + K] as number;
      date = Math.max(date, (floats[cell + DATE] as number) + (floats[at + PER] as number));
    }
    return date;
  }

  /** What lies a window before this date counts no more. */
  #expire(date: number): void {
    const { floats } = this.#cells;
    const per = this.#get(PER);
    for (let cell = this.#get(OLDEST); cell !== this.#get(HEAD); cell = this.#get(OLDEST)) {
      if ((floats[cell + DATE] as number) + per > date) return;
      this.#set(TAKEN, this.#get(TAKEN) - (floats[cell + K] as number));
      this.#unlink(cell);
      if (floats[cell + STATE] === RUN) this.#cells.give(cell);
      else if (this.#isAlone) this.#enqueue(cell, date);
      else this.#putAway(cell, EXPIRED);
      this.#cells.commit();
    }
    // See `#due`.
    if (this.#get(TAKEN) !== 0) this.#set(TAKEN, 0);
  }

  /** Counts permits of this date for the burst. */
  #count(permits: number, date: number): void {
    const cells = this.#cells;
    const { floats } = cells;
    const at = this.#at;
    const next = Math.max(floats[at + NEXT] as number, date);
    cells.set(at + NEXT, next + permits * (floats[at + INTERVAL] as number));
    cells.set(at + DATED, date);
  }

  /** The last cell of the log, or 0. */
  get #newest(): number {
    const head = this.#get(HEAD);
    return head === 0 ? this.#get(TAIL) : (this.#cells.floats[head + BACK] as number);
  }

  /**
   * Adds permits that begin now to the end of the log.
   * @param cell is their cell, which is in no list; 0: they have none yet.
   */
  #append(permits: number, now: number, cell: number): void {
    const cells = this.#cells;
    const { floats } = cells;
    const newest = this.#newest;
    if (newest === 0 || floats[newest + STATE] !== RUN || !this.#isNear(newest, now)) {
      this.#appendRun(permits, now, cell);
      return;
    }
    cells.set(newest + DATE, now);
    cells.set(newest + K, (floats[newest + K] as number) + permits);
    if (cell !== 0) cells.give(cell);
  }

  /** Whether permits of this date may be in the same run. */
  #isNear(run: number, date: number): boolean {
    const { floats } = this.#cells;
    if (floats[run + DATE] === date) return true;
    const at = this.#at;
    const grain = this.#grain;
    const since = date - (floats[run + FROM] as number);
    return (floats[at + N] as number) > grain && since * grain < (floats[at + PER] as number);
  }

  /** It is apart from `#append`, so that engines put the usual case into its callers. */
  #appendRun(permits: number, now: number, cell: number): void {
    const run = cell === 0 ? this.#cells.take() : cell;
    this.#cells.set(run + K, permits);
    this.#cells.set(run + STATE, RUN);
    this.#cells.set(run + DATE, now);
    this.#cells.set(run + FROM, now);
    this.#link(run, this.#get(HEAD));
  }

  // --- The queue.

  /** Gives the head its date. */
  #dateHead(date: number): void {
    const { floats } = this.#cells;
    const cell = this.#get(HEAD);
    const permits = floats[cell + K] as number;
    // Where there is one thread, `advance` has done this: nobody comes to stand in front of the head here.
    this.#expire(date);
    this.#set(HEAD, floats[cell + LINK] as number);
    this.#set(WAITING, this.#get(WAITING) - 1);
    this.#set(TAKEN, this.#get(TAKEN) + permits);
    this.#count(permits, date);
    this.#cells.set(cell + STATE, IS_DATED);
    this.#cells.set(cell + DATE, date);
    this.#cells.commit();
  }

  /**
   * Serves all who are due. A request gets the date of its turn; that of the cell `me`, whose thread looks, the present.
   * Returns the present: it is never before what another thread has seen.
   */
  advance(time: number, me = 0): number {
    const { floats } = this.#cells;
    const now = Math.max(time, this.#get(NOW));
    // No harm is done if the thread dies before the next commit.
    floats[this.#at + NOW] = now;
    // All calls that have not begun are late together, so that they go in their order.
    if (this.#isAlone && this.#get(HEAD) !== 0) this.#expire(now);
    for (let head = this.#get(HEAD); head !== 0; head = this.#get(HEAD)) {
      const date = this.#due(floats[head + K] as number, floats[head + FROM] as number);
      if (date > now) break;
      const isMine = head === me || this.#isAlone;
      const isEarlier = !isMine && date < (floats[head + DATE] as number);
      this.#dateHead(isMine ? now : date);
      if (isEarlier) this.#earlier?.(floats[head + WHO] as number);
      this.#dated?.(head);
    }
    return now;
  }

  /** Puts a request into the queue, in the order of the tickets, and plans its date. */
  #enqueue(cell: number, now: number): void {
    const { floats } = this.#cells;
    const order = floats[cell + ORDER] as number;
    let next = this.#get(TAIL) !== 0 && (floats[this.#get(TAIL) + ORDER] as number) < order ? 0 : this.#get(HEAD);
    while (next !== 0 && (floats[next + ORDER] as number) < order) next = floats[next + LINK] as number;
    const isHead = next === this.#get(HEAD);
    this.#link(cell, next);
    if (isHead) this.#set(HEAD, cell);
    this.#cells.set(cell + STATE, WAITS);
    this.#cells.set(cell + FROM, now);
    this.#cells.set(cell + DATE, Infinity);
    this.#set(WAITING, this.#get(WAITING) + 1);
    this.#cells.commit();
  }

  /** Plans the dates of a request and of all behind it, as if all in front of it go on time. */
  #plan(first: number, now: number): void {
    if (!this.#isAlone) this.#planFrom(first, now);
  }

  #planFrom(first: number, now: number): void {
    if (first === 0) return;
    const { floats } = this.#cells;
    const load = (index: number): number => floats[index] as number;
    const per = this.#get(PER);
    const room = this.#get(N) - this.#get(OPEN);
    // In front of `first`, the cells from `from` on have `sum` permits, which fit into a window.
    let sum = 0;
    let from = first;
    let back = load(first + BACK);
    for (; back !== 0 && sum + load(back + K) <= room; back = load(back + BACK)) {
      sum += load(back + K);
      from = back;
    }
    let date = Math.max(now, this.#get(PAUSED), this.#get(DATED));
    if (back !== 0) date = Math.max(date, load(back + DATE) + per);
    const before = load(first + BACK);
    const isHead = first === this.#get(HEAD);
    let after = isHead ? this.#get(NEXT) : load(before + AFTER);
    if (!isHead) date = Math.max(date, load(before + DATE));
    for (let cell = first; cell !== 0; cell = load(cell + LINK)) {
      const permits = load(cell + K);
      date = permits > room ? Infinity : Math.max(date, after - this.#ahead(permits));
      for (; sum + permits > room && from !== cell; from = load(from + LINK)) {
        sum -= load(from + K);
        date = Math.max(date, load(from + DATE) + per);
      }
      sum += permits;
      after = Math.max(after, date) + permits * this.#interval;
      const isEarlier = date < load(cell + DATE);
      floats[cell + DATE] = date;
      floats[cell + AFTER] = after;
      if (isEarlier) this.#earlier?.(load(cell + WHO));
    }
  }

  // --- What limiters call. Each call but `advance` brings the schedule up to date first.

  /** Makes sure that there is room for a request. Returns false if there is none. */
  reserve(): boolean {
    return this.#cells.reserve();
  }

  /**
   * Where there is one thread: takes permits as `tryTake` does, if they may begin now, nobody waits, nothing leaves the log,
   * and they join its newest run. Otherwise returns false and changes nothing: `tryTake` knows more. It is one function,
   * because most calls of `tryTake` end here.
   */
  tryJoin(permits: number, time: number): boolean {
    const { floats } = this.#cells;
    const at = this.#at;
    const newest = floats[at + TAIL] as number;
    const taken = (floats[at + TAKEN] as number) + permits;
    const most = floats[at + N] as number;
    if (taken > most - (floats[at + OPEN] as number) || newest === 0 || floats[newest + STATE] !== RUN) return false;
    const now = Math.max(time, floats[at + NOW] as number);
    const per = floats[at + PER] as number;
    const interval = floats[at + INTERVAL] as number;
    const next = floats[at + NEXT] as number;
    const ahead = Math.max(((floats[at + BURST] as number) - permits) * interval, TICK);
    if (
      next - ahead > now ||
      (floats[at + PAUSED] as number) > now ||
      (floats[(floats[at + OLDEST] as number) + DATE] as number) + per <= now ||
      (floats[newest + DATE] !== now &&
        (most <= this.#grain || (now - (floats[newest + FROM] as number)) * this.#grain >= per))
    )
      return false;
    floats[at + NOW] = now;
    floats[at + TAKEN] = taken;
    floats[at + NEXT] = (next > now ? next : now) + permits * interval;
    floats[at + DATED] = now;
    floats[newest + DATE] = now;
    (floats[newest + K] as number) += permits;
    return true;
  }

  /**
   * Takes permits if they may begin now and nobody waits. There must be room for a cell, unless there is one thread: then
   * this makes room.
   */
  tryTake(permits: number, time: number): boolean {
    const { floats } = this.#cells;
    const at = this.#at;
    let now = Math.max(time, floats[at + NOW] as number);
    // Most calls find nobody who waits, and nothing that counts no more.
    if (floats[at + HEAD] === 0) floats[at + NOW] = now;
    else now = this.advance(now);
    if (floats[at + HEAD] !== 0 || this.#due(permits, now) > now) return false;
    if (this.#isAlone) {
      this.#takes?.();
      this.#cells.reserve();
    }
    const oldest = floats[at + OLDEST] as number;
    if (oldest !== 0 && (floats[oldest + DATE] as number) + (floats[at + PER] as number) <= now) {
      this.#expire(now);
      // Where there is one thread, a call that was too late to begin waits again.
      if (this.#get(HEAD) !== 0) return false;
    }
    this.#add(permits, now);
    return true;
  }

  #add(permits: number, now: number): void {
    const at = this.#at + TAKEN;
    this.#cells.set(at, (this.#cells.floats[at] as number) + permits);
    this.#count(permits, now);
    this.#append(permits, now, 0);
    this.#cells.commit();
  }

  /**
   * Enters a request, and returns its cell. There must be room. `look` says whether it may begin. Returns 0 if the request
   * is for more permits than a window has: another thread may have called `resize` since this one has checked that.
   */
  ask(permits: number, time: number, who: Who): number {
    const now = this.advance(time);
    if (permits > this.#get(N)) return 0;
    const cell = this.#cells.take();
    this.#set(TICKET, this.#get(TICKET) + 1);
    this.#cells.set(cell + ORDER, this.#get(TICKET));
    this.#cells.set(cell + K, permits);
    this.#cells.set(cell + WHO, who);
    this.#enqueue(cell, now);
    this.advance(now, cell);
    if (!this.isDated(cell)) {
      // Nobody has been told a date yet.
      this.#plan(cell, now);
    }
    return cell;
  }

  /**
   * The thread of a request looks whether it may begin.
   * @param stays whether the permits count until `end`, and not only from now.
   * @returns BEGUN if it begins now: the permits are dated now, and unless the request `stays`, its cell is gone.
   * DISMISSED or REFUSED if it has left without permits; its cell is gone. Otherwise for how many milliseconds the
   * request waits until it looks again, unless `earlier` is told; Infinity if nobody can know.
   */
  look(cell: number, time: number, stays = false): number {
    const { floats } = this.#cells;
    const state = floats[cell + STATE] as number;
    if (this.isAway(cell)) {
      this.#fetch(cell);
      this.#cells.give(cell);
      this.#cells.commit();
      return state === IS_DISMISSED ? DISMISSED : REFUSED;
    }
    const now = this.advance(time, cell);
    const permits = floats[cell + K] as number;
    const isLate = floats[cell + STATE] === EXPIRED;
    if (isLate || (this.isDated(cell) && !this.#isInTime(cell, now))) {
      if (isLate) this.#fetch(cell);
      else this.#takeDate(cell, now);
      if (permits > this.#get(N)) {
        this.#cells.give(cell);
        this.#cells.commit();
        return REFUSED;
      }
      this.#enqueue(cell, now);
      this.#set(DATED, now);
      this.#cells.commit();
      this.advance(now, cell);
      this.#plan(this.#get(HEAD), now);
    }
    if (this.isDated(cell)) {
      this.#begin(cell, now, stays);
      return BEGUN;
    }
    return this.left(cell, now);
  }

  /** Returns for how many milliseconds a request that waits has to wait on, when the schedule has just been advanced. */
  left(cell: number, now: number): number {
    const { floats } = this.#cells;
    // The planned date is always what the thread was told, so that `earlier` is told of each that is earlier.
    if (cell === this.#get(HEAD))
      floats[cell + DATE] = this.#due(floats[cell + K] as number, floats[cell + FROM] as number);
    // Those in front of it are late.
    else if ((floats[cell + DATE] as number) <= now) this.#plan(this.#get(HEAD), now);
    return (floats[cell + DATE] as number) - now;
  }

  /** The owners of all requests that wait, have a date, or are open. */
  get owners(): Set<Who> {
    const owners = new Set<Who>();
    const { floats } = this.#cells;
    for (const first of [this.#get(OLDEST), this.#get(AWAY)])
      for (let cell = first; cell !== 0; cell = floats[cell + LINK] as number)
        if (floats[cell + STATE] !== RUN) owners.add(floats[cell + WHO] as Who);
    return owners;
  }

  /** The cells of the requests of this owner that have not begun. */
  requestsOf(who: Who): number[] {
    const cells: number[] = [];
    const { floats } = this.#cells;
    for (const first of [this.#get(OLDEST), this.#get(AWAY)])
      for (let cell = first; cell !== 0; cell = floats[cell + LINK] as number)
        if (this.isRequest(cell) && floats[cell + WHO] === who) cells.push(cell);
    return cells;
  }

  /** Whether the permits of a date still count in the window that ends now, and nothing holds them up. */
  #isInTime(cell: number, now: number): boolean {
    return (this.#cells.floats[cell + DATE] as number) + this.#get(PER) > now && now >= this.#get(PAUSED);
  }

  /** Takes the date of a request away, and takes the request out of the log. */
  #takeDate(cell: number, now: number): void {
    const { floats } = this.#cells;
    const permits = floats[cell + K] as number;
    this.#unlink(cell);
    this.#set(TAKEN, this.#get(TAKEN) - permits);
    // If its window has not passed, others may use the permits.
    if ((floats[cell + DATE] as number) + this.#get(PER) > now)
      this.#set(NEXT, this.#get(NEXT) - permits * this.#interval);
  }

  #begin(cell: number, now: number, stays: boolean): void {
    const permits = this.#cells.floats[cell + K] as number;
    this.#unlink(cell);
    if (stays) {
      this.#set(TAKEN, this.#get(TAKEN) - permits);
      this.#set(OPEN, this.#get(OPEN) + permits);
      this.#putAway(cell, IS_OPEN);
    } else {
      this.#set(DATED, now);
      this.#append(permits, now, cell);
    }
    this.#cells.commit();
  }

  /** The call of a request that `stays` has ended: from now on its permits count for a window. */
  end(cell: number, time: number): void {
    const now = this.advance(time);
    this.#close(cell, now);
    this.#moveUp(this.#get(HEAD), now);
  }

  /** There is more room from now on: serves those who are due now, and plans the dates from `first` on anew. */
  #moveUp(first: number, now: number): void {
    this.#set(DATED, now);
    this.#cells.commit();
    this.advance(now);
    // If `first` has got its date, so have all in front of it.
    const waits = first !== 0 && this.#cells.floats[first + STATE] === WAITS;
    this.#plan(waits ? first : this.#get(HEAD), now);
  }

  #close(cell: number, now: number): void {
    const permits = this.#cells.floats[cell + K] as number;
    this.#expire(now);
    this.#fetch(cell);
    this.#set(OPEN, this.#get(OPEN) - permits);
    this.#set(TAKEN, this.#get(TAKEN) + permits);
    this.#set(DATED, now);
    this.#append(permits, now, cell);
    this.#cells.commit();
  }

  /** Lets go of a request that has not begun. Its permits go back, and those behind it move up. */
  leave(cell: number, time: number): void {
    const now = this.advance(time);
    const { floats } = this.#cells;
    const state = floats[cell + STATE] as number;
    let behind = this.#get(HEAD);
    if (state === WAITS) {
      behind = floats[cell + LINK] as number;
      this.#remove(cell);
    } else if (state === IS_DATED) this.#takeDate(cell, now);
    else this.#fetch(cell);
    this.#cells.give(cell);
    this.#cells.commit();
    if (behind !== 0) this.#moveUp(behind, now);
  }

  /** Takes a request that waits out of the queue. */
  #remove(cell: number): void {
    this.#unlink(cell);
    this.#set(WAITING, this.#get(WAITING) - 1);
  }

  /** Dismisses all who wait, or those who ask for more than so many permits. Their threads are told, and find out by `look`. */
  dismiss(time: number, state: typeof DISMISSED | typeof REFUSED = DISMISSED, most = 0): void {
    const now = this.advance(time);
    const { floats } = this.#cells;
    for (let cell = this.#get(HEAD), next = 0; cell !== 0; cell = next) {
      next = floats[cell + LINK] as number;
      if ((floats[cell + K] as number) <= most) continue;
      this.#remove(cell);
      this.#putAway(cell, state === DISMISSED ? IS_DISMISSED : IS_REFUSED);
      this.#cells.commit();
      this.#earlier?.(floats[cell + WHO] as number);
    }
    this.#moveUp(this.#get(HEAD), now);
  }

  /** A thread has died: its requests leave, and its permits count as if their calls had begun, or ended now. */
  bury(who: Who, time: number): void {
    const now = this.advance(time);
    const { floats } = this.#cells;
    for (let cell = this.#get(OLDEST), next = 0; cell !== 0; cell = next) {
      next = floats[cell + LINK] as number;
      if (floats[cell + WHO] !== who) continue;
      if (floats[cell + STATE] === WAITS) {
        this.#remove(cell);
        this.#cells.give(cell);
      } else if (floats[cell + STATE] === IS_DATED) {
        this.#cells.set(cell + STATE, RUN);
        this.#cells.set(cell + FROM, floats[cell + DATE] as number);
      }
      this.#cells.commit();
    }
    for (let cell = this.#get(AWAY), next = 0; cell !== 0; cell = next) {
      next = floats[cell + LINK] as number;
      if (floats[cell + WHO] !== who) continue;
      if (floats[cell + STATE] === IS_OPEN) this.#close(cell, now);
      else {
        this.#fetch(cell);
        this.#cells.give(cell);
        this.#cells.commit();
      }
    }
    this.#moveUp(this.#get(HEAD), now);
  }

  /**
   * Counts permits that have been used, without waiting and also into debt. A number below 0 gives back permits that
   * were taken and not used. They go to the oldest: so no later window counts less than what was used in it.
   */
  spend(permits: number, time: number): void {
    const now = this.advance(time);
    this.#expire(now);
    if (permits >= 0) {
      this.#add(permits, now);
      return;
    }
    const { floats } = this.#cells;
    let left = -permits;
    this.#set(NEXT, this.#get(NEXT) - left * this.#interval);
    for (let cell = this.#get(OLDEST), next = 0; left > 0 && cell !== this.#get(HEAD); cell = next) {
      next = floats[cell + LINK] as number;
      if (floats[cell + STATE] !== RUN) continue;
      const given = Math.min(left, floats[cell + K] as number);
      left -= given;
      this.#set(TAKEN, this.#get(TAKEN) - given);
      this.#cells.set(cell + K, (floats[cell + K] as number) - given);
      if (floats[cell + K] === 0) {
        this.#unlink(cell);
        this.#cells.give(cell);
      }
      this.#cells.commit();
    }
    this.#cells.commit();
    this.#moveUp(this.#get(HEAD), now);
  }

  /** Nobody begins before so many milliseconds have passed. A pause that ends later stays. */
  pause(milliseconds: number, time: number): void {
    const now = this.advance(time);
    this.#set(PAUSED, Math.max(this.#get(PAUSED), now + milliseconds));
    this.#cells.commit();
  }

  /**
   * Changes the numbers. What the log has let go of by the old numbers does not count by the new ones either. Who has got
   * a date by the old numbers and has not begun is to get a new one.
   */
  resize(permits: number, per: number, burst: number, time: number): void {
    const now = this.advance(time);
    const { floats } = this.#cells;
    this.#expire(now);
    for (let cell = this.#get(OLDEST), next = 0; cell !== 0 && floats[cell + STATE] !== WAITS; cell = next) {
      next = floats[cell + LINK] as number;
      if (floats[cell + STATE] !== IS_DATED) continue;
      this.#takeDate(cell, now);
      this.#enqueue(cell, now);
    }
    const debt = Math.max(this.#get(NEXT) - now, 0) / this.#interval;
    this.#set(N, permits);
    this.#set(PER, per);
    this.#set(BURST, burst);
    this.#set(INTERVAL, per / permits);
    this.#set(NEXT, now + debt * this.#interval);
    this.#set(DATED, now);
    this.#cells.commit();
    this.dismiss(now, REFUSED, permits);
  }

  /** Returns in how many milliseconds permits may begin, if they are asked for now and all others go on time. */
  dueIn(permits: number, time: number): number {
    const now = this.advance(time);
    if (this.#get(HEAD) === 0) return this.#due(permits, now) - now;
    this.#planFrom(this.#get(HEAD), now);
    const { floats } = this.#cells;
    const room = this.#get(N) - this.#get(OPEN);
    if (permits > room) return Infinity;
    const tail = this.#get(TAIL);
    let sum = permits;
    let back = tail;
    while (back !== 0 && sum + (floats[back + K] as number) <= room) {
      sum += floats[back + K] as number;
      back = floats[back + BACK] as number;
    }
    let date = Math.max(floats[tail + DATE] as number, (floats[tail + AFTER] as number) - this.#ahead(permits));
    if (back !== 0) date = Math.max(date, (floats[back + DATE] as number) + this.#get(PER));
    return Math.max(date - now, 0);
  }

  /** Those who wait, the first first, and in how many milliseconds each goes if all go on time; Infinity: nobody knows. */
  waiters(most: number, time: number): { readonly who: Who; readonly permits: number; readonly left: number }[] {
    const now = this.advance(time);
    const { floats } = this.#cells;
    this.#planFrom(this.#get(HEAD), now);
    const list: { who: Who; permits: number; left: number }[] = [];
    for (let cell = this.#get(HEAD); cell !== 0 && list.length < most; cell = floats[cell + LINK] as number)
      list.push({ who: this.whoseIs(cell), permits: floats[cell + K] as number, left: this.plannedDate(cell) - now });
    return list;
  }

  /** Returns how many permits count in the window that ends now, open ones too. */
  taken(time: number): number {
    const now = this.advance(time);
    this.#expire(now);
    return this.#get(TAKEN) + this.#get(OPEN);
  }

  /** Whether a new schedule would answer the same from now on. */
  isFresh(time: number): boolean {
    const now = Math.max(time, this.#get(NOW));
    this.#expire(now);
    return this.#get(TAIL) === 0 && this.#get(AWAY) === 0 && this.#get(NEXT) <= now && this.#get(PAUSED) <= now;
  }

  /** The log, if there is nothing else: nobody waits, and no call is about to begin, or counts until its end. */
  get state(): RateState | undefined {
    if (this.#get(HEAD) !== 0 || this.#get(AWAY) !== 0) return undefined;
    const { floats } = this.#cells;
    const runs: [number, number][] = [];
    for (let cell = this.#get(OLDEST); cell !== 0; cell = floats[cell + LINK] as number) {
      if (floats[cell + STATE] !== RUN) return undefined;
      runs.push([floats[cell + DATE] as number, floats[cell + K] as number]);
    }
    return { next: this.#get(NEXT), paused: this.#get(PAUSED), runs };
  }

  /** Gives a new schedule the log of another rate. */
  restore({ next, paused, runs }: RateState): void {
    for (const [date, permits] of runs) {
      this.reserve();
      this.spend(permits, date);
    }
    this.#set(NEXT, next);
    this.#set(PAUSED, paused);
    this.#cells.commit();
  }

  /** After the death of a thread in a call, when `rollback` has been called: plans anew, and tells all. */
  recover(time: number): void {
    // It may have changed the numbers, and not refused anybody yet.
    this.dismiss(time, REFUSED, this.#get(N));
    const { floats } = this.#cells;
    for (const first of [this.#get(OLDEST), this.#get(AWAY)])
      for (let cell = first; cell !== 0; cell = floats[cell + LINK] as number)
        if (floats[cell + STATE] !== RUN) this.#earlier?.(floats[cell + WHO] as number);
  }
}
