/**
 * Which words the threads may still access, each from where it is in its program.
 *
 *      place ──► place ──► place        a place: operation, phase, instruction of the pending access
 *        │         ▲         │          a way: from one to the next, as seen
 *        └► place ─┘         ▼
 *         reads a        writes b       so from the first place on, a is read and b written
 *
 * A thread goes from access to access, so what it may still do is what is done at any place that can be reached from
 * its own. Both, ways and what is done at a place, are learnt: from every step that walks and searches take. What has
 * been learnt last may prove wrong what has been relied on before, and whoever learns is told so.
 */
import * as status from '../machine/status.js';
import { ELEMENT_SIZE, GRANT, type Regions, THREAD_SIZE, TICKET } from '../scene/layout.js';
import type { Scene } from '../scene/scene.js';
import * as words from '../scene/words.js';

const { CHOICES, HOST_ADDRESS, OP, PHASE, STEP } = words;
const { DEAD, PENDING } = status;

const ACCESSED = 1;
const WRITTEN = 2;
/** Above the phases of any operation; phases taken for one would only say that more may be done. */
const PHASES = 64;

export class Sharing {
  readonly #threads: number;
  /** Above the operations of any thread, as far as its program goes. */
  readonly #operations: number;
  /** Of each thread: its places, by operation, phase and instruction. */
  readonly #known: Map<number, number>[] = [];
  /** Pairs of threads that do the same: what is learnt of one is taken for true of the other, which may be too much. */
  readonly #alike: (readonly [number, number])[] = [];
  /** Of each place: its thread and its key among those of the thread. */
  readonly #threadOf: number[] = [];
  readonly #keyOf: number[] = [];
  /** Of each place: where one comes to from it, and from where to it. */
  readonly #next: number[][] = [];
  readonly #before: number[][] = [];
  /** Of each place a row, of each word that has been accessed a column: what may be done from there on. */
  #later = new Uint8Array(1 << 14);
  #row = 64;
  /** Of each word of 8 bytes: its column + 1, or 0. */
  readonly #columns: Uint16Array;
  #width = 0;
  /** Of each column: its word. */
  readonly #words: number[] = [];
  readonly #regions: Regions;
  /** Whose accesses to the word of a column have been taken for local: bits of threads. */
  #relied = new Int32Array(64);
  /** Words that are never local. */
  readonly #visible: Uint8Array;
  /** Where the threads are, at each depth of the search. */
  #places = new Int32Array(1 << 10);

  constructor(scene: Scene) {
    this.#threads = scene.threads;
    this.#operations = 1 + Math.max(...scene.model.programs.map(({ length }) => length));
    for (let t = 0; t < scene.threads; t++) this.#known.push(new Map());
    const { alike = [], deaths = 0 } = scene.model;
    for (let t = 0; t < alike.length && deaths === 0; t++) {
      for (let u = 0; u < t; u++) if (alike[t] === alike[u]) this.#alike.push([t, u]);
    }
    this.#regions = scene.regions;
    const size = (scene.machine.words.length >> 1) + 1;
    this.#columns = new Uint16Array(size);
    this.#visible = new Uint8Array(size);
    // The checks read these words too, so an access to one of them is never invisible.
    for (const address of scene.semaphores) {
      this.#visible[(address + TICKET) >>> 3] = 1;
      this.#visible[(address + GRANT) >>> 3] = 1;
    }
    for (const address of scene.watched) this.#visible[address >>> 3] = 1;
  }

  /** Nothing is relied on any more: a search begins. */
  begin(): void {
    this.#relied.fill(0);
  }

  /**
   * Notes where the threads are now, `depth` steps from the start, and which way they came there from one step before,
   * when all of them may have moved, or `mover` alone. True if something proves wrong that has been relied on.
   */
  arrive(scene: Scene, depth: number, mover = -1): boolean {
    const threads = this.#threads;
    const at = depth * threads;
    if (at + threads > this.#places.length) this.#places = grown(this.#places);
    const places = this.#places;
    let wrong = false;
    for (let t = 0; t < threads; t++) {
      const from = depth === 0 ? -1 : places[at - threads + t];
      const to = mover < 0 || t === mover ? this.#placeOf(scene, t) : from;
      places[at + t] = to;
      if (from < 0 || from === to) continue;
      if (this.#connect(from, to)) wrong = true;
    }
    return wrong;
  }

  /** There is a way from one place to the other. */
  #connect(from: number, to: number): boolean {
    if (this.#next[from].includes(to)) return false;
    this.#next[from].push(to);
    this.#before[to].push(from);
    let wrong = false;
    for (let column = 0; column < this.#width; column++) {
      const what = this.#later[to * this.#row + column];
      if (what !== 0 && this.#learn(from, column, what)) wrong = true;
    }
    for (const pair of this.#alike) {
      if (this.#connect(this.#mirrored(from, pair), this.#mirrored(to, pair))) wrong = true;
    }
    return wrong;
  }

  /** The place of the one where that of the other is. */
  #mirrored(place: number, [a, b]: readonly [number, number]): number {
    const t = this.#threadOf[place];
    if (t !== a && t !== b) return place;
    return this.#place(t === a ? b : a, this.#keyOf[place]);
  }

  /** The word of the one where that of the other is: of their records, and of the elements that they begin with. */
  #mirroredColumn(column: number, [a, b]: readonly [number, number]): number {
    const address = this.#words[column] * 8;
    const { threads, chains, elements, end } = this.#regions;
    let [start, limit, size, one, other] = [elements, end, ELEMENT_SIZE, a, b];
    if (address < chains) [start, limit, size, one, other] = [threads, chains, THREAD_SIZE, a + 1, b + 1];
    if (address < start || address >= limit) return column;
    const n = Math.floor((address - start) / size);
    if (n !== one && n !== other) return column;
    const there = address + (n === one ? other - one : one - other) * size;
    return there < limit ? this.#columnOf(there >>> 3) : column;
  }

  /** Notes the access that a choice is about to make, `depth` steps from the start. True as from `arrive`. */
  note(scene: Scene, depth: number, choice: number): boolean {
    if (choice % CHOICES !== STEP) return false;
    const t = Math.floor(choice / CHOICES);
    if (scene.silent(t)) return false;
    const plain = scene.pendingWord(t);
    const pending = scene.machine.status(t) === PENDING;
    // Who waits or notifies reads too.
    const address = pending ? scene.machine.pendingAddress(t) : scene.get(t, HOST_ADDRESS);
    const word = plain < 0 ? address >>> 3 : plain;
    const what = plain >= 0 && scene.pendingIsWrite(t) ? ACCESSED | WRITTEN : ACCESSED;
    return this.#learn(this.#places[depth * this.#threads + t], this.#columnOf(word), what);
  }

  /**
   * Whether nobody else will ever do, from where it is now, what does not commute with the next access of t. If so it is
   * relied on from now on.
   */
  isLocal(scene: Scene, depth: number, t: number): boolean {
    const word = scene.pendingWord(t);
    if (word < 0 || this.#visible[word] === 1) return false;
    const conflict = scene.pendingIsWrite(t) ? ACCESSED : WRITTEN;
    const column = this.#columnOf(word);
    const at = depth * this.#threads;
    for (let u = 0; u < this.#threads; u++) {
      if (u === t || (this.#later[this.#places[at + u] * this.#row + column] & conflict) === 0) continue;
      if (scene.machine.status(u) !== DEAD && !scene.waitsInVain(u)) return false;
    }
    this.#relied[column] |= 1 << t;
    return true;
  }

  /**
   * What may be done from a place on, and so from all before it, and by those that are alike. True if it may contradict
   * what another thread has relied on.
   */
  #learn(place: number, column: number, what: number): boolean {
    if ((this.#later[place * this.#row + column] & what) === what) return false;
    let wrong = false;
    const todo = [place, column];
    while (todo.length > 0) {
      const c = todo.pop() as number;
      const p = todo.pop() as number;
      const i = p * this.#row + c;
      if ((this.#later[i] & what) === what) continue;
      this.#later[i] |= what;
      if ((this.#relied[c] & ~(1 << this.#threadOf[p])) !== 0) wrong = true;
      for (const before of this.#before[p]) todo.push(before, c);
      for (const pair of this.#alike) todo.push(this.#mirrored(p, pair), this.#mirroredColumn(c, pair));
    }
    return wrong;
  }

  #placeOf(scene: Scene, t: number): number {
    const at = scene.machine.instruction(t) * this.#operations + scene.get(t, OP);
    return this.#place(t, at * PHASES + scene.get(t, PHASE));
  }

  #place(t: number, key: number): number {
    const known = this.#known[t].get(key);
    if (known !== undefined) return known;
    const place = this.#next.length;
    this.#known[t].set(key, place);
    this.#threadOf.push(t);
    this.#keyOf.push(key);
    this.#next.push([]);
    this.#before.push([]);
    while ((place + 1) * this.#row > this.#later.length) this.#later = grown(this.#later);
    return place;
  }

  #columnOf(word: number): number {
    const known = this.#columns[word];
    if (known > 0) return known - 1;
    if (this.#width === this.#row) this.#widen();
    this.#columns[word] = this.#width + 1;
    this.#words.push(word);
    return this.#width++;
  }

  #widen(): void {
    const row = this.#row * 2;
    const later = new Uint8Array(this.#later.length * 2);
    for (let place = 0; place < this.#next.length; place++)
      later.set(this.#later.subarray(place * this.#row, (place + 1) * this.#row), place * row);
    this.#later = later;
    this.#row = row;
    this.#relied = grown(this.#relied);
  }
}

/** A copy of twice the length. */
function grown<T extends Uint8Array | Int32Array>(array: T): T {
  const more = new (array.constructor as new (length: number) => T)(array.length * 2);
  more.set(array);
  return more;
}
