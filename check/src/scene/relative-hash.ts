/**
 * Computes a hash of the states of a mutex. Two states have the same hash if they differ only in how far the counters
 * have come. There are three groups of such counters, called rows:
 *
 *     tickets       ticket, grant, and the tickets of waiters       relative to grant
 *     overtakings   in the word, limit, turn, base, and the guess   relative to the count in the word
 *     epochs        of an element, and as threads have read them    relative to the epoch in its state
 *
 * If there is one bucket, the core looks only at differences of the values of a row. So if the same number is added to
 * all values of a row, an execution turns into another execution. Therefore one state may stand for all states that
 * come from it in this way. The hash shifts each row, so that the value to which the row is relative becomes the first
 * value of the row. The hash recognises the other values of a row wherever they lie, because the rows begin far from
 * each other and from every other value (TICKETS, OVERTAKINGS, EPOCHS).
 *
 * The hash also leaves out words that are written before any thread reads them next:
 * - the request and the first ticket of an element whose owner does not wait, unless a thread is at this element: it
 *   has the address of the element in a register, or is about to access the element;
 * - the word on which the head sleeps, unless its thread competes;
 * - the number of the head, while no thread competes and none is about to wake the head.
 *
 * check/test/relative-hash.test.ts shows for smaller models that this is sound: without any reduction, states with the
 * same hash have the same choices, and each choice leads from all of them to states with the same hash.
 */
import * as hash from '../engine/machine/hash.js';
import { IMM, LOAD, OP_ACCESS, type RegisterFunction, RMW, STORE, STRIDE } from '../engine/wasm/code.js';
import * as layout from './layout.js';
import type { Scene } from './scene.js';
import { globalIndex, recordOf } from './set-up.js';
import * as words from './words.js';

// V8 folds the values of these local constants into the code, but looks up imported names at each use.
const { mixHi, mixLo, nextHi, nextLo } = hash;
const { E_REQUEST, E_START, E_STATE, ELEMENT_SIZE, GRANT, IDLE, RESERVED, STATE_MASK, TICKET } = layout;
const { TAKEN, WORDS } = words;
const M_WORD = layout.constant('M_WORD');
const M_LIMIT = layout.constant('M_LIMIT');
const M_TURN = layout.constant('M_TURN');
const M_HEAD = layout.constant('M_HEAD');
const M_SLEEPING = layout.constant('M_SLEEPING');
const T_WAKE = layout.constant('T_WAKE');
/** The count of overtakings begins at this bit of the upper half of the word. */
const COUNT_BIT = layout.constant('M_COUNT_SHIFT') - 32;

/** The first count of overtakings. */
export const OVERTAKINGS = 0x02000000;
/** The first count of overtakings, as it lies in the word of the mutex. */
const IN_WORD = OVERTAKINGS << COUNT_BIT;
/** The first ticket. */
export const TICKETS = 0x40000000;
/** The number that is added at first to the state of element 0. For each next element it is 1 << EPOCHS_SHIFT more. */
export const EPOCHS = 0x60000000;
export const EPOCHS_SHIFT = 20;
/** Words of the mutex that hold values of rows. */
const ROWS = [TICKET, GRANT, M_WORD + 4, M_LIMIT, M_TURN];
// The note of a thread has a bit for each element at which the thread is, and these two bits.
const KEEPS_WAKE = 1 << 30;
const KEEPS_HEAD = 1 << 29;
/** No value of a row goes as far as this number from the first value of the row, up or down. */
const FAR = 1 << 12;

export class RelativeHash {
  lo = 0;
  hi = 0;
  readonly #scene: Scene;
  readonly #list = new Int32Array(1 << 12);
  readonly #mutex: number;
  readonly #elements: number;
  /** How many elements there are. */
  readonly #count: number;
  /** How far each element's epoch has come. */
  readonly #epochs: Int32Array;
  /** The instructions by which a thread that competes names itself as the head, and then says that it sleeps. */
  readonly #names: number;
  readonly #sleeps: number;
  readonly #sleepOn: RegisterFunction;
  readonly #wakeNext: RegisterFunction;
  readonly #compete: RegisterFunction;
  /** Globals that nothing reads in a model. */
  readonly #turnOf: number;
  readonly #turnFrom: number;
  /** Globals that may hold a value of a row. */
  readonly #globals: readonly number[];
  #tickets = 0;
  #overtakings = 0;
  #memoryLo = 0;
  #memoryHi = 0;

  constructor(scene: Scene) {
    const { elements, end } = scene.regions;
    this.#scene = scene;
    this.#mutex = scene.semaphores[0];
    this.#elements = elements;
    this.#count = (end - elements) / ELEMENT_SIZE;
    this.#epochs = new Int32Array(this.#count);
    const { image, functions } = scene.program;
    const called = (name: string): RegisterFunction => {
      const found = functions.find((fn) => fn.name === name);
      if (found === undefined) throw new Error(`the core has no ${name}`);
      return found;
    };
    this.#sleepOn = called('threads/sleepOn');
    this.#wakeNext = called('mutex-head/wakeNext');
    this.#compete = called('mutex-head/compete');
    this.#turnOf = globalIndex(scene.program, 'mutex-pace/turnOf');
    this.#turnFrom = globalIndex(scene.program, 'mutex-pace/turnFrom');
    this.#globals = scene.program.globals.flatMap(({ name }, i) => (/^(arena|threads)\//.test(name) ? [] : [i]));
    let at = this.#compete.entry;
    while (image[at] !== OP_ACCESS + STORE || image[at + IMM] !== M_HEAD) at += STRIDE;
    this.#names = at;
    do at += STRIDE;
    while (image[at] !== OP_ACCESS + RMW);
    this.#sleeps = at;
  }

  /** Says whether t is about to read which thread it has to wake. */
  #wakes(t: number): boolean {
    const { machine } = this.#scene;
    return machine.accesses(t) === this.#mutex + M_HEAD && machine.pendingKind(t) === LOAD;
  }

  /** Says whether an instruction lies in sleepOn. */
  #isAsleep(at: number): boolean {
    return at >= this.#sleepOn.entry && at < this.#sleepOn.end;
  }

  /** Updates the hash after a change of thread t alone. */
  update(t: number): void {
    const moved = this.#measure();
    for (let u = 0; u < this.#scene.threads; u++) if (moved || u === t) this.#thread(u);
    this.#combine();
  }

  /** Computes the hash after changes of any threads. */
  compute(): void {
    this.#measure();
    for (let t = 0; t < this.#scene.threads; t++) this.#thread(t);
    this.#combine();
  }

  /** Measures how far each row has come, and says whether one has moved since the hashes of threads were computed. */
  #measure(): boolean {
    const { machine, ghosts, threads } = this.#scene;
    const memory = machine.words;
    const m = this.#mutex;
    this.#tickets = memory[(m + GRANT) >> 2] - TICKETS;
    this.#overtakings = (memory[(m + M_WORD + 4) >> 2] >> COUNT_BIT) - OVERTAKINGS;
    // An epoch never goes back. So if one epoch has moved, the sum of the epochs has moved too.
    let epochs = 0;
    for (let e = 0; e < this.#count; e++) {
      const state = memory[(this.#elements + e * ELEMENT_SIZE + E_STATE) >> 2];
      const epoch = (state & ~STATE_MASK) - EPOCHS - (e << EPOCHS_SHIFT);
      this.#epochs[e] = epoch;
      epochs += epoch;
    }
    const moved =
      ghosts.note(threads) !== this.#tickets ||
      ghosts.note(threads + 1) !== this.#overtakings ||
      ghosts.note(threads + 2) !== epochs;
    if (moved) {
      ghosts.setNote(threads, this.#tickets);
      ghosts.setNote(threads + 1, this.#overtakings);
      ghosts.setNote(threads + 2, epochs);
    }
    return moved;
  }

  /** Joins the hashes of the threads with that of memory and of the ghosts. */
  #combine(): void {
    const scene = this.#scene;
    const { machine, ghosts, threads } = scene;
    const memory = machine.words;
    const m = this.#mutex;
    this.#memoryLo = machine.memoryHashLo;
    this.#memoryHi = machine.memoryHashHi;
    let ghostsLo = ghosts.hashLo;
    let ghostsHi = ghosts.hashHi;
    let headKept = (memory[(m + M_WORD) >> 2] & M_SLEEPING) !== 0;
    let visited = 0;
    let lo = 0;
    let hi = 0;
    for (let t = 0; t < threads; t++) {
      const note = ghosts.note(t);
      visited |= note;
      if ((note & KEEPS_WAKE) === 0) this.#replace(recordOf(scene, t) + T_WAKE, 0);
      if ((note & KEEPS_HEAD) !== 0) headKept = true;
      lo = nextLo(lo, ghosts.threadHashLo(t));
      hi = nextHi(hi, ghosts.threadHashHi(t));
      const index = t * WORDS + TAKEN;
      const taken = ghosts.get(index);
      const relative = this.#relative(taken);
      if (taken === relative) continue;
      ghostsLo ^= mixLo(index, taken) ^ mixLo(index, relative);
      ghostsHi ^= mixHi(index, taken) ^ mixHi(index, relative);
    }
    for (const at of ROWS) this.#replace(m + at, this.#relative(memory[(m + at) >> 2]));
    if (!headKept) this.#replace(m + M_HEAD, 0);
    for (let e = 0; e < this.#count; e++) {
      const at = this.#elements + e * ELEMENT_SIZE;
      const value = memory[(at + E_STATE) >> 2];
      const state = value & STATE_MASK;
      this.#replace(at + E_STATE, value - this.#epochs[e]);
      if ((visited & (1 << e)) === 0 && (state === RESERVED || state === IDLE)) {
        this.#replace(at + E_START, 0);
        this.#replace(at + E_REQUEST, 0);
        this.#replace(at + E_REQUEST + 4, 0);
      } else this.#replace(at + E_START, this.#relative(memory[(at + E_START) >> 2]));
    }
    this.lo = hash.finishLo(nextLo(nextLo(lo, this.#memoryLo), ghostsLo));
    this.hi = hash.finishHi(nextHi(nextHi(hi, this.#memoryHi), ghostsHi));
  }

  /** Hashes a thread, and notes at which elements it is, and which of the words that are left out it may read. */
  #thread(t: number): void {
    const { machine, ghosts } = this.#scene;
    const list = this.#list;
    const end = machine.listThread(t, list, this.#wakeNext, this.#compete);
    const from = this.#elements;
    const to = from + this.#count * ELEMENT_SIZE;
    const spare = this.#scene.spare(t);
    const wake = recordOf(this.#scene, t) + T_WAKE;
    let lo = machine.globalsHashLo(t);
    let hi = machine.globalsHashHi(t);
    for (const global of this.#globals) {
      const written = global === this.#turnOf || global === this.#turnFrom;
      for (let half = 0; half < 2; half++) {
        const value = half === 0 ? machine.get(t, global) : machine.getHi(t, global);
        const relative = written ? 0 : this.#relative(value);
        if (relative === value) continue;
        lo ^= mixLo(2 * global + half, value) ^ mixLo(2 * global + half, relative);
        hi ^= mixHi(2 * global + half, value) ^ mixHi(2 * global + half, relative);
      }
    }
    let note = 0;
    let knows = false;
    for (let i = 0; i < end; i++) {
      const value = list[i];
      const relative = this.#relative(value);
      lo = nextLo(lo, relative);
      hi = nextHi(hi, relative);
      if (value === wake) knows = true;
      if (value >= from && value < to && value !== spare) note |= 1 << ((value - from) / ELEMENT_SIZE);
    }
    const at = machine.instruction(t);
    const address = machine.accesses(t);
    if (address >= from && address < to) note |= 1 << ((address - from) / ELEMENT_SIZE);
    if (at === this.#sleeps || this.#wakes(t)) note |= KEEPS_HEAD;
    if (at === this.#names || at === this.#sleeps || (knows && this.#isAsleep(at))) note |= KEEPS_WAKE;
    ghosts.setThreadHash(t, lo, hi);
    ghosts.setNote(t, note);
  }

  /** Returns a value of a row as it would be if the row were at its first value. Returns any other value as it is. */
  #relative(value: number): number {
    if (value < OVERTAKINGS - FAR) return value;
    if (value < OVERTAKINGS + FAR) return value - this.#overtakings;
    if (value < IN_WORD - FAR) return value;
    if (value < IN_WORD + FAR) return value - (this.#overtakings << COUNT_BIT);
    if (value < TICKETS - FAR) return value;
    if (value < TICKETS + FAR) return value - this.#tickets;
    if (value < EPOCHS) return value;
    const e = (value - EPOCHS) >> EPOCHS_SHIFT;
    return e < this.#count ? value - this.#epochs[e] : value;
  }

  /** Hashes another value in place of a word of memory. */
  #replace(address: number, value: number): void {
    const index = address >> 2;
    const old = this.#scene.machine.words[index];
    if (old === value) return;
    this.#memoryLo ^= mixLo(index, old) ^ mixLo(index, value);
    this.#memoryHi ^= mixHi(index, old) ^ mixHi(index, value);
  }
}
