/**
 * Learns which words the threads may still access, each from its position in its program.
 *
 *      here ──► here ──► here        here: a position of a thread in its program (StateSpace.positionOf)
 *        │        ▲        │          an arrow: a way from a position to the next, as seen
 *        └► here ─┘        ▼
 *       reads a        writes b       so from the first position on, the thread may still read a and write b
 *
 * A thread goes from position to position, and makes one access at each. So it may still make the accesses of all
 * positions that can be reached from its own position. The class learns the ways and the accesses from every step that
 * the search takes.
 *
 * A reliance is an assumption of the search about one word: from their present positions on, the other threads will not
 * access this word, or will not write it. A way or an access that is learnt later may prove a reliance wrong. So the
 * class keeps each reliance, without duplicates, and `takeBroken` checks all reliances again.
 */
import * as kinds from './choice.js';
import type { StateSpace } from './state-space.js';

const { CHOICES, STEP } = kinds;

const ACCESSED = 1;
const WRITTEN = 2;
/** Exceeds ACCESSED | WRITTEN, so a column and these bits fit in one number. */
const MOST = 4;
/** Stands instead of the column of a reliance that has proved wrong and was reported. */
const RETIRED = -1;
/** Stands instead of the position of a thread that does not matter: the thread that relies, or a thread that is over. */
const NOWHERE = -1;

export class Sharing {
  readonly #threads: number;
  /** For each thread, its positions: the number that the state space gives to a position, and the number in this class. */
  readonly #known: Map<number, number>[] = [];
  /** For each position, the positions that follow it. */
  readonly #next: number[][] = [];
  /** For each position, the positions that it follows. */
  readonly #before: number[][] = [];
  /** What a thread may do from a position on: a row for each position, a column for each word that has been accessed. */
  #later = new Uint8Array(1 << 14);
  #row = 64;
  /** For each word of 8 bytes, its column + 1, or 0. */
  readonly #columns: Uint16Array;
  #width = 0;
  /** The words to which no access is local. */
  readonly #visible: Uint8Array;
  /**
   * The reliances: a row for each. The first word of a row has the column of the word and what the other threads must
   * not do to the word. Then the row has the position of each thread, or NOWHERE. The row of a reliance that has proved
   * wrong and was reported begins with RETIRED, so no state can rely on it again.
   */
  #rows = new Int32Array(1 << 12);
  #reliances = 0;
  /** Where the rows are, by their hash: number + 1, or 0. */
  #slots = new Int32Array(1 << 10);
  /** The positions of the threads at each depth of the search. */
  #positions = new Int32Array(1 << 10);

  constructor(space: StateSpace) {
    this.#threads = space.threads;
    for (let t = 0; t < space.threads; t++) this.#known.push(new Map());
    const size = space.sharedWords + 1;
    this.#columns = new Uint16Array(size);
    this.#visible = new Uint8Array(size);
    // The checks read these words, so an access to one of them is never invisible.
    for (const address of space.visibleWords()) this.#visible[address >>> 3] = 1;
  }

  /** Forgets all reliances, since a search begins. */
  begin(): void {
    this.#reliances = 0;
    this.#slots.fill(0);
  }

  /**
   * Notes the positions of the threads `depth` steps from the start, and the ways that led there from the positions one step
   * before. If `mover` is given, only this thread has moved.
   */
  arrive(space: StateSpace, depth: number, mover = -1): void {
    const threads = this.#threads;
    const at = depth * threads;
    if (at + threads > this.#positions.length) this.#positions = grown(this.#positions);
    const positions = this.#positions;
    for (let t = 0; t < threads; t++) {
      const from = depth === 0 ? -1 : positions[at - threads + t];
      const to = mover < 0 || t === mover ? this.#position(t, space.positionOf(t)) : from;
      positions[at + t] = to;
      if (from >= 0 && from !== to) this.#connect(from, to);
    }
  }

  /** Notes that there is a way from one position to the other. */
  #connect(from: number, to: number): void {
    if (this.#next[from].includes(to)) return;
    this.#next[from].push(to);
    this.#before[to].push(from);
    for (let column = 0; column < this.#width; column++) {
      const what = this.#later[to * this.#row + column];
      if (what !== 0) this.#learn(from, column, what);
    }
  }

  /** Notes the access that a choice is about to make, `depth` steps from the start. */
  note(space: StateSpace, depth: number, choice: number): void {
    if (choice % CHOICES !== STEP) return;
    const t = Math.floor(choice / CHOICES);
    if (space.silent(t)) return;
    const plain = space.pendingWord(t);
    // For a wait or a notify, the word counts as read.
    const word = plain < 0 ? space.accessedWord(t) : plain;
    const what = plain >= 0 && space.pendingIsWrite(t) ? ACCESSED | WRITTEN : ACCESSED;
    this.#learn(this.#positions[depth * this.#threads + t], this.#columnOf(word), what);
  }

  /**
   * Returns the number of a reliance if the next access of t is local, as far as is known. An access is local if it
   * commutes with everything that the other threads will do from their positions on. Otherwise returns -1.
   */
  rely(space: StateSpace, depth: number, t: number): number {
    const word = space.pendingWord(t);
    if (word < 0 || this.#visible[word] === 1) return -1;
    const conflict = space.pendingIsWrite(t) ? ACCESSED : WRITTEN;
    const column = this.#columnOf(word);
    const threads = this.#threads;
    const row = this.#reliances * (threads + 1);
    if (row + threads + 1 > this.#rows.length) this.#rows = grown(this.#rows);
    const rows = this.#rows;
    rows[row] = column * MOST + conflict;
    for (let u = 0; u < threads; u++) {
      let position = u === t ? NOWHERE : this.#positions[depth * threads + u];
      if (u !== t && (this.#later[position * this.#row + column] & conflict) !== 0) {
        if (!space.isOver(u)) return -1;
        position = NOWHERE;
      }
      rows[row + 1 + u] = position;
    }
    return this.#number(row);
  }

  /** Returns a 1 for each reliance that has proved wrong since the last call, or undefined if none has. */
  takeBroken(): Uint8Array | undefined {
    const broken = new Uint8Array(this.#reliances);
    let any = false;
    for (let reliance = 0; reliance < this.#reliances; reliance++) {
      if (this.#holds(reliance)) continue;
      broken[reliance] = 1;
      any = true;
      this.#rows[reliance * (this.#threads + 1)] = RETIRED;
    }
    return any ? broken : undefined;
  }

  #holds(reliance: number): boolean {
    const row = reliance * (this.#threads + 1);
    if (this.#rows[row] === RETIRED) return true;
    const column = Math.floor(this.#rows[row] / MOST);
    const conflict = this.#rows[row] % MOST;
    for (let i = row + 1; i <= row + this.#threads; i++) {
      const position = this.#rows[i];
      if (position !== NOWHERE && (this.#later[position * this.#row + column] & conflict) !== 0) return false;
    }
    return true;
  }

  /** Returns the number of the reliance that was just written behind the last row. A known reliance has its number. */
  #number(row: number): number {
    const rows = this.#rows;
    const length = this.#threads + 1;
    const mask = this.#slots.length - 1;
    for (let slot = this.#hash(row) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] - 1;
      if (number < 0) {
        this.#slots[slot] = ++this.#reliances;
        if (this.#reliances * 2 > mask) this.#spread();
        return this.#reliances - 1;
      }
      let i = 0;
      while (i < length && rows[number * length + i] === rows[row + i]) i++;
      if (i === length) return number;
    }
  }

  #hash(row: number): number {
    let hash = 0;
    for (let i = row; i <= row + this.#threads; i++) hash = Math.imul(hash ^ this.#rows[i] ^ (hash >>> 15), 0x9e3779b1);
    return hash ^ (hash >>> 16);
  }

  /** Doubles the slots, when half are taken. */
  #spread(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.#reliances; number++) {
      if (this.#rows[number * (this.#threads + 1)] === RETIRED) continue;
      let slot = this.#hash(number * (this.#threads + 1)) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }

  /** Notes what a thread may do from a position on, and so also from all positions before this position. */
  #learn(position: number, column: number, what: number): void {
    if ((this.#later[position * this.#row + column] & what) === what) return;
    const todo = [position, column];
    while (todo.length > 0) {
      const c = todo.pop() as number;
      const p = todo.pop() as number;
      const i = p * this.#row + c;
      if ((this.#later[i] & what) === what) continue;
      this.#later[i] |= what;
      for (const before of this.#before[p]) todo.push(before, c);
    }
  }

  #position(t: number, key: number): number {
    const known = this.#known[t].get(key);
    if (known !== undefined) return known;
    const position = this.#next.length;
    this.#known[t].set(key, position);
    this.#next.push([]);
    this.#before.push([]);
    while ((position + 1) * this.#row > this.#later.length) this.#later = grown(this.#later);
    return position;
  }

  #columnOf(word: number): number {
    const known = this.#columns[word];
    if (known > 0) return known - 1;
    if (this.#width === this.#row) this.#widen();
    this.#columns[word] = this.#width + 1;
    return this.#width++;
  }

  #widen(): void {
    const row = this.#row * 2;
    const later = new Uint8Array(this.#later.length * 2);
    for (let position = 0; position < this.#next.length; position++)
      later.set(this.#later.subarray(position * this.#row, (position + 1) * this.#row), position * row);
    this.#later = later;
    this.#row = row;
  }
}

/** Returns a copy of twice the length. */
export function grown<T extends Uint8Array | Int32Array>(array: T): T {
  const more = new (array.constructor as new (length: number) => T)(array.length * 2);
  more.set(array);
  return more;
}
