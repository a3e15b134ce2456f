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

export class Ghosts extends Ledger {
  /** Whether anything was set since this was set to false. */
  touched = false;
  /** Where the words of the semaphores begin, behind those of the threads. */
  readonly #semaphores: number;
  /** Where the owners of the elements begin. */
  readonly #owners: number;
  readonly #deaths: number;
  /** Where the hashes of the threads begin, two words each. */
  readonly #hashes: number;

  constructor(threads: number) {
    const semaphores = threads * WORDS;
    const owners = semaphores + 4 * MOST_SEMAPHORES;
    const deaths = owners + MOST_ELEMENTS;
    const hashes = deaths + 1;
    super(hashes + 2 * threads, hashes);
    this.#semaphores = semaphores;
    this.#owners = owners;
    this.#deaths = deaths;
    this.#hashes = hashes;
  }

  /** A word of a thread's (words.ts). */
  word(t: number, word: number): number {
    return this.get(t * WORDS + word);
  }

  setWord(t: number, word: number, value: number): void {
    this.touched = true;
    this.set(t * WORDS + word, value);
  }

  /** The permits of a semaphore that threads hold. */
  held(semaphore: number): number {
    return this.get(this.#semaphores + semaphore);
  }

  setHeld(semaphore: number, value: number): void {
    this.touched = true;
    this.set(this.#semaphores + semaphore, value);
  }

  /** The permits that were made of a semaphore. */
  made(semaphore: number): number {
    return this.get(this.#semaphores + MOST_SEMAPHORES + semaphore);
  }

  setMade(semaphore: number, value: number): void {
    this.touched = true;
    this.set(this.#semaphores + MOST_SEMAPHORES + semaphore, value);
  }

  /** The low word of grant when that was closed; what is disposed of in models does not wrap. */
  grantAtClose(semaphore: number): number {
    return this.get(this.#semaphores + 2 * MOST_SEMAPHORES + semaphore);
  }

  setGrantAtClose(semaphore: number, value: number): void {
    this.touched = true;
    this.set(this.#semaphores + 2 * MOST_SEMAPHORES + semaphore, value);
  }

  /** How many have died with permits of a robust semaphore. */
  ownersDied(semaphore: number): number {
    return this.get(this.#semaphores + 3 * MOST_SEMAPHORES + semaphore);
  }

  ownerDies(semaphore: number): void {
    this.set(this.#semaphores + 3 * MOST_SEMAPHORES + semaphore, this.ownersDied(semaphore) + 1);
  }

  /** The number + 1 of the thread that owns an element, or 0. */
  elementOwner(e: number): number {
    return this.get(this.#owners + e);
  }

  setElementOwner(e: number, owner: number): void {
    this.touched = true;
    this.set(this.#owners + e, owner);
  }

  /** How many threads have died. */
  get deaths(): number {
    return this.get(this.#deaths);
  }

  countDeath(): void {
    this.set(this.#deaths, this.deaths + 1);
  }

  threadHashLo(t: number): number {
    return this.get(this.#hashes + 2 * t);
  }

  threadHashHi(t: number): number {
    return this.get(this.#hashes + 2 * t + 1);
  }

  setThreadHash(t: number, lo: number, hi: number): void {
    this.set(this.#hashes + 2 * t, lo);
    this.set(this.#hashes + 2 * t + 1, hi);
  }
}
