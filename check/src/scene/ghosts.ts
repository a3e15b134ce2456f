/**
 * Ghosts: what the checks keep beside the memory, where the code under test cannot see it. Who holds what, who owns
 * which element, how far each thread is in its program (words.ts), and the hashes of the threads.
 *
 * All of it lies in one ledger, so that it is undone with the step that changed it. All but the hashes of the threads is
 * hashed, since it decides what the checks say later.
 */
import { Ledger } from '../engine/machine/ledger.js';
import * as words from './words.js';

// A constant of this module's own: the engine folds its value into the code, but looks up what is imported.
const { WORDS } = words;

export const MOST_SEMAPHORES = 2;
export const MOST_ELEMENTS = 24;

export class Ghosts {
  /** Whether anything was set since this was set to false. */
  touched = false;
  readonly #ledger: Ledger;
  /** Where the words of the semaphores begin, behind those of the threads. */
  readonly #semaphores: number;
  /** Where the owners of the elements begin. */
  readonly #owners: number;
  readonly #deaths: number;
  /** Where the hashes of the threads begin, two words each. */
  readonly #hashes: number;

  constructor(threads: number) {
    this.#semaphores = threads * WORDS;
    this.#owners = this.#semaphores + 4 * MOST_SEMAPHORES;
    this.#deaths = this.#owners + MOST_ELEMENTS;
    this.#hashes = this.#deaths + 1;
    this.#ledger = new Ledger(this.#hashes + 2 * threads, this.#hashes);
  }

  /** A word of a thread's (words.ts). */
  get(t: number, word: number): number {
    return this.#ledger.get(t * WORDS + word);
  }

  set(t: number, word: number, value: number): void {
    this.touched = true;
    this.#ledger.set(t * WORDS + word, value);
  }

  /** The permits of a semaphore that threads hold. */
  held(semaphore: number): number {
    return this.#ledger.get(this.#semaphores + semaphore);
  }

  setHeld(semaphore: number, value: number): void {
    this.touched = true;
    this.#ledger.set(this.#semaphores + semaphore, value);
  }

  /** The permits that were made of a semaphore. */
  made(semaphore: number): number {
    return this.#ledger.get(this.#semaphores + MOST_SEMAPHORES + semaphore);
  }

  setMade(semaphore: number, value: number): void {
    this.touched = true;
    this.#ledger.set(this.#semaphores + MOST_SEMAPHORES + semaphore, value);
  }

  /** The low word of grant when that was closed; what is disposed of in models does not wrap. */
  grantAtClose(semaphore: number): number {
    return this.#ledger.get(this.#semaphores + 2 * MOST_SEMAPHORES + semaphore);
  }

  setGrantAtClose(semaphore: number, value: number): void {
    this.touched = true;
    this.#ledger.set(this.#semaphores + 2 * MOST_SEMAPHORES + semaphore, value);
  }

  /** How many have died with permits of a robust semaphore. */
  ownersDied(semaphore: number): number {
    return this.#ledger.get(this.#semaphores + 3 * MOST_SEMAPHORES + semaphore);
  }

  ownerDies(semaphore: number): void {
    this.#ledger.set(this.#semaphores + 3 * MOST_SEMAPHORES + semaphore, this.ownersDied(semaphore) + 1);
  }

  /** The number + 1 of the thread that owns an element, or 0. */
  elementOwner(e: number): number {
    return this.#ledger.get(this.#owners + e);
  }

  setElementOwner(e: number, owner: number): void {
    this.touched = true;
    this.#ledger.set(this.#owners + e, owner);
  }

  /** How many threads have died. */
  get deaths(): number {
    return this.#ledger.get(this.#deaths);
  }

  countDeath(): void {
    this.#ledger.set(this.#deaths, this.deaths + 1);
  }

  threadHashLo(t: number): number {
    return this.#ledger.get(this.#hashes + 2 * t);
  }

  threadHashHi(t: number): number {
    return this.#ledger.get(this.#hashes + 2 * t + 1);
  }

  setThreadHash(t: number, lo: number, hi: number): void {
    this.#ledger.set(this.#hashes + 2 * t, lo);
    this.#ledger.set(this.#hashes + 2 * t + 1, hi);
  }

  get hashLo(): number {
    return this.#ledger.hashLo;
  }

  get hashHi(): number {
    return this.#ledger.hashHi;
  }

  mark(): number {
    return this.#ledger.mark();
  }

  undo(mark: number): void {
    this.#ledger.undo(mark);
  }
}
