/**
 * The driver takes the steps of a model's programs over a scene, one access to shared memory at a time. It is the state
 * space that the search explores.
 *
 * In each state some choices are open: a thread performs its next access, a parked thread times out, a thread is
 * killed, an exception ends the call of a thread. After each step the driver goes on with the programs. Their ops do what the library's TypeScript does around
 * the core (ops/). The driver also checks the invariants (invariants/). Every effect of a choice can be undone. The
 * hash of a state covers everything on which the further course depends.
 */
import * as engine from '../engine/machine/machine.js';
import * as kinds from '../engine/search/choice.js';
import type { StateSpace } from '../engine/search/state-space.js';
import { Violation } from '../engine/search/violation.js';
import type { Program } from '../engine/wasm/code.js';
import { BeginOrder } from './begin-order.js';
import { StateHash } from './hashing.js';
import { checkElements } from './invariants/elements.js';
import { checkGeneration, checkRecord, checkRecords, checkReferences, lifeOf } from './invariants/lives.js';
import { checkDeaths, checkHeld, ownerDies } from './invariants/owners.js';
import { tombstones } from './invariants/tombstones.js';
import * as layout from './layout.js';
import type { Model, Op, Waiting } from './model.js';
import { PrivateWords } from './private-words.js';
import { EPOCHS, EPOCHS_SHIFT, RelativeHash } from './relative-hash.js';
import { Scene, TERMINATED } from './scene.js';
import { recordOf } from './set-up.js';
import { accessText, hostText, nameAt, whereIs } from './trace-text.js';
import * as words from './words.js';

// V8 folds the values of these local constants into the code, but looks up imported names at each use.
const { GIVING, HOST, HOST_ADDRESS, HOST_VALUE, MARKED, OP, PHASE, PROMISES, QUEUE, RESULT, TAKEN } = words;
const { CHOICES, CUT, KILL, STEP, TIME_OUT } = kinds;
const { DEAD, LOAD, NOTIFY, PARKED, PENDING, WAIT } = engine;
const NO_CALL = engine.IDLE;
const { ALIVE, ELEMENT_SIZE, FREE, IDLE, LIFE_STATE, REAPER, RESERVED, THREAD_SIZE } = layout;
const EPOCH = layout.constant('EPOCH');
const USED_ELEMENTS = layout.constant('USED_ELEMENTS');
/** More than the phases of any operation, so that no two phases of an operation share a number in `positionOf`. */
const PHASES = 64;
/** An epoch that differs from each constant that a mutant puts in the place of a load (mutate.ts). */
const AGE = 3;
/**
 * In an element that nobody owns, or that is a spare, only these words have a meaning. The others may have any value.
 */
const KEPT = new Set([layout.E_STATE, layout.E_REQUEST, layout.E_CELLS]);

export class Driver extends Scene implements StateSpace {
  declare readonly model: Model;
  /** How often a waiter has left a chain that it need not have joined: a count for each of the ways 1 to 4. */
  readonly tallies = [0, 0, 0, 0, 0];
  /** Whether the last choice may have moved threads besides the thread of the choice. */
  others = false;
  readonly #programs: readonly (readonly Op[])[];
  /** A number above the indices of the operations of every program. */
  readonly #operations: number;
  readonly #order: BeginOrder;
  readonly #hash: StateHash | RelativeHash;
  readonly #private?: PrivateWords;

  constructor(program: Program, model: Model) {
    super(program, model, model.programs.length);
    this.#programs = model.programs;
    this.#operations = 1 + Math.max(...model.programs.map(({ length }) => length));
    this.#order = new BeginOrder(this, this.kills || this.cuts ? undefined : model.symmetric, this.globals.looks);
    model.objects?.(this);
    if (model.aged) this.#age();
    if (model.relative) {
      this.#spread();
      this.#private = new PrivateWords(this);
    }
    this.#hash = model.relative ? new RelativeHash(this) : new StateHash(this.machine, this.ghosts, this.threads);
    for (let t = 0; t < this.threads; t++) {
      this.#forget(t);
      this.#advance(t);
    }
    this.symmetry(1);
    this.rehash();
  }

  /** Makes every element look as if it had been used a few times before. */
  #age(): void {
    const { elements, end } = this.regions;
    for (let e = elements; e < end; e += ELEMENT_SIZE) {
      const state = this.machine.hostLoad32(e);
      this.machine.hostStore32(e, state + AGE * EPOCH);
      if (state !== IDLE && state !== RESERVED) continue;
      for (let at = e; at < e + ELEMENT_SIZE; at += 4) if (!KEPT.has((at - e) & ~7)) this.machine.hostStore32(at, AGE);
    }
    this.machine.hostStore32(USED_ELEMENTS, (end - elements) / ELEMENT_SIZE);
  }

  /** Gives the elements epochs that are far from each other and from other values. */
  #spread(): void {
    const { elements, end } = this.regions;
    for (let e = elements, i = 0; e < end; e += ELEMENT_SIZE, i++)
      this.machine.hostStore32(e, this.machine.hostLoad32(e) + EPOCHS + (i << EPOCHS_SHIFT));
  }

  // --- The state ---------------------------------------------------------------------------------------------

  get hashLo(): number {
    return this.#hash.lo;
  }

  get hashHi(): number {
    return this.#hash.hi;
  }

  rehash(): void {
    this.#hash.compute();
  }

  mark(out: number[], at: number): void {
    out[at] = this.machine.mark();
    out[at + 1] = this.ghosts.mark();
  }

  undo(marks: readonly number[], at: number): void {
    this.machine.undo(marks[at]);
    this.ghosts.undo(marks[at + 1]);
  }

  /** Numbers a position in the program by operation, phase and instruction of the pending access. */
  positionOf(t: number): number {
    const at = this.machine.instruction(t) * this.#operations + this.get(t, OP);
    return at * PHASES + this.get(t, PHASE);
  }

  get sharedWords(): number {
    return this.machine.words.length >> 1;
  }

  finished(t: number): boolean {
    return this.get(t, OP) >= this.#programs[t].length;
  }

  isOver(t: number): boolean {
    return this.machine.status(t) === DEAD || this.#waitsInVain(t);
  }

  /** Says whether t waits for a death that can no longer come. */
  #waitsInVain(t: number): boolean {
    if (!this.kills || !this.#op(t)?.supervises || this.ghosts.deaths > 0) return false;
    for (let u = 0; u < this.threads; u++) {
      if (u !== t && !this.finished(u) && (this.model.mortal?.includes(u) ?? true)) return false;
    }
    return this.model.mortal?.includes(t) === false;
  }

  /** Returns the operation under way; undefined at the end of the program. */
  #op(t: number): Op | undefined {
    return this.#programs[t][this.get(t, OP)];
  }

  /** Whether a thread reaps the dead. */
  get #supervised(): boolean {
    return this.#programs.some((program) => program.some(({ supervises }) => supervises));
  }

  // --- Choices -----------------------------------------------------------------------------------------------

  symmetry(order: 1 | 0 | -1): void {
    this.#order.set(order);
  }

  distinguishes(): boolean {
    return this.#order.distinguishes();
  }

  mayMove(t: number): boolean {
    return this.#order.mayMove(t);
  }

  choicesOf(t: number, out: Int32Array, from: number): number {
    let n = from;
    if (!this.mayMove(t)) return n;
    const status = this.machine.status(t);
    if (status === PENDING || (status === NO_CALL && this.get(t, HOST) !== 0)) out[n++] = t * CHOICES + STEP;
    else if (status === PARKED && this.machine.canTimeOut(t) && (this.model.mayTimeOut?.(this, t) ?? true))
      out[n++] = t * CHOICES + TIME_OUT;
    if (this.kills && this.#mayDie(t)) out[n++] = t * CHOICES + KILL;
    if (this.cuts && this.#mayBeCut(t)) out[n++] = t * CHOICES + CUT;
    return n;
  }

  choices(out: Int32Array, from = 0): number {
    let n = from;
    for (let t = 0; t < this.threads; t++) n = this.choicesOf(t, out, n);
    return n;
  }

  #mayDie(t: number): boolean {
    if (this.allDead) return false;
    if (this.finished(t) || this.dead(t) || this.terminated(t)) return false;
    const inSleep = this.model.undead || this.model.asleep?.includes(t);
    if (inSleep && this.machine.status(t) !== PARKED) return false;
    if (this.model.mortal !== undefined && !this.model.mortal.includes(t)) return false;
    return this.machine.killable(t);
  }

  #mayBeCut(t: number): boolean {
    if (this.ghosts.cuts >= (this.model.cuts ?? 0) || this.#op(t)?.cut === undefined) return false;
    return !this.dead(t) && !this.terminated(t) && this.machine.killable(t);
  }

  /** Performs a choice. Throws a Violation if the choice breaks an invariant. */
  apply(choice: number): void {
    const t = Math.floor(choice / CHOICES);
    const kind = choice - t * CHOICES;
    const m = this.machine;
    this.others = false;
    this.ghosts.touched = false;
    if (kind === STEP) {
      this.#order.note(t);
      if (m.status(t) === PENDING) {
        if (this.get(t, MARKED) !== 0 && lifeOf(this, t) !== ALIVE && this.#acts(t))
          throw new Violation(`thread ${t} acts after it was declared dead`);
        if (m.pendingIsPlain(t)) this.#checkPlain(t);
        this.permits.give(t);
        this.others = m.pendingKind(t) === NOTIFY;
        const address = m.pendingAddress(t);
        const isWatched = m.pendingIsWrite(t) && this.watched.has(address);
        const before = m.words[address >> 2];
        this.#step(t);
        if (isWatched) this.model.written?.(this, t, address, before);
      } else this.performHost(t);
    } else if (kind === TIME_OUT) {
      m.timeOut(t);
      this.others = true;
    } else if (kind === CUT) this.#cut(t);
    else {
      this.kill(t);
      this.others = true;
    }
    if (this.others) {
      this.ghosts.touched = true;
      for (let u = 0; u < this.threads; u++) this.#advance(u);
      this.rehash();
    } else {
      this.#advance(t);
      this.#hash.update(t);
    }
  }

  get touched(): boolean {
    return this.ghosts.touched;
  }

  kill(t: number): void {
    this.ghosts.countDeath();
    if (this.model.undead) {
      this.set(t, MARKED, TERMINATED);
      return;
    }
    ownerDies(this, t, this.#op(t)?.granted?.(this, t) ?? 0);
    this.set(t, GIVING, 0);
    this.machine.kill(t);
  }

  /** Ends the op of the thread by an exception. */
  #cut(t: number): void {
    this.ghosts.countCut();
    this.machine.cut(t);
    this.#op(t)?.cut?.(this, t);
    this.set(t, GIVING, 0);
    this.#toNextOp(t);
  }

  /**
   * Says whether the pending access changes anything besides the thread's record. A thread may write to its record,
   * because it learns in this way whether it counts as alive.
   */
  #acts(t: number): boolean {
    const { machine } = this;
    return (
      machine.pendingIsWrite(t) && machine.pendingKind(t) !== WAIT && machine.pendingAddress(t) !== recordOf(this, t)
    );
  }

  /**
   * Throws for a plain access, except to the drafts of names, which lie behind the entries of the objects, and where the
   * model allows it.
   */
  #checkPlain(t: number): void {
    const { address, fn } = this.machine.describe(t);
    const { objects, names, threads } = this.regions;
    if (address >= names + (names - objects) && address < threads) return;
    if (this.model.plain?.(this, t, address)) return;
    throw new Violation(`thread ${t} accesses ${nameAt(this, address)} with no atomic instruction, in ${fn}`);
  }

  /** Performs the pending access of the core, and checks what it does to the word. */
  #step(t: number): void {
    const m = this.machine;
    const { objects, buckets } = this.regions;
    const address = m.pendingAddress(t);
    if (m.pendingIsWrite(t)) this.#private?.check(t, address);
    if (this.silent(t)) {
      // The count stays 0, so that states which would differ only in the count are the same state.
      m.step(t);
      m.hostStore32(address, 0);
    } else if (address >= buckets && m.pendingIsWrite(t)) this.elements.step(t);
    else if (address >= objects && m.pendingIsWrite(t)) this.#writeObject(t, address);
    else if (address >= REAPER) m.step(t);
    else {
      const before = m.words[address >> 2];
      m.step(t);
      if (m.words[address >> 2] < before) throw new Violation(`${nameAt(this, address)} falls`);
    }
  }

  /** Performs a write to an object or to a thread's record. */
  #writeObject(t: number, address: number): void {
    const m = this.machine;
    const kind = m.pendingKind(t);
    const lo = m.words[address >> 2];
    const hi = m.words[(address >> 2) + 1];
    m.step(t);
    checkGeneration(this, address, lo, hi);
    const { threads, chains } = this.regions;
    if (address >= threads && address < chains && (address - threads) % THREAD_SIZE === 0) {
      const life = m.words[address >> 2];
      if (life !== lo) checkRecord(this, address, lo, life);
    }
    if (this.permits.wrote(t, kind, address, lo, hi)) this.model.wrote?.(this, t, address, lo);
  }

  /** Goes on with the program of a thread that has no call and no access under way. */
  #advance(t: number): void {
    const program = this.#programs[t];
    const m = this.machine;
    while (true) {
      while (this.#private !== undefined && this.#isPrivate(t)) m.step(t);
      if (m.status(t) !== NO_CALL || this.get(t, HOST) !== 0) {
        // A thread that polls comes back to the state in which it was.
        this.#clear(t, this.globals.pauses);
        return;
      }
      const op = program[this.get(t, OP)];
      if (op === undefined) return;
      const done = op.next(this, t);
      if (done === undefined) return;
      if (!done) continue;
      if (this.globals.recovery >= 0) this.tallies[m.get(t, this.globals.recovery)]++;
      this.#toNextOp(t);
    }
  }

  #toNextOp(t: number): void {
    this.set(t, OP, this.get(t, OP) + 1);
    this.set(t, PHASE, 0);
    this.set(t, RESULT, 0);
    for (let i = TAKEN; i < MARKED; i++) this.set(t, i, 0);
    this.#forget(t);
  }

  /** Says whether the pending access of t loads a word that no other thread writes. */
  #isPrivate(t: number): boolean {
    const m = this.machine;
    if (m.status(t) !== PENDING || m.pendingKind(t) !== LOAD) return false;
    return this.#private?.isPrivate(t, m.pendingAddress(t)) === true;
  }

  /**
   * Clears the globals that no later call reads, so that states which would differ only in these globals are the same
   * state. If a call was cut short, the next call may read every global, so no global is cleared.
   */
  #forget(t: number): void {
    const { pendingCall, dead, last } = this.globals;
    if (pendingCall >= 0 && this.machine.get(t, pendingCall) !== 0) return;
    for (const global of dead) this.#clear(t, global);
    if (this.finished(t)) for (const global of last) this.#clear(t, global);
  }

  #clear(t: number, global: number): void {
    if (this.machine.get(t, global) !== 0 || this.machine.getHi(t, global) !== 0) this.machine.set(t, global, 0, 0);
  }

  // --- The end -----------------------------------------------------------------------------------------------

  /** Throws a Violation unless this state, in which no choice is open, is a proper end. */
  checkEnd(): void {
    this.#checkAwake();
    const waiting = [0, 0];
    let anybody = false;
    this.waiters((t, semaphore, width, lo, hi) => {
      if (this.grantMinus(semaphore, lo, hi) >= width) {
        throw new Violation(`thread ${t} sleeps for ever though its turn has come`);
      }
      waiting[semaphore] = waiting[semaphore] + width;
      anybody = true;
    });
    this.model.end?.(this);
    if (this.model.leaves || (this.ghosts.deaths > 0 && !this.#supervised)) return;
    this.#checkReaped();
    checkReferences(this, (object, held) => checkHeld(this, object, held));
    for (const [s, address] of this.semaphores.entries())
      this.permits.checkConserved(s, waiting[s], tombstones(this, this.permits, s, address));
    if (!anybody) checkElements(this, this.#spares(), this.filler);
  }

  #checkAwake(): void {
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t) || this.finished(t) || this.#op(t)?.supervises) continue;
      if (this.model.mayWait !== true)
        throw new Violation(`deadlock: thread ${t} sleeps for ever in ${this.#where(t)}`);
    }
  }

  /** Checks that every dead thread's record is free again, and that each owner that died has been counted. */
  #checkReaped(): void {
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t) && (lifeOf(this, t) & LIFE_STATE) !== FREE)
        throw new Violation(`thread ${t} is dead, and its record is not free`);
    }
    checkDeaths(this);
    checkRecords(this, this.#supervised);
  }

  /** Returns the elements that living threads own between their calls. */
  #spares(): Set<number> {
    const spares = new Set<number>();
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t)) continue;
      for (const global of this.globals.spares) spares.add(this.machine.get(t, global));
    }
    return spares;
  }

  waiters(found: (t: number, semaphore: number, width: number, lo: number, hi: number) => void): void {
    for (let t = 0; t < this.threads; t++) {
      if (this.dead(t)) continue;
      for (let p = 0; p < this.get(t, QUEUE); p++) {
        const at = PROMISES + 4 * p;
        found(t, 0, this.get(t, at + 1) & 0xff, this.get(t, at + 2), this.get(t, at + 3));
      }
      const op = this.#op(t) as Partial<Waiting> | undefined;
      if (op?.semaphore !== undefined && op.width !== undefined && this.machine.status(t) === PARKED) {
        found(t, op.semaphore, op.width, this.ticketLo(t), this.ticketHi(t));
      }
    }
  }

  // --- Traces ------------------------------------------------------------------------------------------------

  describe(choice: number): { thread: number; where: string; what: string } {
    const thread = Math.floor(choice / CHOICES);
    const kind = choice - thread * CHOICES;
    const where = this.#where(thread);
    if (kind === KILL) return { thread, where, what: 'is killed' };
    if (kind === CUT) return { thread, where, what: 'is cut short' };
    if (kind === TIME_OUT) return { thread, where, what: 'times out' };
    if (this.machine.status(thread) === PENDING) return { thread, where, what: accessText(this, thread) };
    const [access, address, value] = [HOST, HOST_ADDRESS, HOST_VALUE].map((word) => this.get(thread, word));
    return { thread, where, what: hostText(this, access, address, value) };
  }

  #where(t: number): string {
    return whereIs(this.machine, t, this.#op(t)?.text);
  }
}
