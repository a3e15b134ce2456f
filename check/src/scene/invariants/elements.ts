/**
 * The invariants of elements and of the cells that name them:
 * - Only the thread that owns an element stores to the element.
 * - Only the owner of the element in a cell clears the cell.
 * - An element that goes back to the pool, or to its owner, has the next epoch.
 * - At the end nothing is left behind.
 */
import * as engine from '../../engine/machine/machine.js';
import { Violation } from '../../engine/search/violation.js';
import type { Ghosts } from '../ghosts.js';
import * as layout from '../layout.js';
import type { Arena } from '../set-up.js';
import { nameAt, valueAt } from '../trace-text.js';
import { lifeOf } from './lives.js';

const { STORE } = engine;
const { ALIVE, TOMBSTONE, ATTACHED, B_CELLS, B_EXTENT, B_PARKED, CLAIMED, DEAD_LIFE, E_CELLS, E_REQUEST } = layout;
const { ELEMENT_SIZE, IDLE, BORROWED, LIFE_STATE, LINE, MERGING, RESERVED, STATE_MASK } = layout;
const { C_CHANNEL_HEAD, C_DUE_HEAD, C_HEAD, TRIMMER_SHIFT } = layout;
const AWAKE = layout.constant('AWAKE');

/** Checks each write to the waiting array and the pool, and records the owners of the elements. */
export class ElementGuard {
  readonly #arena: Arena;
  readonly #ghosts: Ghosts;

  constructor(arena: Arena, ghosts: Ghosts) {
    this.#arena = arena;
    this.#ghosts = ghosts;
  }

  /** Performs the pending access of t, and checks that t may make it. */
  step(t: number): void {
    const { machine, regions } = this.#arena;
    const { buckets, elements, end } = regions;
    const address = machine.pendingAddress(t);
    const store = machine.pendingKind(t) === STORE;
    if (address < buckets || address >= end || !machine.pendingIsWrite(t)) {
      machine.step(t);
      return;
    }
    const before = machine.words[address >> 2];
    if (address < elements) {
      const cell = (address - buckets) % LINE >= B_CELLS;
      if (store && cell && before !== 0 && !this.#inherits(this.#ghosts.elementOwner(before - 1), t)) {
        throw new Violation(
          `thread ${t} clears ${nameAt(this.#arena, address)}, in which element ${before - 1} of another stands`,
        );
      }
      machine.step(t);
      return;
    }
    const e = Math.floor((address - elements) / ELEMENT_SIZE);
    const isState = (address - elements) % ELEMENT_SIZE === 0;
    // A borrowed element is a queue node of a lock, and the algorithm of the lock decides which thread may write it.
    const borrowed = (machine.words[(elements + e * ELEMENT_SIZE) >> 2] & STATE_MASK) === BORROWED;
    if (store && !borrowed && !this.#inherits(this.#ghosts.elementOwner(e), t)) {
      throw new Violation(`thread ${t} stores to ${nameAt(this.#arena, address)}, which is not its own`);
    }
    const word = address >> 2;
    machine.step(t);
    if (!isState) return;
    const after = machine.words[word];
    if (after === before) return;
    const is = after & STATE_MASK;
    this.#checkEpoch(elements + e * ELEMENT_SIZE, before, after, store);
    // A tombstone has no owner until a thread claims it or merges another into it.
    if (is === IDLE || is === TOMBSTONE) this.#ghosts.setElementOwner(e, 0);
    else if (!store && (is === RESERVED || is === CLAIMED || is === MERGING)) this.#ghosts.setElementOwner(e, t + 1);
  }

  /** Says whether t may change what `owner` owns: `owner` is t itself, or a thread that was declared dead. */
  #inherits(owner: number, t: number): boolean {
    return owner === t + 1 || (owner > 0 && (lifeOf(this.#arena, owner - 1) & LIFE_STATE) === DEAD_LIFE);
  }

  /**
   * Checks how the epoch of an element changes. The epoch must rise by 1 when the element goes back to the pool or to
   * its owner, or when a run is taken out of the array. So an exchange that expects the earlier state fails. At any
   * other change of the state, the epoch may rise by 1 or stay.
   */
  #checkEpoch(element: number, before: number, after: number, store: boolean): void {
    const { words } = this.#arena.machine;
    const [was, is] = [before & STATE_MASK, after & STATE_MASK];
    const moved = (after >>> 4) - (before >>> 4);
    const request = (element + E_REQUEST) >> 2;
    if (is === IDLE && (words[request] | words[request + 1]) !== 0)
      throw new Violation(`${nameAt(this.#arena, element)} is given back, and says whose it is`);
    const ends = is === IDLE || (is === RESERVED && store) || (is === AWAKE && was !== RESERVED);
    if (moved !== 1 && (ends || moved !== 0))
      throw new Violation(`the epoch of ${nameAt(this.#arena, element)} goes from ${before >>> 4} to ${after >>> 4}`);
  }
}

/**
 * Checks an end at which nobody waits:
 * - Every element is idle, a spare or a tombstone.
 * - Every cell that is not empty names a tombstone.
 * - Only tombstones name cells. If another element did, its next owner would clear these cells.
 * - Nobody counts as parked.
 */
export function checkElements(arena: Arena, spares: ReadonlySet<number>, filler: number): void {
  checkPool(arena, spares);
  checkLines(arena, filler);
}

function checkPool(arena: Arena, spares: ReadonlySet<number>): void {
  const { elements, end } = arena.regions;
  const { words } = arena.machine;
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    const state = words[e >> 2] & STATE_MASK;
    if (![IDLE, TOMBSTONE, ATTACHED, BORROWED].includes(state) && !spares.has(e)) {
      throw new Violation(`${nameAt(arena, e)} is ${valueAt(arena, e, 8)} at the end, and nobody's spare`);
    }
    const request = words[(e + E_REQUEST) >> 2] | words[(e + E_REQUEST + 4) >> 2];
    if (state === IDLE && request !== 0)
      throw new Violation(`${nameAt(arena, e)} is nobody's, and still somebody's request`);
    const number = (e - elements) / ELEMENT_SIZE + 1;
    const cells = [words[(e + E_CELLS) >> 2], words[(e + E_CELLS + 4) >> 2]].filter((cell) => cell !== 0);
    const stands = cells.length > 0 && cells.every((cell) => words[cell >> 2] === number);
    if (stands !== (state === TOMBSTONE) || (!stands && cells.length > 0))
      throw new Violation(`${nameAt(arena, e)} is ${valueAt(arena, e, 8)}, and names the cells ${cells}`);
  }
}

function checkLines(arena: Arena, filler: number): void {
  const { chains, buckets, elements } = arena.regions;
  const { words } = arena.machine;
  for (let line = chains; line < buckets; line += LINE) {
    for (const head of [C_HEAD, C_DUE_HEAD, C_CHANNEL_HEAD]) {
      if (words[(line + head) >> 2] !== 0) throw new Violation(`${nameAt(arena, line + head)} is not empty at the end`);
    }
  }
  for (let line = buckets; line < elements; line += LINE) {
    const trimmer = words[(line + B_EXTENT) >> 2] >>> TRIMMER_SHIFT;
    if (trimmer !== 0 && (lifeOf(arena, trimmer - 1) & LIFE_STATE) === ALIVE)
      throw new Violation(`${nameAt(arena, line + B_EXTENT)} keeps its trimmer`);
    for (let cell = line + B_CELLS; cell < line + LINE; cell += 4) {
      const number = words[cell >> 2];
      const stands = number !== 0 && number !== filler;
      if (stands && (words[(elements + (number - 1) * ELEMENT_SIZE) >> 2] & STATE_MASK) !== TOMBSTONE)
        throw new Violation(`${nameAt(arena, cell)} is still taken at the end`);
    }
    if (words[(line + B_PARKED) >> 2] !== 0) {
      throw new Violation(`${nameAt(arena, line + B_PARKED)} is not 0 at the end`);
    }
  }
}
