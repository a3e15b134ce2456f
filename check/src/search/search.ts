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
 * they have been seen to do from there on (sharing.ts), and each step is checked against that; one that proves the
 * assumption wrong, of a word that has been relied on, is noted, and the search begun anew. So a search that comes to its
 * end has proved its own assumption: the first conflict in any execution left out would, moved to the front of the local
 * steps before it, be in one that was searched.
 * A local step that closes a cycle is expanded in full, so that no thread is put off for ever; and so is one
 * after which the driver or the ghosts have changed, since the checks would take notice of it.
 * Besides, threads that do the same begin in one order only: Scene.symmetry.
 */

import { isFinding, type Model, type Scene } from '../scene/scene.js';
import * as words from '../scene/words.js';
import { Sharing } from './sharing.js';
import { StateTable } from './table.js';
import { walk } from './walk.js';

const { CHOICES, KILL, STEP } = words;

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
  /** States in which no choice is open but deaths. */
  readonly ends?: number;
}

const WALKS = 200;
/** Steps of walks for each step of a search that was in vain. */
const WALKED = 0.1;
/** Most states of a search with few preemptions. */
const BOUNDED = 2e6;
/** How many steps a search goes on that is in vain, to find out what else was taken for local. */
const GRACE = 20_000;
const CLOCK = 0xffff;

/** Searches the scenes that `make` makes, always the same one, in its first state. */
export function search(make: () => Scene, options: SearchOptions = {}): SearchResult {
  const start = performance.now();
  const scene = make();
  scene.symmetry(options.symmetry ?? 1);
  const sharing = new Sharing(scene);
  const root: number[] = [];
  scene.mark(root, 0);
  let inVain = 0;
  let few = 1;
  /** States of searches with few preemptions: no more of them than steps have been in vain. */
  let spent = 0;
  let distinguished = false;
  const back = (): void => {
    distinguished = scene.distinguishes();
    scene.undo(root, 0);
    if (distinguished) scene.symmetry(0);
    scene.rehash();
  };
  for (let seed = 1; ; ) {
    // Walks find most of what is shared, so that few searches are begun in vain: the more has been in vain, the more
    // of them.
    for (let walked = 0; walked === 0 || walked < inVain * WALKED; seed++) {
      const { steps, violation } = walk(scene, WALKS, seed, (choice, depth) => {
        sharing.arrive(scene, depth);
        sharing.note(scene, depth, choice);
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
  const table = new StateTable();
  const bounded = preemptions !== Infinity;
  scene.recoveries.fill(0);

  // The stack, a frame a state on the path.
  let d = -1;
  const ids: number[] = [];
  const next: number[] = [];
  const low: number[] = [];
  const good: number[] = []; // an end can be reached
  const marks: number[] = []; // two a frame
  const only: number[] = []; // the one thread that is tried, or -1
  const wide: number[] = []; // whether the others must be tried after all
  // At most a step or a time-out, and a death, of each thread.
  const most = 2 * scene.threads;
  let choices = new Int32Array(64 * most); // of each frame
  const counts: number[] = [];
  const taken: number[] = []; // the choice taken last
  const last: number[] = []; // the thread that moved last
  const used: number[] = []; // preemptions so far

  // Tarjan's stack of states, in the order of their numbers.
  const open: number[] = [];
  /** Whether a state is still on it. */
  const isOpen = (id: number): boolean => {
    let from = 0;
    let to = open.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (open[middle] < id) from = middle + 1;
      else to = middle;
    }
    return open[from] === id;
  };
  let steps = 0;
  let ends = 0;
  // When to begin anew, once an access that was taken for local has proved not to be.
  let inVain = Infinity;
  const disproved = (): void => {
    if (reduce && inVain === Infinity) inVain = steps + GRACE;
  };

  const finish = (complete: boolean, message?: string): SearchResult => ({
    states: table.size,
    steps,
    seconds: (performance.now() - start) / 1000,
    exhaustive: complete && !bounded,
    complete,
    recoveries: [...scene.recoveries],
    ends,
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
    scene.mark(marks, 2 * depth);
    only[depth] = reduce ? localThread(scene, sharing, depth) : -1;
    taken[depth] = -1;
    if ((depth + 1) * most > choices.length) {
      const more = new Int32Array(choices.length * 2);
      more.set(choices);
      choices = more;
    }
    list(depth);
    open.push(id);
  };

  sharing.begin();
  sharing.arrive(scene, 0);
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
      if (sharing.note(scene, d, choice)) disproved();
      if (steps >= inVain) return steps;
      try {
        scene.apply(choice);
      } catch (error) {
        if (!isFinding(error)) throw error;
        return finish(false, error.message);
      }
      if ((++steps & CLOCK) === 0 && performance.now() - start > milliseconds) return finish(false);
      if (sharing.arrive(scene, d + 1, scene.others ? -1 : t)) disproved();
      if (scene.distinguishes()) return steps;
      // What the checks take notice of is visible, however local the access.
      if (only[d] >= 0 && scene.touched) wide[d] = 1;
      const before = table.size;
      const id = key(d + 1);
      if (id === before) {
        if (table.size > mostStates) return finish(false);
        enter(d + 1, id);
        continue;
      }
      if (isOpen(id)) {
        if (id < low[d]) low[d] = id;
        // Back on the path: here the others must have their turn too.
        if (only[d] >= 0) wide[d] = 1;
      } else if (choice % CHOICES !== KILL) good[d] = 1; // A death is no way to the end.
      scene.undo(marks, 2 * d);
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
      ends++;
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
      while (open.pop() !== id);
    }
    if (d === 0) break;
    const parent = d - 1;
    if (low[d] < low[parent]) low[parent] = low[d];
    if (good[d] === 1 && taken[parent] % CHOICES !== KILL) good[parent] = 1;
    d = parent;
    scene.undo(marks, 2 * d);
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
function localThread(scene: Scene, sharing: Sharing, depth: number): number {
  for (let t = 0; t < scene.threads; t++) {
    if (scene.mayMove(t) && (sharing.isLocal(scene, depth, t) || scene.silent(t))) return t;
  }
  return -1;
}

function goesOn(choices: Int32Array, from: number, count: number, thread: number): boolean {
  for (let i = from; i < from + count; i++) if (choices[i] === thread * CHOICES + STEP) return true;
  return false;
}
