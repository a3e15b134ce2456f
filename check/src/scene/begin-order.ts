/**
 * The order in which threads begin that do the same: that of their numbers, so that one order stands for all.
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
import type { Scene } from './scene.js';
import * as words from './words.js';

const { BEGUN } = words;

export class BeginOrder {
  readonly #scene: Scene;
  /** Of each thread, what it does; empty if all differ. */
  readonly #alike: readonly string[];
  /** Globals that say where threads look for a free element, object and name. */
  readonly #looks: readonly number[];
  /** Their values when the order was set. */
  readonly #hints: number[] = [];
  /** The thread that must have begun before t may, or -1. */
  readonly #before: number[] = [];
  /** Whether threads begin in order. */
  #kept = false;

  /** `alike` says of each thread what it does, if some do the same. */
  constructor(scene: Scene, alike: readonly string[] | undefined, looks: readonly number[]) {
    this.#scene = scene;
    this.#alike = alike !== undefined && new Set(alike).size < alike.length ? alike : [];
    this.#looks = looks;
  }

  /** In the order of their numbers: 1, in any: 0, in the reverse order: -1. */
  set(order: 1 | 0 | -1): void {
    const { threads, machine } = this.#scene;
    this.#kept = this.#alike.length > 0 && order !== 0;
    this.#before.length = 0;
    this.#hints.length = 0;
    for (let t = 0; t < threads; t++) {
      let u = this.#kept ? t - order : t;
      while (u !== t && u >= 0 && u < threads && this.#alike[u] !== this.#alike[t]) u -= order;
      this.#before.push(u === t || u >= threads ? -1 : u);
      for (const look of this.#looks) this.#hints.push(machine.get(t, look));
    }
  }

  /** Whether the order is kept, and a thread has given an element, object or name back or looked for one. */
  distinguishes(): boolean {
    if (!this.#kept) return false;
    const { threads, machine } = this.#scene;
    let i = 0;
    for (let t = 0; t < threads; t++) {
      for (const look of this.#looks) if (machine.get(t, look) !== this.#hints[i++]) return true;
    }
    return false;
  }

  /** Whether t need not wait with its next access until another has begun. */
  mayMove(t: number): boolean {
    const u = this.#before[t];
    const scene = this.#scene;
    if (u < 0 || scene.get(t, BEGUN) === 1 || scene.get(u, BEGUN) === 1) return true;
    return scene.finished(u) || !this.#begins(t);
  }

  /** Notes, before t performs its next access, whether it begins with that. */
  note(t: number): void {
    if (this.#kept && this.#scene.get(t, BEGUN) === 0 && this.#begins(t)) this.#scene.set(t, BEGUN, 1);
  }

  /** Whether the next access of t is a write to a word that is nobody's own. */
  #begins(t: number): boolean {
    if (!this.#scene.pendingIsWrite(t)) return false;
    const address = this.#scene.accessed(t);
    const { threads, chains, elements } = this.#scene.regions;
    return address < threads || (address >= chains && address < elements);
  }
}
