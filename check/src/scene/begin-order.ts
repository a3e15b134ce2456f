/**
 * Lets threads that run the same program begin in the order of their numbers, so that one order stands for all orders.
 *
 * A thread begins with its first write to a word that is neither in a thread's record nor in an element.
 *
 * Why one order is enough: two threads of the same program differ only in their records and elements. The code only
 * copies the addresses and numbers of these, compares them for equality and follows them. So if two threads exchange
 * their names, records and elements, an execution turns into another execution. Each execution can be renamed in this
 * way until its threads begin in order, and those that never begin come last. So no fault is missed.
 *
 * There are two exceptions. The look for a free element goes by the order of the pool (see `distinguishes`). Dispose
 * and reap go by this order too, so a model with these must not give `symmetric`.
 *
 * In some models, a state may also seem to have no way to the end, only because a thread would have to begin out of
 * order. The search then reports a violation that `--no-reduce` does not find. Such a model must not give `symmetric`
 * either.
 */
import type { Scene } from './scene.js';
import * as words from './words.js';

const { BEGUN } = words;

export class BeginOrder {
  readonly #scene: Scene;
  /** A text for each thread: threads with the same text run the same program. Empty if all threads differ. */
  readonly #symmetric: readonly string[];
  /** The globals that say where threads look for a free element, object and name. */
  readonly #looks: readonly number[];
  /** The values of these globals when the order was set. */
  readonly #hints: number[] = [];
  /** For each thread t: the thread that must have begun before t may begin, or -1. */
  readonly #before: number[] = [];
  /** Whether threads begin in order. */
  #kept = false;

  /** `symmetric` has a text for each thread: threads with the same text run the same program. */
  constructor(scene: Scene, symmetric: readonly string[] | undefined, looks: readonly number[]) {
    this.#scene = scene;
    this.#symmetric = symmetric !== undefined && new Set(symmetric).size < symmetric.length ? symmetric : [];
    this.#looks = looks;
  }

  /** Sets the order in which threads begin: that of their numbers (1), any (0), or the reverse order (-1). */
  set(order: 1 | 0 | -1): void {
    const { threads, machine } = this.#scene;
    this.#kept = this.#symmetric.length > 0 && order !== 0;
    this.#before.length = 0;
    this.#hints.length = 0;
    for (let t = 0; t < threads; t++) {
      let u = this.#kept ? t - order : t;
      while (u !== t && u >= 0 && u < threads && this.#symmetric[u] !== this.#symmetric[t]) u -= order;
      this.#before.push(u === t || u >= threads ? -1 : u);
      for (const look of this.#looks) this.#hints.push(machine.get(t, look));
    }
  }

  /**
   * Says whether the threads are not symmetric, although they have to begin in order: a thread has looked for a free
   * element, object or name since the order was set, or has given one back.
   */
  distinguishes(): boolean {
    if (!this.#kept) return false;
    const { threads, machine } = this.#scene;
    let i = 0;
    for (let t = 0; t < threads; t++) {
      for (const look of this.#looks) if (machine.get(t, look) !== this.#hints[i++]) return true;
    }
    return false;
  }

  /** Says whether t may make its next access before any other thread begins. */
  mayMove(t: number): boolean {
    const u = this.#before[t];
    const scene = this.#scene;
    if (u < 0 || scene.get(t, BEGUN) === 1 || scene.get(u, BEGUN) === 1) return true;
    return scene.finished(u) || !this.#begins(t);
  }

  /** Notes whether t begins with its next access, which it is about to perform. */
  note(t: number): void {
    if (this.#kept && this.#scene.get(t, BEGUN) === 0 && this.#begins(t)) this.#scene.set(t, BEGUN, 1);
  }

  /** Says whether the next access of t is a write to a word that is in no record and no element. */
  #begins(t: number): boolean {
    if (!this.#scene.pendingIsWrite(t)) return false;
    const address = this.#scene.accessed(t);
    const { threads, chains, elements } = this.#scene.regions;
    return address < threads || (address >= chains && address < elements);
  }
}
