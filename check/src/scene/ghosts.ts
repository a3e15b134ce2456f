/**
 * Ghosts are what the checks keep beside the memory, where the code under test cannot see it: the permits that threads
 * hold, the owners of elements, the place of each thread in its program (words.ts), the threads' hashes.
 *
 * One ledger has all ghosts, so undoing a step also undoes what the step changed in the ghosts. Later verdicts of the
 * checks depend on the ghosts. So the hash of a state covers the ghosts, but not the hashes of the threads and the
 * notes that the ledger also has.
 */
import { Ledger } from '../engine/machine/ledger.js';
import * as words from './words.js';

// V8 folds the value of this local constant into the code, but looks up imported names at each use.
const { WORDS } = words;

export const MOST_SEMAPHORES = 2;
export const MOST_ELEMENTS = 24;
/** The most notes, besides one note for each thread. */
const MOST_NOTES = 3;

export class Ghosts extends Ledger {
  /** Whether a word has been set since `touched` was set to false. */
  touched = false;
  /** The index of the first word of the semaphores, which follow the threads. */
  readonly #semaphores: number;
  /** The index of the first owner of an element. */
  readonly #owners: number;
  readonly #deaths: number;
  readonly #cuts: number;
  /** The index of the first hash of a thread. Each hash has two words. The notes follow the hashes. */
  readonly #hashes: number;
  readonly #notes: number;

  constructor(threads: number) {
    const semaphores = threads * WORDS;
    const owners = semaphores + 5 * MOST_SEMAPHORES;
    const deaths = owners + MOST_ELEMENTS;
    const cuts = deaths + 1;
    const hashes = cuts + 1;
    super(hashes + 3 * threads + MOST_NOTES, hashes);
    this.#semaphores = semaphores;
    this.#owners = owners;
    this.#deaths = deaths;
    this.#cuts = cuts;
    this.#hashes = hashes;
    this.#notes = hashes + 2 * threads;
  }

  /** Returns a word of a thread (words.ts). */
  word(t: number, word: number): number {
    return this.get(t * WORDS + word);
  }

  setWord(t: number, word: number, value: number): void {
    this.touched = true;
    this.set(t * WORDS + word, value);
  }

  /** Returns how many permits of a semaphore threads hold. */
  held(semaphore: number): number {
    return this.get(this.#semaphores + semaphore);
  }

  setHeld(semaphore: number, value: number): void {
    this.touched = true;
    this.set(this.#semaphores + semaphore, value);
  }

  /** Returns how many permits of a semaphore were made. */
  made(semaphore: number): number {
    return this.get(this.#semaphores + MOST_SEMAPHORES + semaphore);
  }

  setMade(semaphore: number, value: number): void {
    this.touched = true;
    this.set(this.#semaphores + MOST_SEMAPHORES + semaphore, value);
  }

  /** Returns the low word of grant at the time when it was closed. In models that dispose, grant does not wrap. */
  grantAtClose(semaphore: number): number {
    return this.get(this.#semaphores + 2 * MOST_SEMAPHORES + semaphore);
  }

  setGrantAtClose(semaphore: number, value: number): void {
    this.touched = true;
    this.set(this.#semaphores + 2 * MOST_SEMAPHORES + semaphore, value);
  }

  /** Returns how many threads have died with permits of a robust semaphore. */
  ownersDied(semaphore: number): number {
    return this.get(this.#semaphores + 3 * MOST_SEMAPHORES + semaphore);
  }

  ownerDies(semaphore: number): void {
    this.set(this.#semaphores + 3 * MOST_SEMAPHORES + semaphore, this.ownersDied(semaphore) + 1);
  }

  /** Returns how many tickets of a semaphore `reduce` has taken. No request stands for these tickets. */
  reduced(semaphore: number): number {
    return this.get(this.#semaphores + 4 * MOST_SEMAPHORES + semaphore);
  }

  setReduced(semaphore: number, value: number): void {
    this.touched = true;
    this.set(this.#semaphores + 4 * MOST_SEMAPHORES + semaphore, value);
  }

  /** Returns the number + 1 of the thread that owns an element, or 0. */
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

  /** How many calls have been cut short. */
  get cuts(): number {
    return this.get(this.#cuts);
  }

  countCut(): void {
    this.touched = true;
    this.set(this.#cuts, this.cuts + 1);
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

  /** Returns a word that is not hashed. */
  note(n: number): number {
    return this.get(this.#notes + n);
  }

  setNote(n: number, value: number): void {
    this.set(this.#notes + n, value);
  }
}
