/**
 * The invariants of permits:
 * - No more permits are held than were made.
 * - A request is admitted only if it is due.
 * - At the end, `grant - ticket` is the number of permits that were made, less those that are held, waited for, kept by
 *   tombstones, or taken back by `reduce`.
 */
import * as engine from '../../engine/machine/machine.js';
import { Violation } from '../../engine/search/violation.js';
import type { Ghosts } from '../ghosts.js';
import { GRANT, O_TAKEN, TICKET } from '../layout.js';
import type { Arena } from '../set-up.js';
import * as words from '../words.js';

const { CMPXCHG, RMW, STORE } = engine;
const { GIVING, TAKEN } = words;

/** The value of GIVING while the thread is in a call of a counter. `releasing` and `reducing` write other values. */
const HANDING = 1 << 11;
/** In GIVING: the thread looks for room before it gives the permits. */
const LOOKING = 1 << 12;
/** In GIVING: the thread gives the permits when it raises grant, and before that it may give nothing. */
const TO_OWN = 1 << 13;
/** If an object has been closed, its grant lies at least this far behind its ticket. */
const CLOSED = 2 ** 60;

export class Permits {
  readonly #arena: Arena;
  readonly #ghosts: Ghosts;
  /** Addresses of the model's semaphores. */
  readonly #semaphores: readonly number[];

  constructor(arena: Arena, ghosts: Ghosts, semaphores: readonly number[]) {
    this.#arena = arena;
    this.#ghosts = ghosts;
    this.#semaphores = semaphores;
  }

  /** Returns grant - ticket number, exact up to 2^52. */
  grantMinus(semaphore: number, lo: number, hi: number): number {
    return this.#difference(this.#semaphores[semaphore] + GRANT, lo, hi);
  }

  /** Returns grant - ticket. A sequestered semaphore counts its tickets in O_TAKEN, where other semaphores have 0. */
  #free(semaphore: number): number {
    const { words } = this.#arena.machine;
    const ticket = (this.#semaphores[semaphore] + TICKET) >> 2;
    const taken = words[(this.#semaphores[semaphore] + O_TAKEN) >> 2];
    return this.grantMinus(semaphore, words[ticket], words[ticket + 1]) - taken;
  }

  /** Says whether the semaphore has been disposed of. */
  closed(semaphore: number): boolean {
    return this.#free(semaphore) < -CLOSED;
  }

  /** Records that thread t is admitted with `width` permits from this ticket on. Throws if t may not be admitted. */
  admitted(t: number, semaphore: number, width: number, ticketLo: number, ticketHi: number): void {
    const ghosts = this.#ghosts;
    let behind = this.grantMinus(semaphore, ticketLo, ticketHi) - width;
    // A request that was due before a dispose may be admitted after the dispose.
    if (this.closed(semaphore)) behind = ghosts.grantAtClose(semaphore) - (ticketLo + width);
    if (behind < 0) {
      throw new Violation(
        `thread ${t} is admitted out of turn: ${-behind} more must be granted before its tickets are due`,
      );
    }
    const held = ghosts.held(semaphore) + width;
    if (held > ghosts.made(semaphore)) {
      throw new Violation(`thread ${t} is admitted with ${width}: ${held} permits out, ${ghosts.made(semaphore)} made`);
    }
    ghosts.setHeld(semaphore, held);
  }

  /**
   * Notes that t gives `width` permits, below 256, to the semaphore with its next access. With `own`, t holds these
   * permits. Otherwise t makes new permits.
   */
  releasing(t: number, semaphore: number, width: number, own: boolean, looks: boolean): void {
    if (width > 0xff) throw new Error(`a model releases at most 255 permits at once, got ${width}`);
    this.#ghosts.setWord(t, GIVING, width | (semaphore << 8) | (own ? 1 << 9 : 0) | (looks ? LOOKING : 0));
  }

  /** As `releasing`, for a call that gives the permits to a promise of t if it can, and else does nothing. */
  releasingToOwn(t: number, semaphore: number, width: number, own: boolean): void {
    this.releasing(t, semaphore, width, own, false);
    this.#ghosts.setWord(t, GIVING, this.#ghosts.word(t, GIVING) | TO_OWN);
  }

  /** Notes that t gives nothing, because there is no room. */
  refused(t: number): void {
    this.#ghosts.setWord(t, GIVING, 0);
  }

  /** Notes that t takes `width` permits, below 256, away for good with its next access. */
  reducing(t: number, semaphore: number, width: number): void {
    this.#ghosts.setWord(t, GIVING, width | (semaphore << 8) | (1 << 10));
  }

  /** Notes whether t is in a call of a counter. The first permits that it adds to grant in this call are new ones. */
  handing(t: number, isHanding: boolean): void {
    this.#ghosts.setWord(t, GIVING, isHanding ? HANDING : 0);
  }

  /** Performs what `releasing` or `reducing` has noted. */
  give(t: number): void {
    const ghosts = this.#ghosts;
    const giving = ghosts.word(t, GIVING);
    if (giving === 0 || giving === HANDING) return;
    if ((giving & LOOKING) !== 0 && !this.#arena.machine.pendingIsWrite(t)) return;
    if ((giving & TO_OWN) === 0) this.#give(t, giving);
  }

  #give(t: number, giving: number): void {
    const ghosts = this.#ghosts;
    ghosts.setWord(t, GIVING, 0);
    const semaphore = (giving >> 8) & 1;
    const width = giving & 0xff;
    if ((giving >> 10) & 1) ghosts.setReduced(semaphore, ghosts.reduced(semaphore) + width);
    else if ((giving >> 9) & 1) ghosts.setHeld(semaphore, ghosts.held(semaphore) - width);
    else ghosts.setMade(semaphore, ghosts.made(semaphore) + width);
  }

  /** Returns how many permits that the thread holds it is about to give back to the semaphore. */
  givingBack(t: number, semaphore: number): number {
    const giving = this.#ghosts.word(t, GIVING);
    return (giving & ~TO_OWN) >> 9 === 1 && ((giving >> 8) & 1) === semaphore ? giving & 0xff : 0;
  }

  /**
   * Notes what a write to an object means. If thread t takes a ticket, the ticket is noted. If t closes the object, the
   * last value of grant is kept. `lo` and `hi` are the word before the write.
   *
   * @returns whether the model's own checks are to look at the write
   */
  wrote(t: number, kind: number, address: number, lo: number, hi: number): boolean {
    const apart = this.#semaphores.find((s) => address === s + O_TAKEN);
    if (apart !== undefined) {
      this.#took(t, apart, lo);
      return false;
    }
    const semaphore = this.#semaphores.findIndex((s) => address === s + TICKET || address === s + GRANT);
    if (semaphore < 0) return true;
    if (address === this.#semaphores[semaphore] + GRANT) {
      const more = this.#difference(address, lo, hi);
      const giving = this.#ghosts.word(t, GIVING);
      if ((giving & TO_OWN) !== 0 && more > 0) this.#give(t, giving);
      if (kind === STORE && more <= -CLOSED) this.#ghosts.setGrantAtClose(semaphore, lo);
      if (kind === RMW && this.#ghosts.word(t, GIVING) === HANDING) {
        this.#ghosts.setWord(t, GIVING, 0);
        this.#ghosts.setMade(semaphore, this.#ghosts.made(semaphore) + more);
      }
      return false;
    }
    if ((kind !== RMW && kind !== CMPXCHG) || this.#difference(address, lo, hi) <= 0) return false;
    this.#ghosts.setWord(t, TAKEN, lo);
    this.#ghosts.setWord(t, TAKEN + 1, hi);
    return true;
  }

  /** Notes the ticket that thread t takes of a sequestered semaphore. `taken` tickets were taken before. */
  #took(t: number, s: number, taken: number): void {
    const { words } = this.#arena.machine;
    const low = (words[(s + TICKET) >> 2] >>> 0) + taken;
    this.#ghosts.setWord(t, TAKEN, low | 0);
    this.#ghosts.setWord(t, TAKEN + 1, words[(s + TICKET + 4) >> 2] + (low >= 2 ** 32 ? 1 : 0));
  }

  /** Checks, at the end, that no permit is lost or made. `waiting` and `tombstones` are the sums of their widths. */
  checkConserved(semaphore: number, waiting: number, tombstones: number): void {
    if (this.closed(semaphore)) {
      if (tombstones > 0) throw new Violation('a closed semaphore has a tombstone, which nobody can pass');
      return;
    }
    const free = this.#free(semaphore);
    const made = this.#ghosts.made(semaphore) - this.#ghosts.reduced(semaphore);
    const expected = made - this.#ghosts.held(semaphore) - waiting - tombstones;
    if (free !== expected)
      throw new Violation(`permits are not conserved: grant - ticket is ${free}, and should be ${expected}`);
  }

  /** Returns how far a counter of 64 bits is above a number. */
  #difference(address: number, lo: number, hi: number): number {
    const { words } = this.#arena.machine;
    const aLo = words[address >> 2];
    const aHi = words[(address >> 2) + 1];
    const low = (aLo >>> 0) - (lo >>> 0);
    const high = (aHi - hi - (low < 0 ? 1 : 0)) | 0;
    return high * 4294967296 + (low < 0 ? low + 4294967296 : low);
  }
}
