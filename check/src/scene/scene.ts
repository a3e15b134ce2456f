/**
 * A scene is threads over one arena, as the programs of a model and the checks see them.
 *
 *     machine   core.wasm or another module   one interpreter for each thread, over one memory
 *     ghosts    permits and owners            bookkeeping of the checks; the code under test cannot see it
 *
 * The ops of a program (ops/) use the scene to begin calls of the core, and to begin the accesses that the library
 * makes itself, without the core. They also report admissions and releases to the scene. The driver (driver.ts) takes
 * the steps.
 */
import * as engine from '../engine/machine/machine.js';
import { Violation } from '../engine/search/violation.js';
import type { Program } from '../engine/wasm/code.js';
import type { ProgramName } from '../programs.js';
import { Ghosts, MOST_ELEMENTS } from './ghosts.js';
import { type Globals, globalsOf } from './globals.js';
import { ElementGuard } from './invariants/elements.js';
import { Permits } from './invariants/permits.js';
import {
  constant,
  ELEMENT_SIZE,
  GRANT,
  O_TIMEOUTS,
  OBJECT_SIZE,
  type Regions,
  T_COLLISIONS,
  T_DOORBELL,
  T_DUE,
  T_FUTILE_WAKES,
  T_SLEEPS,
  T_SLEEPS_ON,
  THREAD_SIZE,
  TICKET,
} from './layout.js';
import { newObject } from './new-object.js';
import { type ArenaSizes, finish, globalIndex, newMachine, objectIn, recordOf } from './set-up.js';
import { valueAt } from './trace-text.js';
import * as words from './words.js';

const SEMAPHORE = constant('KIND_SEMAPHORE');
// V8 folds the values of these local constants into the code, but looks up imported names at each use.
const { HOST, HOST_ADDRESS, HOST_VALUE, MARKED, RESULT, TAKEN } = words;
const { DEAD, PENDING, RMW, STORE, WAIT } = engine;

// Values of MARKED for a thread that was terminated in its sleep.
export const TERMINATED = 1;
const REAPED_ASLEEP = 2;

// Values of HOST: which access the library is about to make itself, without the core.
const HOST_LOAD = 1;
const HOST_WAIT = 2;
const HOST_STORE = 3;
const HOST_CMPXCHG = 4;
const HOST_EXCHANGE = 5;

/** The settings of a model: its arena, its threads and their deaths. */
export interface Settings {
  readonly name: string;
  /** The module that the model runs on; the core by default. */
  readonly program?: ProgramName;
  readonly arena?: ArenaSizes;
  /**
   * A text for each thread; by default all differ. Threads with the same text run the same program, so they begin in
   * the order of their numbers (begin-order.ts). Models with deaths or dispose must not use this option, because reap
   * and dispose go through records and elements in the order of their numbers.
   */
  readonly symmetric?: readonly string[];
  /** Whether threads may be left waiting at the end. */
  readonly mayWait?: boolean;
  /** The highest number of deaths, and the threads that may die; by default all may. */
  readonly deaths?: number;
  readonly mortal?: readonly number[];
  /**
   * The highest number of calls that an exception cuts short, wherever the runtime may end a call. The thread survives
   * the exception. Only the calls of ops with `cut` are cut short.
   */
  readonly cuts?: number;
  /** Whether every element of the arena has been used a few times before. */
  readonly aged?: boolean;
  /** The threads that die only while they sleep, so that the model decides where they die. */
  readonly asleep?: readonly number[];
  /**
   * Whether threads are terminated only while they sleep, and sleep on. If a terminated thread is woken before it is
   * reaped, it runs on.
   */
  readonly undead?: boolean;
  /** Whether the model leaves permits or elements behind on purpose, so that no check looks for them at the end. */
  readonly leaves?: boolean;
  /** Whether the counts that only diagnostics read are kept, and are part of the states. */
  readonly counts?: boolean;
  /** Whether the words that say on what a thread sleeps are kept, and are part of the states. */
  readonly sleeps?: boolean;
  /** For the ops of a mutex: whether an unlock makes its thread forget its guess of the word. */
  readonly forgets?: boolean;
  /**
   * Whether two states count as one if they differ only in how far the counters of the mutex have come
   * (relative-hash.ts). For models of a mutex with one bucket, in which there are no promises, time-outs or deaths.
   */
  readonly relative?: boolean;
  /**
   * For the ops of a mutex: whether a thread that has locked also asks how many owners have died (`ownersDied`). Then
   * the deaths of which a thread has learnt do not count as unreported at the end.
   */
  readonly learns?: boolean;
  /** The most switches away from a thread that could go on. Only for a model that is too large for a whole search. */
  readonly preemptions?: number;
  /** Whether a thread calls cancelAll. In models without this, no thread looks whether cancelAll was called. */
  readonly asks?: boolean;
  /** Whether the search takes more than a few seconds. */
  readonly long?: boolean;
}

/** The max of a semaphore that has none. */
const LIMIT = 0x7fffffff;

export interface SemaphoreOptions {
  readonly permits: number;
  readonly spin?: number;
  readonly threshold?: number;
  /** O_WAKE and O_LAZY of core/papers/words.ts. */
  readonly wake?: number;
  readonly lazy?: number;
  readonly max?: number;
  readonly kind?: number;
  readonly first?: bigint;
  readonly robust?: boolean;
  /** One of HASH_*, which the algorithms' semaphores have in place of `robust`. */
  readonly hash?: number;
}

export abstract class Scene {
  readonly machine: engine.Machine;
  readonly model: Settings;
  readonly program: Program;
  readonly threads: number;
  /** The numbers of the threads: 0, 1, ... */
  readonly threadNumbers: readonly number[];
  readonly regions: Regions;
  readonly ghosts: Ghosts;
  readonly permits: Permits;
  /** The value of the cells that a model has taken for good. */
  filler = 0;
  /** Addresses of the model's semaphores. */
  readonly semaphores: number[] = [];
  /** The addresses of the words whose writes the model checks (`written`). */
  readonly watched = new Set<number>();
  protected readonly globals: Globals;
  protected readonly elements: ElementGuard;
  /** Whether threads die. */
  protected readonly kills: boolean;
  /** Whether exceptions cut calls short. */
  protected readonly cuts: boolean;
  /** For each semaphore, the attachments of the threads. */
  readonly #attachments: number[][] = [];
  readonly #robust: boolean[] = [];
  readonly #max: number[] = [];

  constructor(program: Program, model: Settings, threads: number) {
    this.model = model;
    this.program = program;
    this.threads = threads;
    this.threadNumbers = Array.from({ length: threads }, (_, t) => t);
    this.globals = globalsOf(program, model.program ?? 'core');
    this.kills = (model.deaths ?? 0) > 0;
    this.cuts = (model.cuts ?? 0) > 0;
    const { machine, regions } = newMachine(program, threads, model.arena ?? {}, this.kills || this.cuts);
    this.machine = machine;
    this.regions = regions;
    this.ghosts = new Ghosts(threads);
    this.permits = new Permits(this, this.ghosts, this.semaphores);
    this.elements = new ElementGuard(this, this.ghosts);
    const used = (regions.end - regions.elements) / ELEMENT_SIZE;
    if (used > MOST_ELEMENTS) throw new Error(`at most ${MOST_ELEMENTS} elements in a model, got ${used}`);
    for (let t = 0; t < threads && this.globals.spares.length > 0; t++) {
      this.ghosts.setElementOwner((this.spare(t) - regions.elements) / ELEMENT_SIZE, t + 1);
    }
  }

  /** Kills a thread. */
  abstract kill(t: number): void;

  /** Says whether the thread has come to the end of its program. */
  abstract finished(t: number): boolean;

  /** Calls back for each request that still waits, of a thread in acquire or of a promise. */
  abstract waiters(found: (t: number, semaphore: number, width: number, lo: number, hi: number) => void): void;

  // --- Objects, before the threads start ---------------------------------------------------------------------

  /** Makes a semaphore before the threads start. */
  semaphore(o: SemaphoreOptions): number {
    const object = newObject({
      ...o,
      kind: o.kind ?? SEMAPHORE,
      max: o.max ?? LIMIT,
      robust: o.hash ?? Number(o.robust ?? false),
      variant: [o.wake ?? 0, o.lazy ?? 0],
    });
    const attachment = this.callNow(0, 'createObject', ...object);
    if (attachment < 0) throw new Error(`${this.model.name}: no room for a semaphore`);
    const address = this.callNow(0, 'attachedTo', attachment);
    const attached = this.model.arena?.attached ?? 1;
    this.#keep(address);
    this.semaphores.push(address);
    this.#robust.push(o.robust ?? false);
    this.#max.push(o.max ?? LIMIT);
    this.#attachments.push([
      attachment,
      ...Array.from({ length: attached - 1 }, (_, t) => this.callNow(t + 1, 'attach', address, 0, o.kind ?? SEMAPHORE)),
    ]);
    this.ghosts.setMade(this.semaphores.length - 1, o.permits);
    return address;
  }

  /** Makes an object of another kind, for which the model keeps its own ghosts. */
  object(kind: number, spin: number, threshold: number, permits = 1, first = 0n, hash = 0, variant = 0): number {
    const knobs = { spin, threshold, robust: hash, variant: [variant, 0], first } as const;
    const attachment = this.callNow(0, 'createObject', ...newObject({ kind, permits, max: permits, ...knobs }));
    if (attachment < 0) throw new Error(`${this.model.name}: no room for an object`);
    const address = this.callNow(0, 'attachedTo', attachment);
    this.#keep(address);
    return address;
  }

  /** Other threads know the object by its handle. So it lives until a thread disposes of it (core/arena/objects.ts). */
  #keep(address: number): void {
    if (this.program.exports.has('keep')) this.callNow(0, 'keep', address);
  }

  isRobust(semaphore: number): boolean {
    return this.#robust[semaphore];
  }

  /** Says whether a release that is not robust checks first that there is room below the max, as in the library. */
  hasMax(semaphore: number): boolean {
    return this.#max[semaphore] !== LIMIT;
  }

  /** Returns the attachment that counts the thread's permits of a semaphore; 0 if the semaphore is not robust. */
  robust(t: number, semaphore: number): number {
    return this.#robust[semaphore] ? this.attachment(t, semaphore) : 0;
  }

  /** Returns the thread's attachment to a semaphore. */
  attachment(t: number, semaphore: number): number {
    return this.#attachments[semaphore]?.[t] ?? 0;
  }

  /** Returns the object of an attachment. */
  objectOf(attachment: number): number {
    return objectIn(this, this.regions.elements + (attachment - 1) * ELEMENT_SIZE);
  }

  // --- Calls -------------------------------------------------------------------------------------------------

  /** Runs a call of one thread to its end while the other threads stand still. A model uses it to set up its scene. */
  callNow(t: number, name: string, ...args: number[]): number {
    this.machine.call(t, this.#function(name), ...args);
    finish(this.machine, t, () => this.stepNow(t));
    return this.machine.resultLo(t);
  }

  /** Performs the pending access of a call that sets up the scene. */
  protected stepNow(t: number): void {
    this.elements.step(t);
  }

  call(t: number, name: string, ...args: number[]): void {
    this.machine.call(t, this.#function(name), ...args);
  }

  result(t: number): number {
    return this.machine.resultLo(t);
  }

  #function(name: string): number {
    const index = this.program.exports.get(name);
    if (index === undefined) throw new Error(`${this.model.program ?? 'core'}.wasm exports no ${name}`);
    return index;
  }

  // --- Words -------------------------------------------------------------------------------------------------

  /** Returns a word that the checks keep for the thread, outside of the machine (words.ts). */
  get(t: number, word: number): number {
    return this.ghosts.word(t, word);
  }

  set(t: number, word: number, value: number): void {
    this.ghosts.setWord(t, word, value);
  }

  /** Returns a global of a thread's instance. */
  global(t: number, name: string): number {
    return this.machine.get(t, globalIndex(this.program, name));
  }

  /** Sets a global of one thread to 0. */
  clear(t: number, name: string): void {
    this.machine.set(t, globalIndex(this.program, name), 0, 0);
  }

  /** Returns the address of the thread's spare element. */
  spare(t: number): number {
    return this.machine.get(t, this.globals.spares[0]);
  }

  doorbell(t: number): number {
    return recordOf(this, t) + T_DOORBELL;
  }

  /** Returns the address of the word with a bit for each due element below 32. No element of a model is above. */
  due(t: number): number {
    return recordOf(this, t) + T_DUE;
  }

  /** Returns the word at an address as it is now. Reading it is no step. */
  word(address: number): number {
    return this.machine.words[address >> 2] as number;
  }

  /** Renders the value of a word by its meaning. */
  value(address: number, bytes: number): string {
    return valueAt(this, address, bytes);
  }

  // --- Accesses that the library makes itself ----------------------------------------------------------------

  hostLoad(t: number, address: number): void {
    this.set(t, HOST, HOST_LOAD);
    this.set(t, HOST_ADDRESS, address);
  }

  hostStore(t: number, address: number, value: number): void {
    this.set(t, HOST, HOST_STORE);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, value);
  }

  /** Begins an exchange. Its result is the value of the word before the exchange. */
  hostExchange(t: number, address: number, value: number): void {
    this.set(t, HOST, HOST_EXCHANGE);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, value);
  }

  /** Begins a compare-and-swap. Its result is the value of the word before the compare-and-swap. */
  hostCmpxchg(t: number, address: number, expected: number, value: number): void {
    this.set(t, HOST, HOST_CMPXCHG);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, expected);
    this.set(t, RESULT, value);
  }

  /** Begins a wait, which may time out if `timed`. */
  hostWait(t: number, address: number, expected: number, timed = false): void {
    this.set(t, HOST, HOST_WAIT);
    this.set(t, HOST_ADDRESS, address);
    this.set(t, HOST_VALUE, expected);
    this.set(t, RESULT, Number(timed));
  }

  /** Performs the pending access that the library makes itself. */
  protected performHost(t: number): void {
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

  // --- What the next access of a thread is -------------------------------------------------------------------

  pendingWord(t: number): number {
    if (this.machine.status(t) !== PENDING) {
      const host = this.get(t, HOST);
      return host !== 0 && host !== HOST_WAIT ? this.get(t, HOST_ADDRESS) >>> 3 : -1;
    }
    return this.machine.pendingKind(t) < WAIT ? this.machine.pendingAddress(t) >>> 3 : -1;
  }

  /** Returns the address of the next access, which the core or the library itself makes. */
  accessed(t: number): number {
    return this.machine.status(t) === PENDING ? this.machine.pendingAddress(t) : this.get(t, HOST_ADDRESS);
  }

  accessedWord(t: number): number {
    return this.accessed(t) >>> 3;
  }

  pendingIsWrite(t: number): boolean {
    return this.machine.status(t) === PENDING ? this.machine.pendingIsWrite(t) : this.get(t, HOST) >= HOST_STORE;
  }

  /** Says whether the next access of t writes a word that only diagnostics read, and the model does not look at. */
  silent(t: number): boolean {
    const { machine, model } = this;
    if (machine.status(t) !== PENDING) return false;
    const address = machine.pendingAddress(t);
    switch (machine.pendingKind(t)) {
      case RMW:
        return (model.counts !== true && this.#counts(address)) || (!model.sleeps && this.isCount(T_SLEEPS, address));
      case STORE:
        return !model.sleeps && this.isCount(T_SLEEPS_ON, address);
      default:
        return false;
    }
  }

  /** Returns the sum of a count, T_COLLISIONS or T_FUTILE_WAKES, in the records of all threads. */
  total(count: number): number {
    let sum = 0;
    for (const t of this.threadNumbers) sum += this.machine.words[(recordOf(this, t) + count) >> 2] as number;
    return sum;
  }

  /** Says whether the word at the address is this word of the record of a thread, which only the thread writes. */
  isCount(count: number, address: number): boolean {
    const { threads, chains } = this.regions;
    return address >= threads && address < chains && (address - threads) % THREAD_SIZE === count;
  }

  #counts(address: number): boolean {
    return (
      this.isCount(T_COLLISIONS, address) ||
      this.isCount(T_FUTILE_WAKES, address) ||
      (address >= this.regions.objects &&
        address < this.regions.names &&
        (address - this.regions.objects) % OBJECT_SIZE === O_TIMEOUTS)
    );
  }

  /** Returns the addresses of ticket and grant of each semaphore, and of the words whose writes the model checks. */
  visibleWords(): number[] {
    return [...this.semaphores.flatMap((address) => [address + TICKET, address + GRANT]), ...this.watched];
  }

  // --- Permits -----------------------------------------------------------------------------------------------

  /** Return the low and high word of the ticket that the thread took last, as its write to the counter showed. */
  ticketLo(t: number): number {
    return this.get(t, TAKEN);
  }

  ticketHi(t: number): number {
    return this.get(t, TAKEN + 1);
  }

  /** Records that the call which has just returned has admitted the thread, with the ticket that it took last. */
  admittedNow(t: number, semaphore: number, width: number): void {
    const [lo, hi] = [this.ticketLo(t), this.ticketHi(t)];
    const { ticketTaken } = this.globals;
    if (this.machine.get(t, ticketTaken) !== lo || this.machine.getHi(t, ticketTaken) !== hi) {
      throw new Violation(`thread ${t} has taken another ticket than lastTicket says`);
    }
    this.admitted(t, semaphore, width, lo, hi);
  }

  /** Records that thread t has been admitted with `width` permits from this ticket on. */
  admitted(t: number, semaphore: number, width: number, ticketLo: number, ticketHi: number): void {
    this.permits.admitted(t, semaphore, width, ticketLo, ticketHi);
  }

  /**
   * Notes that t gives `width` permits, below 256, to the semaphore with its next access. With `own`, t has held these
   * permits. Otherwise t makes new permits. If the semaphore has a max, t looks at the counters first, and gives the
   * permits with its next write.
   */
  releasing(t: number, semaphore: number, width: number, own: boolean): void {
    this.permits.releasing(t, semaphore, width, own, this.hasMax(semaphore) && !this.isRobust(semaphore));
  }

  /** As `releasing`, for a call that gives the permits to a promise of t if it can, and else does nothing. */
  releasingToOwn(t: number, semaphore: number, width: number, own: boolean): void {
    this.permits.releasingToOwn(t, semaphore, width, own);
  }

  /** Notes that a release is refused, which `releasing` has noted. */
  refused(t: number): void {
    this.permits.refused(t);
  }

  /** Notes whether t is in a call of a counter, which may make permits. */
  handing(t: number, isHanding: boolean): void {
    this.permits.handing(t, isHanding);
  }

  /** Notes that t takes `width` permits, below 256, away for good with its next access. */
  reducing(t: number, semaphore: number, width: number): void {
    this.permits.reducing(t, semaphore, width);
  }

  /** Returns grant - ticket number, exact up to 2^52. */
  grantMinus(semaphore: number, lo: number, hi: number): number {
    return this.permits.grantMinus(semaphore, lo, hi);
  }

  /** Says whether the semaphore has been disposed of. */
  closed(semaphore: number): boolean {
    return this.permits.closed(semaphore);
  }

  held(semaphore: number): number {
    return this.ghosts.held(semaphore);
  }

  made(semaphore: number): number {
    return this.ghosts.made(semaphore);
  }

  // --- Deaths ------------------------------------------------------------------------------------------------

  dead(t: number): boolean {
    return this.machine.status(t) === DEAD || this.get(t, MARKED) === REAPED_ASLEEP;
  }

  /** Whether as many threads have died as the model allows. */
  get allDead(): boolean {
    return this.ghosts.deaths >= (this.model.deaths ?? 0);
  }

  /** Says whether the thread was terminated in its sleep, and the scene does not know yet what became of it. */
  terminated(t: number): boolean {
    return this.get(t, MARKED) === TERMINATED;
  }

  /** Notes that a terminated thread was reaped in its sleep, or was awake by then and goes on. */
  setReaped(t: number, reaped: boolean): void {
    this.set(t, MARKED, reaped ? REAPED_ASLEEP : 0);
  }
}

/** Says whether an object begins at the address. */
export function isObject(address: number, at: Regions): boolean {
  return address >= at.objects && address < at.names && (address - at.objects) % OBJECT_SIZE === 0;
}
