/**
 * A scene: threads that run programs over one arena, at the granularity of single accesses to shared memory.
 *
 *     program   acquire, release, ...     what the library's TypeScript does around the core, as small state machines
 *     machine   core.wasm or another      one interpreter a thread, over one memory
 *     ghosts    who holds what            bookkeeping of the checks; the code under test cannot see it
 *
 * In each state some choices are open: let a thread perform its next access, let a parked thread's wait run
 * out, kill a thread. A choice is thread * CHOICES + kind. Everything a choice changes can be undone, and
 * everything that decides the future goes into the hash.
 *
 * What is checked at every step: permits out never exceed permits made; whoever is admitted is due, so no
 * lower ticket is still undue; an element is stored to only by the thread that owns it, and a cell cleared
 * only by the owner of the element in it; a count of what was ever in use never falls. At the end:
 * conservation, nobody waits who is due, no element or cell is left behind.
 */

import { Ledger } from '../engine/machine/ledger.js';
import * as engine from '../engine/machine/machine.js';
import * as kinds from '../engine/search/choice.js';
import type { StateSpace } from '../engine/search/state-space.js';
import { Violation } from '../engine/search/violation.js';
import type { Program } from '../engine/wasm/code.js';
import type { ProgramName } from '../programs.js';
import {
  ABANDONED,
  ADMITTED,
  ALIVE,
  ATTACHED,
  B_CELLS,
  B_PARKED,
  C_CHANNEL_HEAD,
  C_DUE_HEAD,
  C_HEAD,
  CLAIMED,
  COLLISIONS,
  constant,
  DEAD_LIFE,
  E_CELLS,
  E_END,
  E_HELD,
  E_REQUEST,
  E_START,
  ELEMENT_SIZE,
  FREE,
  FUTILE_WAKES,
  GRANT,
  IDLE,
  LENT,
  LIFE_STATE,
  LINE,
  MERGING,
  meaningOf,
  nameOf,
  O_DEATHS,
  O_LIFE,
  O_TIMEOUTS,
  OBJECT_SIZE,
  PUBLISHED_NAMES,
  REAPER,
  RESERVED,
  type Regions,
  STATE_MASK,
  T_DOORBELL,
  T_DUE,
  THREAD_SIZE,
  TICKET,
} from './layout.js';
import { finish, globalIndex, newMachine } from './set-up.js';
import * as words from './words.js';

/** One step of a program: called whenever its thread has nothing under way. */
export interface Op {
  readonly text: string;
  /** True: done. False: it has begun a call or an access. Undefined: it waits for a death, and is asked again then. */
  next(scene: Scene, t: number): boolean | undefined;
  /** Whether it may wait for a death that does not come. */
  readonly supervises?: boolean;
  /** How many permits of the first semaphore the core has said are the thread's, and the scene has not been told of yet. */
  granted?(scene: Scene, t: number): number;
}

export interface ArenaSizes {
  readonly objects?: number;
  readonly names?: number;
  readonly buckets?: number;
  /** Besides those of attachments. */
  readonly elements?: number;
  /** Threads that are attached to each object: the first alone by default. */
  readonly attached?: number;
}

export interface Model {
  readonly name: string;
  /** The module that it runs on: core by default. */
  readonly program?: ProgramName;
  readonly programs: readonly (readonly Op[])[];
  readonly arena?: ArenaSizes;
  /**
   * What each thread does, in words: those of the same words differ in nothing else, so in which order they begin is
   * all one, and they begin in the order of their numbers (see `symmetry`). Not where threads die: who reaps looks at
   * records and elements in the order of their numbers, and so does who disposes. Default: each differs.
   */
  readonly alike?: readonly string[];
  /** Makes the objects, before the threads start. */
  readonly objects?: (scene: Scene) => void;
  /** Whether some may rightly be left waiting at the end. */
  readonly mayWait?: boolean;
  /** Deaths at most, and of which threads (default: of all). */
  readonly deaths?: number;
  readonly mortal?: readonly number[];
  /** Whether every element of the arena has been used a few times before, as after some time. */
  readonly aged?: boolean;
  /** Those of them that die only in their sleep, so that where they die is given. */
  readonly asleep?: readonly number[];
  /** Whether threads die only in their sleep, stay there, and may still be woken: and run on, if before they are reaped. */
  readonly undead?: boolean;
  /** Whether permits or elements are left behind on purpose, so that the end says nothing about them. */
  readonly leaves?: boolean;
  /** Whether the counts that only diagnostics read are kept, and belong to the states. */
  readonly counts?: boolean;
  /** For the ops of a mutex: each unlock makes its thread forget what it has guessed. */
  readonly forgets?: boolean;
  /** Also: whoever locks learns of deaths, so that these are not all left to be learnt of. */
  readonly learns?: boolean;
  /** Too large to be searched to its end: only with so many switches away from a thread that could go on. */
  readonly preemptions?: number;
  /** Whether it takes more than a few seconds. */
  readonly long?: boolean;
  /** A check of the model's own after a write to an object; what its low word was before. */
  readonly wrote?: (scene: Scene, t: number, address: number, before: number) => void;
  /** A check of the model's own in every end state. */
  readonly end?: (scene: Scene) => void;
  /** Told of each write to a word of `watched`: what stood in its low half before. */
  readonly written?: (scene: Scene, t: number, address: number, before: number) => void;
}

// Names of this module's own: the engine folds the values of such into the code, but looks up what is imported
// at each use (machine.ts does the same).
const { BEGUN, GIVING, GOT, HOST, HOST_ADDRESS, HOST_VALUE, MARKED, OP, PHASE, PROMISES } = words;
const { QUEUE, READY, RESULT, TAKEN, WORDS } = words;
const { CHOICES, KILL, STEP, TIME_OUT } = kinds;
/** Above the phases of any operation; phases taken for one would only say that more may be done. */
const PHASES = 64;
const { CMPXCHG, DEAD, NOTIFY, PARKED, PENDING, RMW, STORE, WAIT } = engine;
const NO_CALL = engine.IDLE;
const COUNTS_END = PUBLISHED_NAMES;

/** A grant this far behind has been closed. */
const CLOSED = 2 ** 60;

/** Of an object's life (core/objects.ts). */
const BUILDING = 1;
const REFERENCES = 0xffffff;
const AWAKE = constant('AWAKE');
const EPOCH = constant('EPOCH');
const USED_ELEMENTS = constant('USED_ELEMENTS');
/** An epoch that no value which is always the same would give. */
const AGE = 3;
/** What of an element is as it was when it is nobody's, or a spare; all else is whatever it has been last. */
const KEPT = new Set([constant('E_STATE'), E_REQUEST, E_CELLS]);
const T_HOST = constant('T_HOST');
const O_DIED = constant('O_DIED');
const O_KIND = constant('O_KIND');
const MUTEX = constant('KIND_MUTEX');
const M_WORD = constant('M_WORD');
const M_OWNER = constant('M_OWNER');

// Of a thread that was terminated in its sleep.
const TERMINATED = 1;
const REAPED_ASLEEP = 2;

const HOST_LOAD = 1;
const HOST_WAIT = 2;
const HOST_STORE = 3;
const HOST_CMPXCHG = 4;
const HOST_EXCHANGE = 5;

const MOST_SEMAPHORES = 2;
const MOST_ELEMENTS = 24;

interface Globals {
  readonly ticketTaken: string;
  /** The elements that a thread owns between its calls. */
  readonly spares: readonly string[];
  /** Where a thread looks first for what is free. */
  readonly looks: readonly string[];
  /** Besides ticketTaken: read only by what a call leaves to the call after it, and so dead between two operations. */
  readonly dead: readonly string[];
  /** Nobody reads them when the thread has come to the end of its program. */
  readonly last: readonly string[];
  /** Unless this says that the call before was cut short. */
  readonly amidst?: string;
  /** Says by which way a waiter got off a chain that it need not have pushed itself on: 1 to 4, else 0. */
  readonly recovery?: string;
}

/** What the scene must know of a program's globals. */
const GLOBALS: Readonly<Record<ProgramName, Globals>> = {
  core: {
    ticketTaken: 'semaphore/ticketTaken',
    spares: ['arena/spare', 'arena/second'],
    looks: ['elements/hint', 'objects/hint', 'names/hint'],
    dead: [
      'semaphore/released',
      'semaphore/grantBefore',
      'semaphore/grantLate',
      'semaphore/mutex',
      'semaphore/attached',
      'mutex/base',
      'mutex/first',
    ],
    last: ['mutex/guess'],
    amidst: 'semaphore/amidst',
  },
  algorithms: {
    ticketTaken: 'core/ticketTaken',
    spares: [],
    looks: ['elements/hint'],
    dead: [
      'algorithms/chains/recovery',
      'algorithms/twa-semaphore/given',
      'algorithms/twa-semaphore/grantBefore',
      'algorithms/twa-semaphore/waiters',
    ],
    last: [],
    recovery: 'algorithms/chains/recovery',
  },
};

export interface SemaphoreOptions {
  readonly permits: number;
  readonly spin?: number;
  readonly threshold?: number;
  readonly max?: number;
  readonly kind?: number;
  readonly first?: bigint;
  readonly robust?: boolean;
  /** One of HASH_*: of the algorithms' semaphores, in place of robust. */
  readonly hash?: number;
}

export class Scene implements StateSpace {
  readonly machine: engine.Machine;
  readonly model: Model;
  readonly program: Program;
  readonly threads: number;
  readonly regions: Regions;
  /** What stands in cells that a model has taken for good. */
  filler = 0;
  /** Addresses of the model's semaphores. */
  readonly semaphores: number[] = [];
  /** Words whose writes the model is told of. */
  readonly watched = new Set<number>();
  /** Of each semaphore: the attachments of the threads. */
  readonly #attachments: number[][] = [];
  readonly #robust: boolean[] = [];
  readonly #programs: readonly (readonly Op[])[];
  readonly #functions = new Map<string, number>();
  readonly #ticketGlobal: number;
  readonly #spareGlobals: readonly number[];
  readonly #dead: readonly number[];
  readonly #last: readonly number[];
  readonly #amidst: number;
  readonly #recovery: number;
  /** The thread that must have begun before t may, or -1. */
  readonly #before: number[] = [];
  /** Where threads look for a free element, object and name, and looked in the first state. */
  readonly #looks: readonly number[];
  readonly #hints: number[] = [];
  /** How often the search has seen a waiter take each way off a chain: 1 to 4 by index. */
  readonly tallies = [0, 0, 0, 0, 0];

  /** What the driver keeps of each thread, ghosts, and hashes of the threads, which the ledger does not hash. */
  readonly #ledger: Ledger;
  readonly #ghosts: number;
  /** Where in the ledger the hashes of the threads are, two words each. A step computes only what it changes. */
  readonly #hashes: number;
  readonly #kills: boolean;
  /** Above the operations of any thread, as far as its program goes. */
  readonly #operations: number;
  /** Whether any of the threads are alike. */
  readonly #someAlike: boolean;
  /** Whether they begin in order. */
  #alike = false;

  hashLo = 0;
  hashHi = 0;
  /** Whether the last choice set anything of the driver or the ghosts, or may have moved other threads. */
  touched = false;
  /** Whether the last choice may have moved other threads than its own. */
  others = false;

  constructor(program: Program, model: Model) {
    this.model = model;
    this.program = program;
    this.threads = model.programs.length;
    this.#programs = model.programs;
    this.#operations = 1 + Math.max(...model.programs.map(({ length }) => length));
    this.#kills = (model.deaths ?? 0) > 0;
    const { alike } = model;
    this.#someAlike = !this.#kills && alike !== undefined && new Set(alike).size < alike.length;
    for (const [name, index] of program.exports) this.#functions.set(name, index);
    const global = (name: string): number => {
      const index = globalIndex(program, name);
      if (index < 0) throw new Error(`${model.program ?? 'core'}.wasm has no global ${name}`);
      return index;
    };
    const { ticketTaken, spares, looks, dead, last, amidst, recovery } = GLOBALS[model.program ?? 'core'];
    this.#ticketGlobal = global(ticketTaken);
    this.#looks = looks.map(global);
    this.#spareGlobals = spares.map(global);
    this.#dead = [...dead, ticketTaken, 'pause/pauseSink'].map(global);
    this.#last = last.map(global);
    this.#amidst = amidst === undefined ? -1 : global(amidst);
    this.#recovery = recovery === undefined ? -1 : global(recovery);
    const made = newMachine(program, this.threads, model.arena ?? {}, this.#kills);
    this.machine = made.machine;
    this.regions = made.regions;
    this.#ghosts = this.threads * WORDS;
    this.#hashes = this.#ghosts + 4 * MOST_SEMAPHORES + MOST_ELEMENTS + 1;
    this.#ledger = new Ledger(this.#hashes + 2 * this.threads, this.#hashes);
    const used = (this.regions.end - this.regions.elements) / ELEMENT_SIZE;
    if (used > MOST_ELEMENTS) throw new Error(`at most ${MOST_ELEMENTS} elements in a model, got ${used}`);
    for (let t = 0; t < this.threads && this.#spareGlobals.length > 0; t++) {
      this.#setElementOwner((this.spare(t) - this.regions.elements) / ELEMENT_SIZE, t + 1);
    }
    model.objects?.(this);
    if (model.aged) this.#age();
    for (let t = 0; t < this.threads; t++) {
      this.#forget(t);
      this.#advance(t);
    }
    this.symmetry(1);
    this.rehash();
  }

  #age(): void {
    const { elements, end } = this.regions;
    for (let e = elements; e < end; e += ELEMENT_SIZE) {
      const state = this.machine.hostLoad32(e);
      this.machine.hostStore32(e, state + AGE * EPOCH);
      if (state !== IDLE && state !== RESERVED) continue;
      for (let at = e; at < e + ELEMENT_SIZE; at += 4)
        if (!KEPT.has((at - e) & ~7)) this.machine.hostStore32(at, AGE);
    }
    this.machine.hostStore32(USED_ELEMENTS, (end - elements) / ELEMENT_SIZE);
  }

  // --- For models and ops --------------------------------------------------------------------------------

  /** Makes a semaphore before the threads start. */
  semaphore(o: SemaphoreOptions): number {
    const first = BigInt.asIntN(64, o.first ?? 0n);
    const attachment = this.callNow(
      0,
      'createObject',
      o.kind ?? 1,
      o.permits,
      o.max ?? 0x7fffffff,
      o.spin ?? 0,
      o.threshold ?? 0,
      o.hash ?? Number(o.robust ?? false),
      Number(BigInt.asIntN(32, first)),
      Number(BigInt.asIntN(32, first >> 32n)),
    );
    if (attachment < 0) throw new Error(`${this.model.name}: no room for a semaphore`);
    const address = this.callNow(0, 'attachedTo', attachment);
    const attached = this.model.arena?.attached ?? 1;
    this.semaphores.push(address);
    this.#robust.push(o.robust ?? false);
    this.#attachments.push([
      attachment,
      ...Array.from({ length: attached - 1 }, (_, t) =>
        this.callNow(t + 1, 'attach', address, 0, o.kind ?? 1),
      ),
    ]);
    this.#setMade(this.semaphores.length - 1, o.permits);
    return address;
  }

  /** Makes an object of another kind, of which the model keeps its own ghosts. */
  object(kind: number, spin: number, threshold: number, permits = 1, first = 0n): number {
    const lo = Number(BigInt.asIntN(32, first));
    const hi = Number(BigInt.asIntN(32, first >> 32n));
    const attachment = this.callNow(0, 'createObject', kind, permits, permits, spin, threshold, 0, lo, hi);
    if (attachment < 0) throw new Error(`${this.model.name}: no room for an object`);
    return this.callNow(0, 'attachedTo', attachment);
  }

  /** Where permits of a robust semaphore are counted that the thread holds; 0 for another. */
  robust(t: number, semaphore: number): number {
    return this.#robust[semaphore] ? this.attachment(t, semaphore) : 0;
  }

  /** The thread's attachment to a semaphore. */
  attachment(t: number, semaphore: number): number {
    return this.#attachments[semaphore]?.[t] ?? 0;
  }

  /** The object of an attachment, as its element says. */
  objectOf(attachment: number): number {
    return this.#objectIn(this.regions.elements + (attachment - 1) * ELEMENT_SIZE);
  }

  #objectIn(element: number): number {
    const request = (element + E_REQUEST) >> 2;
    const { words } = this.machine;
    return (
      this.regions.objects + ((words[request] >>> 31) | ((words[request + 1] & 0x7ffff) << 1)) * OBJECT_SIZE
    );
  }

  /** Runs a call of one thread to its end, alone: for setting up. */
  callNow(t: number, name: string, ...args: number[]): number {
    this.machine.call(t, this.#function(name), ...args);
    finish(this.machine, t, () => this.#watch(t, () => this.machine.step(t)));
    return this.machine.resultLo(t);
  }

  call(t: number, name: string, ...args: number[]): void {
    this.machine.call(t, this.#function(name), ...args);
  }

  /** Sets a global of one thread to 0. */
  clear(t: number, name: string): void {
    this.machine.set(t, globalIndex(this.program, name), 0, 0);
  }

  result(t: number): number {
    return this.machine.resultLo(t);
  }

  /** Kills a thread before the others start. */
  kill(t: number): void {
    this.#die(t);
  }

  get(t: number, word: number): number {
    return this.#ledger.get(t * WORDS + word);
  }

  set(t: number, word: number, value: number): void {
    this.touched = true;
    this.#ledger.set(t * WORDS + word, value);
  }

  hostLoad(t: number, address: number): void {
    this.set(t, HOST, HOST_LOAD);
    this.set(t, HOST_ADDRESS, address);
  }

  hostStore(t: number, address: number, value: number): void {
    this.set(t, HOST, HOST_STORE);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, value);
  }

  /** What was there is the result. */
  hostExchange(t: number, address: number, value: number): void {
    this.set(t, HOST, HOST_EXCHANGE);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, value);
  }

  /** The same. */
  hostCmpxchg(t: number, address: number, expected: number, value: number): void {
    this.set(t, HOST, HOST_CMPXCHG);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, expected);
    this.set(t, RESULT, value);
  }

  /** Which may run out, if `timed`. */
  hostWait(t: number, address: number, expected: number, timed = false): void {
    this.set(t, HOST, HOST_WAIT);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, expected);
    this.set(t, RESULT, Number(timed));
  }

  doorbell(t: number): number {
    return this.regions.threads + (t + 1) * THREAD_SIZE + T_DOORBELL;
  }

  /** What is noted as due, of the numbers below 32: a model has no more elements. */
  due(t: number): number {
    return this.regions.threads + (t + 1) * THREAD_SIZE + T_DUE;
  }

  /** The low and high word of the ticket that the thread took last, by what it did to the counter. */
  ticketLo(t: number): number {
    return this.get(t, TAKEN);
  }

  ticketHi(t: number): number {
    return this.get(t, TAKEN + 1);
  }

  /** The thread is admitted by the call that has returned, so the core must know its ticket. */
  admittedNow(t: number, semaphore: number, width: number): void {
    const [lo, hi] = [this.ticketLo(t), this.ticketHi(t)];
    if (this.machine.get(t, this.#ticketGlobal) !== lo || this.machine.getHi(t, this.#ticketGlobal) !== hi) {
      throw new Violation(`thread ${t} has taken another ticket than lastTicket says`);
    }
    this.admitted(t, semaphore, width, lo, hi);
  }

  /** Thread t has been admitted with `width` permits from this ticket on. */
  admitted(t: number, semaphore: number, width: number, ticketLo: number, ticketHi: number): void {
    let behind = this.grantMinus(semaphore, ticketLo, ticketHi) - width;
    // Whose turn came before a dispose may learn of it after.
    if (this.closed(semaphore)) behind = this.#grantAtClose(semaphore) - (ticketLo + width);
    if (behind < 0) {
      throw new Violation(
        `thread ${t} is admitted out of turn: ${-behind} more must be granted before its tickets are due`,
      );
    }
    const held = this.held(semaphore) + width;
    if (held > this.made(semaphore)) {
      throw new Violation(
        `thread ${t} is admitted with ${width}: ${held} permits out, ${this.made(semaphore)} made`,
      );
    }
    this.#setHeld(semaphore, held);
  }

  /** With its next access thread t gives back `width` permits, below 256; what nobody holds is made anew. */
  releasing(t: number, semaphore: number, width: number, own: boolean): void {
    if (width > 0xff) throw new Error(`a model releases at most 255 permits at once, got ${width}`);
    this.set(t, GIVING, width | (semaphore << 8) | (own ? 1 << 9 : 0));
  }

  #give(t: number): void {
    const giving = this.get(t, GIVING);
    if (giving === 0) return;
    this.set(t, GIVING, 0);
    const semaphore = (giving >> 8) & 1;
    const width = giving & 0xff;
    if (giving >> 9) this.#setHeld(semaphore, this.held(semaphore) - width);
    else this.#setMade(semaphore, this.made(semaphore) + width);
  }

  /** grant - ticket number, exact up to 2^52. */
  grantMinus(semaphore: number, lo: number, hi: number): number {
    return this.#difference(this.semaphores[semaphore] + GRANT, lo, hi);
  }

  /** Whether the semaphore has been disposed of. */
  closed(semaphore: number): boolean {
    const { words } = this.machine;
    const ticket = (this.semaphores[semaphore] + TICKET) >> 2;
    return this.grantMinus(semaphore, words[ticket], words[ticket + 1]) < -CLOSED;
  }

  /** The low word of grant when that was closed; what is disposed of in models does not wrap. */
  #grantAtClose(semaphore: number): number {
    return this.#ledger.get(this.#ghosts + 2 * MOST_SEMAPHORES + semaphore);
  }

  held(semaphore: number): number {
    return this.#ledger.get(this.#ghosts + semaphore);
  }

  made(semaphore: number): number {
    return this.#ledger.get(this.#ghosts + MOST_SEMAPHORES + semaphore);
  }

  /** Address of the thread's spare element. */
  spare(t: number): number {
    return this.machine.get(t, this.#spareGlobals[0]);
  }

  finished(t: number): boolean {
    return this.get(t, OP) >= (this.#programs[t] as readonly Op[]).length;
  }

  dead(t: number): boolean {
    return this.machine.status(t) === DEAD || this.get(t, MARKED) === REAPED_ASLEEP;
  }

  /** Whether as many have died as may. */
  get allDead(): boolean {
    return this.#ledger.get(this.#hashes - 1) >= (this.model.deaths ?? 0);
  }

  /** Whether somebody reaps the dead. */
  get #supervised(): boolean {
    return this.#programs.some((program) => program.some(({ supervises }) => supervises));
  }

  /** Whether t waits for a death, and nobody has died or can die any more. */
  waitsInVain(t: number): boolean {
    if (!this.#kills || !this.#programs[t]?.[this.get(t, OP)]?.supervises) return false;
    if (this.#ledger.get(this.#hashes - 1) > 0) return false;
    for (let u = 0; u < this.threads; u++) {
      if (u !== t && !this.finished(u) && (this.model.mortal?.includes(u) ?? true)) return false;
    }
    return this.model.mortal?.includes(t) === false;
  }

  /** The life of a thread's record. */
  #lifeOf(t: number): number {
    return this.machine.words[this.#recordOf(t) >> 2];
  }

  #wordOf(address: number): number {
    return this.machine.words[address >> 2];
  }

  /** Whether the thread was terminated in its sleep, and nobody has learnt what has become of it. */
  terminated(t: number): boolean {
    return this.get(t, MARKED) === TERMINATED;
  }

  /** The thread was terminated in its sleep, and then reaped; or it was awake by then, and goes on. */
  setReaped(t: number, reaped: boolean): void {
    this.set(t, MARKED, reaped ? REAPED_ASLEEP : 0);
  }

  /** A thread dies: what it holds of robust semaphores is nobody's from now on, and will go back. */
  #die(t: number): void {
    this.#ledger.set(this.#hashes - 1, this.#ledger.get(this.#hashes - 1) + 1);
    if (this.model.undead) {
      this.set(t, MARKED, TERMINATED);
      return;
    }
    const giving = this.get(t, GIVING);
    for (let s = 0; s < this.semaphores.length; s++) {
      const attachment = this.robust(t, s);
      if (attachment === 0) {
        // What the dead held is lost.
        const untold = s === 0 ? this.#programs[t]?.[this.get(t, OP)]?.granted?.(this, t) : 0;
        this.#setHeld(s, this.held(s) + (untold ?? 0));
        continue;
      }
      if (this.#wordOf(this.semaphores[s] + O_KIND) === MUTEX) {
        if ((this.#wordOf(this.semaphores[s] + M_WORD) & M_OWNER) !== t + 1) continue;
        this.#ledger.set(this.#ghosts + 3 * MOST_SEMAPHORES + s, this.#deaths(s) + 1);
        continue;
      }
      let holds = this.get(t, GOT + s);
      if (giving >> 9 && ((giving >> 8) & 1) === s) holds += giving & 0xff;
      if (s === 0) for (let list = this.get(t, READY); list !== 0; list >>>= 4) holds += list & 15;
      this.#setHeld(s, this.held(s) - holds);
      if (this.#wordOf(this.regions.elements + (attachment - 1) * ELEMENT_SIZE + E_HELD) !== 0)
        this.#ledger.set(this.#ghosts + 3 * MOST_SEMAPHORES + s, this.#deaths(s) + 1);
    }
    this.set(t, GIVING, 0);
    this.machine.kill(t);
  }

  /** Whether the thread is about to change anything but what tells it that it is alive. */
  #acts(t: number): boolean {
    const { machine } = this;
    return (
      machine.pendingIsWrite(t) &&
      machine.pendingKind(t) !== WAIT &&
      machine.pendingAddress(t) !== this.#recordOf(t)
    );
  }

  #recordOf(t: number): number {
    return this.regions.threads + (t + 1) * THREAD_SIZE;
  }

  /** How many have died with permits of a robust semaphore. */
  #deaths(semaphore: number): number {
    return this.#ledger.get(this.#ghosts + 3 * MOST_SEMAPHORES + semaphore);
  }

  /** Whether thread t may change what is another's: of a thread that has been declared dead. */
  #inherits(owner: number, t: number): boolean {
    return owner === t + 1 || (owner > 0 && (this.#lifeOf(owner - 1) & LIFE_STATE) === DEAD_LIFE);
  }

  // --- For the search ------------------------------------------------------------------------------------

  /** Computes hashLo and hashHi anew. */
  rehash(): void {
    for (let t = 0; t < this.threads; t++) this.#hash(t);
    this.#combine();
  }

  /**
   * Whether threads that do the same begin in the order of their numbers: 1, 0 in any, -1 in the reverse order.
   *
   * A thread begins with its first write to a word that is nobody's own, neither in a thread's record nor in an
   * element. Threads of the same program are told apart by nothing but their records and elements, which the code
   * copies, compares for equality and follows, no more: but for the pool, in which it looks for a free element in the
   * order of their numbers (see `distinguishes`), and for dispose and reap, which look at elements in that order, so
   * that a model with one of these says nothing of who is alike. So renaming two of them, with all that is theirs, turns an
   * execution into another; and each execution can be renamed so that they begin in order, those last which never do.
   * So what is wrong in any state is found in one that is as good. The other way round, a state may be said to have no
   * way to its end only because the way needs somebody to begin out of order: that shows as a violation which
   * `--no-reduce` does not find, and the model is then to say nothing of who is alike.
   */
  symmetry(order: 1 | 0 | -1): void {
    const { alike = [] } = this.model;
    this.#alike = this.#someAlike && order !== 0;
    this.#before.length = 0;
    this.#hints.length = 0;
    for (let t = 0; t < this.threads; t++) {
      let u = this.#alike ? t - order : t;
      while (u !== t && u >= 0 && u < this.threads && alike[u] !== alike[t]) u -= order;
      this.#before.push(u === t || u >= this.threads ? -1 : u);
      for (const look of this.#looks) this.#hints.push(this.machine.get(t, look));
    }
  }

  /** Whether the order is kept, and a thread has given an element, object or name back or looked for one. */
  distinguishes(): boolean {
    if (!this.#alike) return false;
    let i = 0;
    for (let t = 0; t < this.threads; t++) {
      for (const look of this.#looks) if (this.machine.get(t, look) !== this.#hints[i++]) return true;
    }
    return false;
  }

  /** Whether t need not wait with its next access until another has begun. */
  mayMove(t: number): boolean {
    const u = this.#before[t];
    if (u < 0 || this.get(t, BEGUN) === 1 || this.get(u, BEGUN) === 1) return true;
    return this.finished(u) || !this.#begins(t);
  }

  /** Whether the next access of t is a write to a word that is nobody's own. */
  #begins(t: number): boolean {
    if (!this.pendingIsWrite(t)) return false;
    const address =
      this.machine.status(t) === PENDING ? this.machine.pendingAddress(t) : this.get(t, HOST_ADDRESS);
    const { threads, chains, elements } = this.regions;
    return address < threads || (address >= chains && address < elements);
  }

  /** Writes the open choices of thread t from `out[from]` on; returns the new end. */
  choicesOf(t: number, out: Int32Array, from: number): number {
    let n = from;
    if (!this.mayMove(t)) return n;
    const status = this.machine.status(t);
    if (status === PENDING || (status === NO_CALL && this.get(t, HOST) !== 0)) out[n++] = t * CHOICES + STEP;
    else if (status === PARKED && this.machine.canTimeOut(t)) out[n++] = t * CHOICES + TIME_OUT;
    if (this.#kills && this.#mayDie(t)) out[n++] = t * CHOICES + KILL;
    return n;
  }

  choices(out: Int32Array, from = 0): number {
    let n = from;
    for (let t = 0; t < this.threads; t++) n = this.choicesOf(t, out, n);
    return n;
  }

  /**
   * Which word of 8 bytes the pending access of t goes to, if it is a plain load, store or exchange of one word,
   * else -1: waiting and notifying concern other threads too.
   */
  pendingWord(t: number): number {
    if (this.machine.status(t) !== PENDING) {
      const host = this.get(t, HOST);
      return host !== 0 && host !== HOST_WAIT ? this.get(t, HOST_ADDRESS) >>> 3 : -1;
    }
    return this.machine.pendingKind(t) < WAIT ? this.machine.pendingAddress(t) >>> 3 : -1;
  }

  accessedWord(t: number): number {
    return (
      (this.machine.status(t) === PENDING ? this.machine.pendingAddress(t) : this.get(t, HOST_ADDRESS)) >>> 3
    );
  }

  isOver(t: number): boolean {
    return this.machine.status(t) === DEAD || this.waitsInVain(t);
  }

  /** By operation, phase and instruction of the pending access. */
  placeOf(t: number): number {
    const at = this.machine.instruction(t) * this.#operations + this.get(t, OP);
    return at * PHASES + this.get(t, PHASE);
  }

  get sharedWords(): number {
    return this.machine.words.length >> 1;
  }

  visibleWords(): number[] {
    return [...this.semaphores.flatMap((address) => [address + TICKET, address + GRANT]), ...this.watched];
  }

  /** Whether the next access of t counts something that only diagnostics read: nobody else can tell when. */
  silent(t: number): boolean {
    const { machine } = this;
    return (
      this.model.counts !== true &&
      machine.status(t) === PENDING &&
      machine.pendingKind(t) === RMW &&
      this.#counts(machine.pendingAddress(t))
    );
  }

  #counts(address: number): boolean {
    return (
      address === COLLISIONS ||
      address === FUTILE_WAKES ||
      (address >= this.regions.objects &&
        address < this.regions.names &&
        (address - this.regions.objects) % OBJECT_SIZE === O_TIMEOUTS)
    );
  }

  pendingIsWrite(t: number): boolean {
    return this.machine.status(t) === PENDING
      ? this.machine.pendingIsWrite(t)
      : this.get(t, HOST) >= HOST_STORE;
  }

  /** Performs a choice. Throws a Violation if it breaks what is promised. */
  apply(choice: number): void {
    const t = Math.floor(choice / CHOICES);
    const kind = choice - t * CHOICES;
    const m = this.machine;
    this.others = false;
    this.touched = false;
    if (kind === STEP) {
      if (this.#alike && this.get(t, BEGUN) === 0 && this.#begins(t)) this.set(t, BEGUN, 1);
      if (m.status(t) === PENDING) {
        if (this.#lifeOf(t) !== ALIVE && this.get(t, MARKED) !== 0 && this.#acts(t))
          throw new Violation(`thread ${t} acts after it was declared dead`);
        if (m.pendingIsPlain(t)) this.#plain(t);
        this.#give(t);
        this.others = m.pendingKind(t) === NOTIFY;
        const address = m.pendingAddress(t);
        const told = m.pendingIsWrite(t) && this.watched.has(address);
        const before = m.words[address >> 2];
        this.#step(t);
        if (told) this.model.written?.(this, t, address, before);
      } else this.#host(t);
    } else if (kind === TIME_OUT) {
      m.timeOut(t);
      this.others = true;
    } else {
      this.#die(t);
      this.others = true;
    }
    if (this.others) {
      this.touched = true;
      for (let u = 0; u < this.threads; u++) this.#advance(u);
      this.rehash();
    } else {
      this.#advance(t);
      this.#hash(t);
      this.#combine();
    }
  }

  /** A moment to come back to: two numbers, into `out` from `at` on. */
  mark(out: number[], at: number): void {
    out[at] = this.machine.mark();
    out[at + 1] = this.#ledger.mark();
  }

  /** Back to a moment, which stays good. The hash is that of the last choice until `apply` or `rehash`. */
  undo(marks: readonly number[], at: number): void {
    this.machine.undo(marks[at]);
    this.#ledger.undo(marks[at + 1]);
  }

  /** Throws a Violation unless this state, in which no choice is open, is a proper end. */
  checkEnd(): void {
    const waiting = [0, 0];
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t) || this.finished(t)) continue;
      if (this.#programs[t]?.[this.get(t, OP)]?.supervises) continue;
      if (this.model.mayWait !== true)
        throw new Violation(`deadlock: thread ${t} sleeps for ever in ${this.#where(t)}`);
    }
    this.waiters((t, semaphore, width, lo, hi) => {
      if (this.grantMinus(semaphore, lo, hi) >= width) {
        throw new Violation(`thread ${t} sleeps for ever though its turn has come`);
      }
      waiting[semaphore] = waiting[semaphore] + width;
    });
    this.model.end?.(this);
    if (this.model.leaves || (this.#ledger.get(this.#hashes - 1) > 0 && !this.#supervised)) return;
    this.#checkReaped();
    this.#checkAttachments();
    for (let s = 0; s < this.semaphores.length; s++) {
      const address = this.semaphores[s];
      const free = this.#difference(
        address + GRANT,
        this.machine.words[(address + TICKET) >> 2],
        this.machine.words[(address + TICKET + 4) >> 2],
      );
      const tombstones = this.#tombstones(s);
      if (this.closed(s)) {
        if (tombstones > 0) throw new Violation('a closed semaphore has a tombstone, which nobody can pass');
        continue;
      }
      const expected = this.made(s) - this.held(s) - waiting[s] - tombstones;
      if (free !== expected) {
        throw new Violation(
          `permits are not conserved: grant - ticket is ${free}, and should be ${expected}`,
        );
      }
    }
    this.#checkElements();
  }

  /** Every dead thread's record is free again, and who died with permits has been counted. */
  #checkReaped(): void {
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t) && (this.#lifeOf(t) & LIFE_STATE) !== FREE)
        throw new Violation(`thread ${t} is dead, and its record is not free`);
    }
    for (const [s, address] of this.semaphores.entries()) {
      const deaths = this.#wordOf(address + O_DEATHS);
      if (!this.#robust[s]) continue;
      if (deaths !== this.#deaths(s))
        throw new Violation(`${this.#deaths(s)} owners have died, and ${deaths} are counted`);
      const untold = this.#wordOf(address + O_DIED);
      if (deaths !== untold && !this.model.learns)
        throw new Violation(`${deaths} owners have died, and whoever acquires would learn of ${untold}`);
    }
    for (let record = this.regions.threads; record < this.regions.chains; record += THREAD_SIZE) {
      if ((this.#wordOf(record) & LIFE_STATE) === FREE && this.#wordOf(record + T_HOST) !== 0)
        throw new Violation(`${nameOf(record, this.regions)} is free, and has a host`);
    }
    if (this.#wordOf(REAPER) !== 0 && this.#supervised)
      throw new Violation('somebody is still said to reap at the end');
  }

  /**
   * Every reference to an object has its record, and no object is half made; what is held of robust semaphores is
   * what the records say.
   */
  #checkAttachments(): void {
    const { objects, names, elements, end } = this.regions;
    const found = new Map<number, { records: number; held: number }>();
    for (let e = elements; e < end; e += ELEMENT_SIZE) {
      if ((this.#wordOf(e) & STATE_MASK) !== ATTACHED) continue;
      const { records, held } = found.get(this.#objectIn(e)) ?? { records: 0, held: 0 };
      found.set(this.#objectIn(e), { records: records + 1, held: held + this.#wordOf(e + E_HELD) });
    }
    for (let o = objects; o < names; o += OBJECT_SIZE) {
      const life = this.#wordOf(o + O_LIFE);
      const { records, held } = found.get(o) ?? { records: 0, held: 0 };
      if (life >>> 24 === BUILDING) throw new Violation(`${nameOf(o, this.regions)} is still being made`);
      if ((life & REFERENCES) !== records)
        throw new Violation(
          `${nameOf(o, this.regions)} has ${life & REFERENCES} references, and ${records} records of them`,
        );
      const s = this.semaphores.indexOf(o);
      if (this.#wordOf(o + O_KIND) === MUTEX && held !== 0)
        throw new Violation(`${held} are said to be the eldest at the end`);
      if (s < 0 || !this.#robust[s] || this.#wordOf(o + O_KIND) === MUTEX) continue;
      if (held !== this.held(s))
        throw new Violation(`${this.held(s)} permits are held, and ${held} recorded`);
    }
  }

  /** Calls back for each request that still waits: of threads in acquire, and of promises. */
  waiters(found: (t: number, semaphore: number, width: number, lo: number, hi: number) => void): void {
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t)) continue;
      for (let p = 0; p < this.get(t, QUEUE); p++) {
        const at = PROMISES + 4 * p;
        found(t, 0, this.get(t, at + 1) & 0xff, this.get(t, at + 2), this.get(t, at + 3));
      }
      const op = this.#programs[t]?.[this.get(t, OP)] as
        | (Op & { semaphore?: number; width?: number })
        | undefined;
      if (op?.semaphore !== undefined && op.width !== undefined && this.machine.status(t) === PARKED) {
        found(t, op.semaphore, op.width, this.ticketLo(t), this.ticketHi(t));
      }
    }
  }

  // --- For traces ----------------------------------------------------------------------------------------

  /** A global of a thread's instance. */
  global(t: number, name: string): number {
    return this.machine.get(t, globalIndex(this.program, name));
  }

  /** What a choice would do now. */
  describe(choice: number): { thread: number; where: string; what: string } {
    const t = Math.floor(choice / CHOICES);
    const kind = choice - t * CHOICES;
    const where = this.#where(t);
    if (kind === KILL) return { thread: t, where, what: 'is killed' };
    if (kind === TIME_OUT) return { thread: t, where, what: 'times out' };
    if (this.machine.status(t) !== PENDING) {
      const address = this.get(t, HOST_ADDRESS);
      const name = nameOf(address, this.regions);
      const now = this.machine.words[address >> 2];
      const value = this.get(t, HOST_VALUE);
      const what = [
        `load ${name} = ${now}`,
        `wait ${name} == ${value}`,
        `store ${name}: ${value}`,
        `cmpxchg ${name}: ${now}`,
        `exchange ${name}: ${now}`,
      ][this.get(t, HOST) - 1] as string;
      return { thread: t, where, what };
    }
    const { kind: access, op, address, bytes, plain } = this.machine.describe(t);
    return {
      thread: t,
      where,
      what: `${plain ? 'plain ' : ''}${access === 'rmw' ? op : access} ${nameOf(address, this.regions)}: ${this.value(address, bytes)}`,
    };
  }

  /** The value of a word, as its meaning. */
  value(address: number, bytes: number): string {
    const words = this.machine.words;
    const lo = BigInt(words[address >> 2]);
    const hi = BigInt(words[(address >> 2) + 1]);
    const value = bytes === 8 ? (hi << 32n) | BigInt.asUintN(32, lo) : lo;
    return meaningOf(value, address, this.regions);
  }

  #where(t: number): string {
    const op = this.#programs[t]?.[this.get(t, OP)];
    const frames = this.machine.frames(t);
    return [op?.text ?? 'end', ...frames].join(' > ');
  }

  // --- Inside --------------------------------------------------------------------------------------------

  #function(name: string): number {
    const index = this.#functions.get(name);
    if (index === undefined) throw new Error(`${this.model.program ?? 'core'}.wasm exports no ${name}`);
    return index;
  }

  #mayDie(t: number): boolean {
    if (this.#ledger.get(this.#hashes - 1) >= (this.model.deaths ?? 0)) return false;
    if (this.finished(t) || this.dead(t) || this.terminated(t)) return false;
    const inSleep = this.model.undead || this.model.asleep?.includes(t);
    if (inSleep && this.machine.status(t) !== PARKED) return false;
    if (this.model.mortal !== undefined && !this.model.mortal.includes(t)) return false;
    return this.machine.killable(t);
  }

  #plain(t: number): void {
    const { address, fn } = this.machine.describe(t);
    // Names are written before a compare-and-swap publishes them, and read by whoever saw that.
    if (address >= this.regions.names && address < this.regions.threads) return;
    throw new Violation(
      `thread ${t} accesses ${nameOf(address, this.regions)} with no atomic instruction, in ${fn}`,
    );
  }

  #step(t: number): void {
    const m = this.machine;
    const address = m.pendingAddress(t);
    if (this.silent(t)) {
      // It stays 0, so that states which differ only there are one.
      m.step(t);
      m.hostStore32(address, 0);
    } else if (address >= this.regions.buckets && m.pendingIsWrite(t)) this.#watch(t, () => m.step(t));
    else if (address >= this.regions.objects && m.pendingIsWrite(t)) this.#count(t, address);
    else if (address >= COUNTS_END) {
      const record = address >= this.regions.threads && address < this.regions.chains && m.pendingIsWrite(t);
      const before = m.words[address >> 2];
      m.step(t);
      if (record && (address - this.regions.threads) % THREAD_SIZE === 0) {
        const after = m.words[address >> 2];
        if (after !== before) this.#checkLife(address, before, after);
      }
    } else {
      const before = m.words[address >> 2];
      m.step(t);
      if (m.words[address >> 2] < before) throw new Violation(`${nameOf(address, this.regions)} falls`);
    }
  }

  /** Performs a write to an object, and learns which ticket it takes, or what grant was when it is closed. */
  #count(t: number, address: number): void {
    const m = this.machine;
    const kind = m.pendingKind(t);
    const semaphore = this.semaphores.findIndex((s) => address === s + TICKET || address === s + GRANT);
    const lo = m.words[address >> 2];
    const hi = m.words[(address >> 2) + 1];
    m.step(t);
    if ((address - this.regions.objects) % OBJECT_SIZE === O_LIFE && address < this.regions.names) {
      const freed = m.words[address >> 2] >>> 24 === 0 && lo >>> 24 !== 0;
      if (((m.words[(address >> 2) + 1] - hi) | 0) !== Number(freed))
        throw new Violation(`the generation of ${nameOf(address, this.regions)} was ${hi}`);
    }
    if (semaphore < 0) {
      this.model.wrote?.(this, t, address, lo);
      return;
    }
    if (address === this.semaphores[semaphore] + GRANT) {
      if (kind !== STORE || this.#difference(address, lo, hi) > -CLOSED) return;
      this.touched = true;
      this.#ledger.set(this.#ghosts + 2 * MOST_SEMAPHORES + semaphore, lo);
    } else if ((kind === RMW || kind === CMPXCHG) && this.#difference(address, lo, hi) > 0) {
      this.set(t, TAKEN, lo);
      this.set(t, TAKEN + 1, hi);
      this.model.wrote?.(this, t, address, lo);
    }
  }

  /** Performs a write near the waiting array or the pool, and looks who may do that. */
  #watch(t: number, step: () => void): void {
    const m = this.machine;
    const { buckets, elements, end } = this.regions;
    const address = m.pendingAddress(t);
    const store = m.pendingKind(t) === STORE;
    if (address < buckets || address >= end || !m.pendingIsWrite(t)) {
      step();
      return;
    }
    const before = m.words[address >> 2];
    if (address < elements) {
      const cell = (address - buckets) % LINE >= B_CELLS;
      if (store && cell && before !== 0 && !this.#inherits(this.#elementOwner(before - 1), t)) {
        throw new Violation(
          `thread ${t} clears ${nameOf(address, this.regions)}, in which element ${before - 1} of another stands`,
        );
      }
      step();
      return;
    }
    const e = Math.floor((address - elements) / ELEMENT_SIZE);
    const isState = (address - elements) % ELEMENT_SIZE === 0;
    // A queue node goes from thread to thread, as its lock says.
    const lent = (m.words[(elements + e * ELEMENT_SIZE) >> 2] & STATE_MASK) === LENT;
    if (store && !lent && !this.#inherits(this.#elementOwner(e), t)) {
      throw new Violation(`thread ${t} stores to ${nameOf(address, this.regions)}, which is not its own`);
    }
    const word = address >> 2;
    step();
    if (!isState) return;
    const after = m.words[word];
    if (after === before) return;
    const is = after & STATE_MASK;
    this.#checkEpoch(elements + e * ELEMENT_SIZE, before, after, store);
    // A tombstone is nobody's, until somebody claims it or merges something into it.
    if (is === IDLE || is === ABANDONED) this.#setElementOwner(e, 0);
    else if (!store && (is === RESERVED || is === CLAIMED || is === MERGING)) this.#setElementOwner(e, t + 1);
  }

  /**
   * An element goes back to the pool, or to its owner, with the next epoch, as does a run that is taken out of the
   * array: who read the state before must not succeed in an exchange. All others leave it, or go to the next.
   */
  #checkEpoch(element: number, before: number, after: number, store: boolean): void {
    const [was, is] = [before & STATE_MASK, after & STATE_MASK];
    const moved = (after >>> 4) - (before >>> 4);
    const request = (element + E_REQUEST) >> 2;
    if (is === IDLE && (this.machine.words[request] | this.machine.words[request + 1]) !== 0)
      throw new Violation(`${nameOf(element, this.regions)} is given back, and says whose it is`);
    const ends = is === IDLE || (is === RESERVED && store) || (is === AWAKE && was !== RESERVED);
    if (moved !== 1 && (ends || moved !== 0))
      throw new Violation(
        `the epoch of ${nameOf(element, this.regions)} goes from ${before >>> 4} to ${after >>> 4}`,
      );
  }

  /** Of a thread's record likewise: its next owner has another life. */
  #checkLife(record: number, before: number, after: number): void {
    const moved = (after >>> 2) - (before >>> 2);
    if (moved !== Number((after & LIFE_STATE) === FREE))
      throw new Violation(
        `${nameOf(record, this.regions)} goes from 0x${before.toString(16)} to 0x${after.toString(16)}`,
      );
  }

  #host(t: number): void {
    const kind = this.get(t, HOST);
    const address = this.get(t, HOST_ADDRESS);
    const value = this.get(t, HOST_VALUE);
    this.set(t, HOST, 0);
    this.set(t, HOST_ADDRESS, 0);
    this.set(t, HOST_VALUE, 0);
    if (kind === HOST_WAIT) {
      this.machine.hostWait(t, address, value, this.get(t, RESULT));
      return;
    }
    const old = this.machine.hostLoad32(address);
    if (kind === HOST_STORE || kind === HOST_EXCHANGE) this.machine.hostStore32(address, value);
    else if (kind === HOST_CMPXCHG && old === value) this.machine.hostStore32(address, this.get(t, RESULT));
    this.set(t, RESULT, old);
  }

  /** Goes on with the program of a thread that has nothing under way. */
  #advance(t: number): void {
    const program = this.#programs[t] as readonly Op[];
    const m = this.machine;
    while (m.status(t) === NO_CALL && this.get(t, HOST) === 0) {
      const op = program[this.get(t, OP)];
      if (op === undefined) return;
      const done = op.next(this, t);
      if (done === undefined) return;
      if (!done) continue;
      if (this.#recovery >= 0) this.tallies[m.get(t, this.#recovery)]++;
      this.set(t, OP, this.get(t, OP) + 1);
      this.set(t, PHASE, 0);
      this.set(t, RESULT, 0);
      for (let i = TAKEN; i < MARKED; i++) this.set(t, i, 0);
      this.#forget(t);
    }
  }

  /** Clears what no later call reads, unless it comes after one that was cut short, so that states which differ only there are one. */
  #forget(t: number): void {
    if (this.#amidst >= 0 && this.machine.get(t, this.#amidst) !== 0) return;
    for (const global of this.#dead) this.#clear(t, global);
    if (this.finished(t)) for (const global of this.#last) this.#clear(t, global);
  }

  #clear(t: number, global: number): void {
    if (this.machine.get(t, global) !== 0 || this.machine.getHi(t, global) !== 0)
      this.machine.set(t, global, 0, 0);
  }

  #hash(t: number): void {
    this.machine.threadHash(t);
    this.#ledger.set(this.#hashes + 2 * t, this.machine.hashLo);
    this.#ledger.set(this.#hashes + 2 * t + 1, this.machine.hashHi);
  }

  #combine(): void {
    const ledger = this.#ledger;
    let lo = this.machine.memoryHashLo ^ Math.imul(ledger.hashLo, 0x85ebca6b);
    let hi = this.machine.memoryHashHi ^ Math.imul(ledger.hashHi, 0xc2b2ae35);
    lo ^= lo >>> 15;
    hi ^= hi >>> 13;
    const end = this.#hashes + 2 * this.threads;
    for (let i = this.#hashes; i < end; i += 2) {
      lo = Math.imul(lo ^ ledger.get(i), 0x85ebca6b);
      lo ^= lo >>> 15;
      hi = Math.imul(hi ^ ledger.get(i + 1), 0xc2b2ae35);
      hi ^= hi >>> 13;
    }
    this.hashLo = Math.imul(lo ^ (lo >>> 16), 0x7feb352d);
    this.hashHi = Math.imul(hi ^ (hi >>> 15), 0x846ca68b);
  }

  #difference(address: number, lo: number, hi: number): number {
    const aLo = this.machine.words[address >> 2];
    const aHi = this.machine.words[(address >> 2) + 1];
    const low = (aLo >>> 0) - (lo >>> 0);
    const high = (aHi - hi - (low < 0 ? 1 : 0)) | 0;
    return high * 4294967296 + (low < 0 ? low + 4294967296 : low);
  }

  #setHeld(semaphore: number, value: number): void {
    this.touched = true;
    this.#ledger.set(this.#ghosts + semaphore, value);
  }

  #setMade(semaphore: number, value: number): void {
    this.touched = true;
    this.#ledger.set(this.#ghosts + MOST_SEMAPHORES + semaphore, value);
  }

  #elementOwner(e: number): number {
    return this.#ledger.get(this.#ghosts + 4 * MOST_SEMAPHORES + e);
  }

  #setElementOwner(e: number, owner: number): void {
    this.touched = true;
    this.#ledger.set(this.#ghosts + 4 * MOST_SEMAPHORES + e, owner);
  }

  /** The widths of a semaphore's tombstones, none of which may be passed, half merged or next to another. */
  #tombstones(semaphore: number): number {
    const { elements, end } = this.regions;
    const words = this.machine.words;
    const starts = new Set<number>();
    const ends = new Set<number>();
    let width = 0;
    for (let e = elements; e < end; e += ELEMENT_SIZE) {
      const state = words[e >> 2] & STATE_MASK;
      if (this.#objectIn(e) !== this.semaphores[semaphore]) continue;
      if (state === CLAIMED || state === MERGING)
        throw new Violation(`${nameOf(e, this.regions)} stays ${this.value(e, 8)}`);
      if (state !== ABANDONED) continue;
      const start = words[(e + E_START) >> 2];
      if (this.grantMinus(semaphore, start, words[(e + E_START + 4) >> 2]) > 0) {
        throw new Violation(
          `the tombstone ${nameOf(e, this.regions)} has been passed, and its permits are lost`,
        );
      }
      width += (words[(e + E_END) >> 2] - start) | 0;
      starts.add(start);
      ends.add(words[(e + E_END) >> 2]);
    }
    for (const start of starts) {
      if (ends.has(start)) throw new Violation(`two tombstones stand side by side, at ticket ${start}`);
    }
    return width;
  }

  /**
   * With nobody waiting: every element is idle or a spare, or a tombstone; cells name tombstones alone, and
   * these their cells: who had an element that names another's would clear that. Nobody counts as parked.
   */
  #checkElements(): void {
    let waiting = false;
    this.waiters(() => {
      waiting = true;
    });
    if (waiting) return;
    const { buckets, elements, end } = this.regions;
    const words = this.machine.words;
    const spares = new Set<number>();
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t)) continue;
      for (const global of this.#spareGlobals) spares.add(this.machine.get(t, global));
    }
    for (let e = elements; e < end; e += ELEMENT_SIZE) {
      const state = words[e >> 2] & STATE_MASK;
      if (![IDLE, ABANDONED, ATTACHED, LENT].includes(state) && !spares.has(e)) {
        throw new Violation(
          `${nameOf(e, this.regions)} is ${this.value(e, 8)} at the end, and nobody's spare`,
        );
      }
      const request = words[(e + E_REQUEST) >> 2] | words[(e + E_REQUEST + 4) >> 2];
      if (state === IDLE && request !== 0)
        throw new Violation(`${nameOf(e, this.regions)} is nobody's, and still somebody's request`);
      const number = (e - elements) / ELEMENT_SIZE + 1;
      const cells = [words[(e + E_CELLS) >> 2], words[(e + E_CELLS + 4) >> 2]].filter((cell) => cell !== 0);
      const stands = cells.length > 0 && cells.every((cell) => words[cell >> 2] === number);
      if (stands !== (state === ABANDONED) || (!stands && cells.length > 0))
        throw new Violation(
          `${nameOf(e, this.regions)} is ${this.value(e, 8)}, and names the cells ${cells}`,
        );
    }
    for (let line = this.regions.chains; line < buckets; line += LINE) {
      for (const head of [C_HEAD, C_DUE_HEAD, C_CHANNEL_HEAD]) {
        if (words[(line + head) >> 2] !== 0)
          throw new Violation(`${nameOf(line + head, this.regions)} is not empty at the end`);
      }
    }
    for (let line = buckets; line < elements; line += LINE) {
      for (let cell = line + B_CELLS; cell < line + LINE; cell += 4) {
        const number = words[cell >> 2];
        const stands = number !== 0 && number !== this.filler;
        if (stands && (words[(elements + (number - 1) * ELEMENT_SIZE) >> 2] & STATE_MASK) !== ABANDONED)
          throw new Violation(`${nameOf(cell, this.regions)} is still taken at the end`);
      }
      if (words[(line + B_PARKED) >> 2] !== 0) {
        throw new Violation(`${nameOf(line + B_PARKED, this.regions)} is not 0 at the end`);
      }
    }
  }
}

/** Whether a semaphore's object lies at the address: for checks of models. */
export function isObject(address: number, at: Regions): boolean {
  return address >= at.objects && address < at.names && (address - at.objects) % OBJECT_SIZE === 0;
}

export { ADMITTED };
