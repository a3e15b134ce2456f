/**
 * A scene: threads over one arena, as the programs of a model and the checks see them.
 *
 *     machine   core.wasm or another   one interpreter a thread, over one memory
 *     ghosts    who holds what         bookkeeping of the checks; the code under test cannot see it
 *
 * The ops of a program (ops/) begin calls of the core and accesses of the library's own here, and tell the scene who
 * has been admitted and who gives back. The driver (driver.ts) takes the steps.
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
  COLLISIONS,
  ELEMENT_SIZE,
  FUTILE_WAKES,
  GRANT,
  O_TIMEOUTS,
  OBJECT_SIZE,
  type Regions,
  T_DOORBELL,
  T_DUE,
  TICKET,
} from './layout.js';
import { type ArenaSizes, finish, globalIndex, newMachine, objectIn, recordOf } from './set-up.js';
import { valueAt } from './trace-text.js';
import * as words from './words.js';

// Names of this module's own: the engine folds the values of such into the code, but looks up what is imported
// at each use (the machine does the same).
const { HOST, HOST_ADDRESS, HOST_VALUE, MARKED, RESULT, TAKEN } = words;
const { DEAD, PENDING, RMW, WAIT } = engine;

// Of a thread that was terminated in its sleep.
export const TERMINATED = 1;
const REAPED_ASLEEP = 2;

// Which access of the library's own is pending.
const HOST_LOAD = 1;
const HOST_WAIT = 2;
const HOST_STORE = 3;
const HOST_CMPXCHG = 4;
const HOST_EXCHANGE = 5;

/** The settings of a model: how its arena, its threads and their deaths are. */
export interface Settings {
  readonly name: string;
  /** The module that it runs on: core by default. */
  readonly program?: ProgramName;
  readonly arena?: ArenaSizes;
  /**
   * What each thread does, in words: those of the same words differ in nothing else, so in which order they begin is
   * all one, and they begin in the order of their numbers (see `symmetry`). Not where threads die: who reaps looks at
   * records and elements in the order of their numbers, and so does who disposes. Default: each differs.
   */
  readonly alike?: readonly string[];
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
}

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

export abstract class Scene {
  readonly machine: engine.Machine;
  readonly model: Settings;
  readonly program: Program;
  readonly threads: number;
  /** The same as a list: 0, 1, ... */
  readonly threadNumbers: readonly number[];
  readonly regions: Regions;
  readonly ghosts: Ghosts;
  readonly permits: Permits;
  /** What stands in cells that a model has taken for good. */
  filler = 0;
  /** Addresses of the model's semaphores. */
  readonly semaphores: number[] = [];
  /** Words whose writes the model is told of. */
  readonly watched = new Set<number>();
  protected readonly globals: Globals;
  protected readonly elements: ElementGuard;
  /** Whether threads die. */
  protected readonly kills: boolean;
  /** Of each semaphore: the attachments of the threads. */
  readonly #attachments: number[][] = [];
  readonly #robust: boolean[] = [];

  constructor(program: Program, model: Settings, threads: number) {
    this.model = model;
    this.program = program;
    this.threads = threads;
    this.threadNumbers = Array.from({ length: threads }, (_, t) => t);
    this.globals = globalsOf(program, model.program ?? 'core');
    this.kills = (model.deaths ?? 0) > 0;
    const { machine, regions } = newMachine(program, threads, model.arena ?? {}, this.kills);
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

  /** Whether the thread has come to the end of its program. */
  abstract finished(t: number): boolean;

  /** Calls back for each request that still waits: of threads in acquire, and of promises. */
  abstract waiters(
    found: (t: number, semaphore: number, width: number, lo: number, hi: number) => void,
  ): void;

  // --- Objects, before the threads start ---------------------------------------------------------------------

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
    this.ghosts.setMade(this.semaphores.length - 1, o.permits);
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

  isRobust(semaphore: number): boolean {
    return this.#robust[semaphore];
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
    return objectIn(this, this.regions.elements + (attachment - 1) * ELEMENT_SIZE);
  }

  // --- Calls -------------------------------------------------------------------------------------------------

  /** Runs a call of one thread to its end, alone: for setting up. */
  callNow(t: number, name: string, ...args: number[]): number {
    this.machine.call(t, this.#function(name), ...args);
    finish(this.machine, t, () => this.elements.step(t));
    return this.machine.resultLo(t);
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

  /** A word of the thread's own, beside the machine (words.ts). */
  get(t: number, word: number): number {
    return this.ghosts.word(t, word);
  }

  set(t: number, word: number, value: number): void {
    this.ghosts.setWord(t, word, value);
  }

  /** A global of a thread's instance. */
  global(t: number, name: string): number {
    return this.machine.get(t, globalIndex(this.program, name));
  }

  /** Sets a global of one thread to 0. */
  clear(t: number, name: string): void {
    this.machine.set(t, globalIndex(this.program, name), 0, 0);
  }

  /** Address of the thread's spare element. */
  spare(t: number): number {
    return this.machine.get(t, this.globals.spares[0]);
  }

  doorbell(t: number): number {
    return recordOf(this, t) + T_DOORBELL;
  }

  /** What is noted as due, of the numbers below 32: a model has no more elements. */
  due(t: number): number {
    return recordOf(this, t) + T_DUE;
  }

  /** The value of a word, as its meaning. */
  value(address: number, bytes: number): string {
    return valueAt(this, address, bytes);
  }

  // --- Accesses of the library's own -------------------------------------------------------------------------

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

  /** Performs the access of the library's own that is pending. */
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

  /** The address of the next access, of the core or of the library's own. */
  accessed(t: number): number {
    return this.machine.status(t) === PENDING ? this.machine.pendingAddress(t) : this.get(t, HOST_ADDRESS);
  }

  accessedWord(t: number): number {
    return this.accessed(t) >>> 3;
  }

  pendingIsWrite(t: number): boolean {
    return this.machine.status(t) === PENDING
      ? this.machine.pendingIsWrite(t)
      : this.get(t, HOST) >= HOST_STORE;
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

  /** The words of counters, and those that the model is told of. */
  visibleWords(): number[] {
    return [...this.semaphores.flatMap((address) => [address + TICKET, address + GRANT]), ...this.watched];
  }

  // --- Permits -----------------------------------------------------------------------------------------------

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
    const { ticketTaken } = this.globals;
    if (this.machine.get(t, ticketTaken) !== lo || this.machine.getHi(t, ticketTaken) !== hi) {
      throw new Violation(`thread ${t} has taken another ticket than lastTicket says`);
    }
    this.admitted(t, semaphore, width, lo, hi);
  }

  /** Thread t has been admitted with `width` permits from this ticket on. */
  admitted(t: number, semaphore: number, width: number, ticketLo: number, ticketHi: number): void {
    this.permits.admitted(t, semaphore, width, ticketLo, ticketHi);
  }

  /** With its next access thread t gives back `width` permits, below 256; what nobody holds is made anew. */
  releasing(t: number, semaphore: number, width: number, own: boolean): void {
    this.permits.releasing(t, semaphore, width, own);
  }

  /** grant - ticket number, exact up to 2^52. */
  grantMinus(semaphore: number, lo: number, hi: number): number {
    return this.permits.grantMinus(semaphore, lo, hi);
  }

  /** Whether the semaphore has been disposed of. */
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

  /** Whether as many have died as may. */
  get allDead(): boolean {
    return this.ghosts.deaths >= (this.model.deaths ?? 0);
  }

  /** Whether the thread was terminated in its sleep, and nobody has learnt what has become of it. */
  terminated(t: number): boolean {
    return this.get(t, MARKED) === TERMINATED;
  }

  /** The thread was terminated in its sleep, and then reaped; or it was awake by then, and goes on. */
  setReaped(t: number, reaped: boolean): void {
    this.set(t, MARKED, reaped ? REAPED_ASLEEP : 0);
  }
}

/** Whether a semaphore's object lies at the address: for checks of models. */
export function isObject(address: number, at: Regions): boolean {
  return address >= at.objects && address < at.names && (address - at.objects) % OBJECT_SIZE === 0;
}
