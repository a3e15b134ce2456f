/**
 * The search of every interleaving: depth first, each state once, undoing on the way back.
 *
 * Deadlock and everything that the scene checks are found where they happen. That from every state the end
 * can be reached is found by strongly connected components (Tarjan): when one is complete and no edge leaves
 * it towards an end, whoever is in it goes round for ever. So spin loops and lost wake-ups both show.
 *
 * Reduction. A thread's next access is local if nobody else will, from where it is in its program, access the same
 * word, or, where the access only reads, write it. Such a step commutes with all that the others can do, so it alone is
 * tried: a persistent set of one thread. What the others will do is not known beforehand, so it is assumed to be what
 * they have been seen to do, by word and operation, and each access is checked against that; one that proves the
 * assumption wrong, of a word that has been relied on, is noted, and the search begun anew. So a search that comes to its
 * end has proved its own assumption: the first conflict in any execution left out would, moved to the front of the local
 * steps before it, be in one that was searched.
 * A local step that closes a cycle is expanded in full, so that no thread is put off for ever; and so is one
 * after which the driver or the ghosts have changed, since the checks would take notice of it.
 * Besides, threads that do the same begin in one order only: Scene.symmetry.
 */

import * as status from '../machine/status.js';
import { GRANT, TICKET } from '../scene/layout.js';
import { isFinding, type Model, type Scene } from '../scene/scene.js';
import * as words from '../scene/words.js';
import { StateTable } from './table.js';
import { walk } from './walk.js';

const { CHOICES, HOST_ADDRESS, KILL, OP, STEP } = words;
const { DEAD, PENDING } = status;

export interface SearchOptions {
  /** Default true. */
  readonly reduce?: boolean;
  /** In which order threads that are alike begin (Scene.symmetry); default 1. */
  readonly symmetry?: 1 | 0 | -1;
  /** Switches away from a thread that could go on, at most; none by default. The result is then bounded. */
  readonly preemptions?: number;
  /** Gives up after so many states or milliseconds; the result is then bounded. */
  readonly states?: number;
  readonly milliseconds?: number;
}

/** How a model of the table is searched. */
export function boundsOf({ preemptions }: Model, milliseconds: number): SearchOptions {
  return preemptions === undefined ? { milliseconds } : { milliseconds, preemptions };
}

/** What is wrong, and how to get there. */
export interface Finding {
  readonly message: string;
  readonly schedule: readonly number[];
}

export interface SearchResult {
  readonly states: number;
  readonly steps: number;
  /** Steps besides of what was begun anew. */
  readonly inVain?: number;
  readonly seconds: number;
  /** Whether every state was visited. */
  readonly exhaustive: boolean;
  /** The same, within the bound on preemptions if there is one. */
  readonly complete: boolean;
  readonly violation?: Finding;
  /** How many steps ended a wait that had to get off a chain, by the way it took: 1 to 4 by index. */
  readonly recoveries?: readonly number[];
}

/**
 * Which words may still be accessed by whom: of each thread and word of 8 bytes, the last operation of its program that
 * has ever been seen to access it, and to write it.
 */
class Sharing {
  readonly #words: number;
  /** By thread and word: number of the operation + 1. */
  readonly #accessed: Uint8Array;
  readonly #written: Uint8Array;
  /** Whether an access to the word has been taken for local. */
  readonly #relied: Uint8Array;
  /** Never local. */
  readonly #visible: Uint8Array;

  constructor(scene: Scene) {
    this.#words = (scene.machine.words.length >> 1) + 1;
    this.#accessed = new Uint8Array(scene.threads * this.#words);
    this.#written = new Uint8Array(scene.threads * this.#words);
    this.#relied = new Uint8Array(this.#words);
    this.#visible = new Uint8Array(this.#words);
    // The checks read these words too, so an access to one of them is never invisible.
    for (const address of scene.semaphores) {
      this.#visible[(address + TICKET) >>> 3] = 1;
      this.#visible[(address + GRANT) >>> 3] = 1;
    }
    for (const address of scene.watched) this.#visible[address >>> 3] = 1;
  }

  /** Notes the access that a choice is about to make. True if one has been taken for local, and may not have been. */
  note(scene: Scene, choice: number): boolean {
    if (choice % CHOICES !== STEP) return false;
    const t = Math.floor(choice / CHOICES);
    if (scene.silent(t)) return false;
    const move = scene.pendingWord(t);
    const pending = scene.machine.status(t) === PENDING;
    // A wait of the host reads too.
    const word =
      move < 0 ? (pending ? scene.machine.pendingAddress(t) : scene.get(t, HOST_ADDRESS)) >>> 3 : move;
    const write = move >= 0 && scene.pendingIsWrite(t);
    const op = scene.get(t, OP) + 1;
    const i = t * this.#words + word;
    const more = this.#accessed[i] < op || (write && this.#written[i] < op);
    if (!more) return false;
    if (this.#accessed[i] < op) this.#accessed[i] = op;
    if (write) this.#written[i] = op;
    return this.#relied[word] === 1;
  }

  /** Whether nobody else will ever do, from where it is now, what does not commute with the next access of t. */
  isLocal(scene: Scene, t: number): boolean {
    const word = scene.pendingWord(t);
    if (word < 0 || this.#visible[word] === 1) return false;
    const by = scene.pendingIsWrite(t) ? this.#accessed : this.#written;
    for (let u = 0; u < scene.threads; u++) {
      if (u === t || by[u * this.#words + word] <= scene.get(u, OP)) continue;
      if (scene.machine.status(u) !== DEAD && !scene.waitsInVain(u)) return false;
    }
    this.#relied[word] = 1;
    return true;
  }
}

const WALKS = 200;
/** Steps of walks for each step of a search that was in vain. */
const WALKED = 0.1;
/** Most states of a search with few preemptions. */
const BOUNDED = 2e6;
/** How much longer a search goes on that is in vain, to find out what else was taken for local, and steps at least. */
const GRACE = 0.5;
const LEAST_GRACE = 20_000;
const CLOCK = 0xffff;

/** Searches the scenes that `make` makes, always the same one, in its first state. */
export function search(make: () => Scene, options: SearchOptions = {}): SearchResult {
  const start = performance.now();
  const scene = make();
  scene.symmetry(options.symmetry ?? 1);
  const sharing = new Sharing(scene);
  const root = scene.machine.mark();
  scene.save(0);
  let inVain = 0;
  let few = 1;
  /** States of searches with few preemptions: no more of them than steps have been in vain. */
  let spent = 0;
  let distinguished = false;
  const back = (): void => {
    distinguished = scene.distinguishes();
    scene.machine.undo(root);
    scene.restore(0);
    if (distinguished) scene.symmetry(0);
    scene.rehash();
  };
  for (let seed = 1; ; ) {
    // Walks find most of what is shared, so that few searches are begun in vain: the more has been in vain, the more
    // of them.
    for (let walked = 0; walked === 0 || walked < inVain * WALKED; seed++) {
      const { steps, violation } = walk(scene, WALKS, seed, (choice) => {
        sharing.note(scene, choice);
        distinguished ||= scene.distinguishes();
      });
      const seconds = (performance.now() - start) / 1000;
      if (violation !== undefined)
        return { states: 0, steps, seconds, exhaustive: false, complete: false, violation };
      walked += steps;
      if (distinguished) scene.symmetry(0);
    }
    scene.rehash();
    // What walks do not come to, few preemptions in the right places may.
    for (let done = false; !done && !distinguished; ) {
      const states = Math.min(inVain - spent, BOUNDED, options.states ?? BOUNDED);
      if (states < 1) break;
      const result = pass(scene, sharing, { ...options, reduce: false, preemptions: few, states }, start);
      back();
      if (typeof result === 'number') break;
      if (result.violation !== undefined) return { ...result, inVain };
      spent += result.states;
      if (result.complete) few++;
      else done = true;
    }
    const result = pass(scene, sharing, options, start);
    if (typeof result !== 'number') return { ...result, inVain };
    inVain += result;
    back();
  }
}

/** One attempt; the number of its steps when a word taken for local has turned out to be shared, or threads to differ. */
function pass(scene: Scene, sharing: Sharing, options: SearchOptions, start: number): SearchResult | number {
  const { reduce = options.preemptions === undefined, preemptions = Infinity } = options;
  const { states: mostStates = Infinity, milliseconds = Infinity } = options;
  const machine = scene.machine;
  const table = new StateTable();
  const bounded = preemptions !== Infinity;
  scene.recoveries.fill(0);

  // The stack, a frame a state on the path.
  let d = -1;
  const ids: number[] = [];
  const next: number[] = [];
  const low: number[] = [];
  const good: number[] = []; // an end can be reached
  const marks: number[] = [];
  const only: number[] = []; // the one thread that is tried, or -1
  const wide: number[] = []; // whether the others must be tried after all
  // At most a step or a time-out, and a death, of each thread.
  const most = 2 * scene.threads;
  let choices = new Int32Array(64 * most); // of each frame
  const counts: number[] = [];
  const taken: number[] = []; // the choice taken last
  const changed: number[] = []; // what it changed of the scene
  const last: number[] = []; // the thread that moved last
  const used: number[] = []; // preemptions so far

  // Tarjan's stack of states, and which states have left it.
  const open: number[] = [];
  let closed = new Uint8Array(1 << 16);
  let steps = 0;
  // When to begin anew, once an access that was taken for local has proved not to be.
  let inVain = Infinity;

  const finish = (complete: boolean, message?: string): SearchResult => ({
    states: table.size,
    steps,
    seconds: (performance.now() - start) / 1000,
    exhaustive: complete && !bounded,
    complete,
    recoveries: [...scene.recoveries],
    ...(message === undefined
      ? {}
      : { violation: { message, schedule: taken.slice(0, taken[d] < 0 ? d : d + 1) } }),
  });

  const key = (depth: number): number => {
    if (!bounded) return table.add(scene.hashLo, scene.hashHi);
    const extra = Math.imul(last[depth] * 64 + used[depth] + 1, 0x9e3779b1);
    return table.add(scene.hashLo ^ extra, scene.hashHi + extra);
  };

  /** Lists the choices of a frame. */
  const list = (depth: number): void => {
    const from = depth * most;
    const end = only[depth] < 0 ? scene.choices(choices, from) : scene.choicesOf(only[depth], choices, from);
    counts[depth] = end - from;
  };

  /** Tries everybody in a frame where one thread alone was tried, once its state is back. */
  const widen = (depth: number): void => {
    if (wide[depth] === 0) return;
    wide[depth] = 0;
    only[depth] = -1;
    next[depth] = 0;
    list(depth);
  };

  /** Enters the present state as frame `depth`. */
  const enter = (depth: number, id: number): void => {
    d = depth;
    ids[depth] = id;
    next[depth] = 0;
    low[depth] = id;
    good[depth] = 0;
    wide[depth] = 0;
    marks[depth] = machine.mark();
    only[depth] = reduce ? localThread(scene, sharing) : -1;
    taken[depth] = -1;
    if ((depth + 1) * most > choices.length) {
      const more = new Int32Array(choices.length * 2);
      more.set(choices);
      choices = more;
    }
    list(depth);
    scene.save(depth);
    open.push(id);
    if (id >= closed.length) {
      const more = new Uint8Array(closed.length * 2);
      more.set(closed);
      closed = more;
    }
  };

  last[0] = -1;
  used[0] = 0;
  enter(0, key(0));
  while (true) {
    const count = counts[d];
    const n = next[d];
    if (n < count) {
      next[d] = n + 1;
      const choice = choices[d * most + n];
      const t = Math.floor(choice / CHOICES);
      if (bounded) {
        const before = last[d];
        const preempts = before >= 0 && before !== t && goesOn(choices, d * most, count, before);
        const total = used[d] + (preempts ? 1 : 0);
        if (total > preemptions) continue;
        last[d + 1] = t;
        used[d + 1] = total;
      }
      taken[d] = choice;
      if (sharing.note(scene, choice) && reduce && inVain === Infinity)
        inVain = steps * (1 + GRACE) + LEAST_GRACE;
      if (steps >= inVain) return steps;
      try {
        scene.apply(choice);
      } catch (error) {
        if (!isFinding(error)) throw error;
        return finish(false, error.message);
      }
      if ((++steps & CLOCK) === 0 && performance.now() - start > milliseconds) return finish(false);
      changed[d] = scene.changed;
      if (scene.distinguishes()) return steps;
      // What the checks take notice of is visible, however local the access.
      if (only[d] >= 0 && scene.changed < 0) wide[d] = 1;
      const before = table.size;
      const id = key(d + 1);
      if (id === before) {
        if (table.size > mostStates) return finish(false);
        enter(d + 1, id);
        continue;
      }
      if (closed[id] === 1) {
        // A death is no way to the end.
        if (choice % CHOICES !== KILL) good[d] = 1;
      } else {
        if (id < low[d]) low[d] = id;
        // Back on the path: here the others must have their turn too.
        if (only[d] >= 0) wide[d] = 1;
      }
      machine.undo(marks[d]);
      scene.restore(d, scene.changed);
      widen(d);
      continue;
    }
    if (only[d] < 0 && isEnd(choices, d * most, count)) {
      try {
        scene.checkEnd();
      } catch (error) {
        if (!isFinding(error)) throw error;
        return finish(false, error.message);
      }
      good[d] = 1;
    }
    const id = ids[d];
    if (low[d] === id) {
      if (good[d] === 0 && !bounded) {
        if (inVain !== Infinity) return steps;
        return finish(
          false,
          'from here on no end can be reached: whatever is done, somebody goes round for ever',
        );
      }
      while (true) {
        const member = open.pop() ?? id;
        closed[member] = 1;
        if (member === id) break;
      }
    }
    if (d === 0) break;
    const parent = d - 1;
    if (low[d] < low[parent]) low[parent] = low[d];
    if (good[d] === 1 && taken[parent] % CHOICES !== KILL) good[parent] = 1;
    d = parent;
    machine.undo(marks[d]);
    scene.restore(d, changed[d]);
    widen(d);
  }
  return inVain === Infinity ? finish(true) : steps;
}

/** Whether nothing can happen any more but deaths. */
function isEnd(choices: Int32Array, from: number, count: number): boolean {
  for (let i = from; i < from + count; i++) if (choices[i] % CHOICES !== KILL) return false;
  return true;
}

/** A thread whose next access is local, or -1. */
function localThread(scene: Scene, sharing: Sharing): number {
  for (let t = 0; t < scene.threads; t++) {
    if ((sharing.isLocal(scene, t) || scene.silent(t)) && scene.mayMove(t)) return t;
  }
  return -1;
}

function goesOn(choices: Int32Array, from: number, count: number, thread: number): boolean {
  for (let i = from; i < from + count; i++) if (choices[i] === thread * CHOICES + STEP) return true;
  return false;
}
