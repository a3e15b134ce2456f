/**
 * The search takes every interleaving: depth first, each state once, with undo on the way back.
 *
 * The search finds a deadlock, or a broken promise that the space checks, in the state where it happens. It also finds
 * states from which no end can be reached, by strongly connected components (Tarjan): if a component is complete and no
 * edge leaves it towards an end, its threads go round for ever. In this way the search finds spin loops and lost
 * wake-ups.
 *
 * Reduction. A write is local if no other thread will access its word any more. A read is local if no other thread will
 * write its word any more. A local step commutes with everything that the other threads can do, so the search tries
 * this step alone: a persistent set of one thread. But the search does not know what the other threads will do. It
 * assumes that from its position in its program on, a thread will do only what it has been seen to do there (sharing.ts).
 *
 * Such an assumption may prove wrong later. So when everything has been searched, the search comes back to each state
 * that relied on a wrong assumption (tree.ts), and tries all threads there. It repeats this until no such state is
 * left. If it seems meanwhile that no end can be reached, and an assumption has proved wrong, the search begins anew
 * and keeps what it has learnt.
 *
 * Then no assumption that is left is wrong. Suppose that an execution that was left out has an access that conflicts
 * with an assumption, and take the first such access. It commutes with the local steps before it, so it can be moved in
 * front of them. The execution that this makes was searched, so the search has seen the conflict.
 *
 *     explore ──► what was relied on? ── all holds ──► the end
 *        ▲                │ some has proved wrong
 *        └── mend ◄───────┘
 *
 * In two cases the search tries all threads although a step is local. First, the step closes a cycle: otherwise the
 * other threads would be put off for ever. Second, the checks may notice the step (StateSpace.touched). A cycle may
 * also lead through older states and states that were found while mending. Such a cycle contains a mended state, and
 * there the search tries all threads.
 *
 * Besides, threads that run the same program begin in one order only (StateSpace.symmetry).
 */

import * as kinds from './choice.js';
import { Sharing } from './sharing.js';
import type { StateSpace } from './state-space.js';
import { Tree } from './tree.js';
import { isFinding } from './violation.js';
import { StateTable } from './visited-states.js';

const { CHOICES, STEP, isMishap } = kinds;

export interface SearchOptions {
  /** Default true. With a bound on preemptions all threads are tried in any case. */
  readonly reduce?: boolean;
  /** The order in which threads of the same program begin (StateSpace.symmetry); default 1. */
  readonly symmetry?: 1 | 0 | -1;
  /** The most switches away from a thread that could go on; no bound by default. With a bound the result is bounded. */
  readonly preemptions?: number;
  /** The search gives up after this many states or milliseconds; then the result is bounded. */
  readonly states?: number;
  readonly milliseconds?: number;
  /** Called from time to time. */
  readonly progress?: (states: number, steps: number) => void;
}

/** Returns the bounds with which a model of the table is searched. */
export function boundsOf({ preemptions }: Pick<SearchOptions, 'preemptions'>, milliseconds: number): SearchOptions {
  return preemptions === undefined ? { milliseconds } : { milliseconds, preemptions };
}

/** What is wrong, and the schedule that leads there. */
export interface Finding {
  readonly message: string;
  readonly schedule: readonly number[];
}

export interface SearchResult {
  readonly states: number;
  readonly steps: number;
  /** Further steps: those by which the search comes back to a state, and all steps of attempts that it gave up. */
  readonly again: number;
  readonly seconds: number;
  /** Whether the search came to its end: it visited every state, except those that the reductions may leave out. */
  readonly exhaustive: boolean;
  /** Whether the search came to its end, within the bound on preemptions if there is one. */
  readonly complete: boolean;
  readonly violation?: Finding;
  /** The counters of the state space at the end. A step that is taken again counts again. */
  readonly tallies?: readonly number[];
  /** The number of states in which no choice is open but deaths and exceptions. */
  readonly ends?: number;
}

const CLOCK = 0xffff;

/** Searches from the first state of the space that `make` makes. */
export function search(make: () => StateSpace, options: SearchOptions = {}): SearchResult {
  const start = performance.now();
  const space = make();
  space.symmetry(options.symmetry ?? 1);
  const sharing = new Sharing(space);
  const root: number[] = [];
  space.mark(root, 0);
  let discarded = 0;
  while (true) {
    space.rehash();
    const result = pass(space, sharing, options, start);
    if (typeof result !== 'number') return { ...result, again: discarded + result.again };
    discarded += result;
    const distinguished = space.distinguishes();
    space.undo(root, 0);
    if (distinguished) space.symmetry(0);
  }
}

/**
 * Makes one attempt. Returns a result, or the number of steps if the search must begin anew. The search begins anew if
 * threads of the same program have turned out to differ. It also begins anew if it seems that no end can be reached,
 * but an assumption has proved wrong.
 */
function pass(space: StateSpace, sharing: Sharing, options: SearchOptions, start: number): SearchResult | number {
  const { preemptions = Infinity, states: mostStates = Infinity, milliseconds = Infinity } = options;
  const table = new StateTable();
  const bounded = preemptions !== Infinity;
  const reduce = !bounded && options.reduce !== false;
  const tree = new Tree();
  space.tallies.fill(0);

  // The stack has a frame for each state on the path.
  let d = -1;
  const ids: number[] = [];
  const next: number[] = [];
  const low: number[] = [];
  const good: number[] = []; // whether an end can be reached from the state
  const marks: number[] = []; // two marks for each frame
  const only: number[] = []; // the one thread that is tried, or -1 if all threads are tried
  const wide: number[] = []; // whether the other threads must be tried after all
  // Each thread has at most a step or a time-out, a death and an exception.
  const most = 3 * space.threads;
  let choices = new Int32Array(64 * most); // `most` words for each frame: its choices
  const counts: number[] = [];
  const taken: number[] = []; // the choice taken last
  const last: number[] = []; // the thread that moved last
  const used: number[] = []; // how many preemptions there have been

  // Tarjan's stack of states, in the order of their numbers.
  const open: number[] = [];
  /** Says whether a state is still on Tarjan's stack. */
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
  let again = 0;
  let ends = 0;

  const finish = (complete: boolean, message?: string): SearchResult => ({
    states: table.size,
    steps,
    seconds: (performance.now() - start) / 1000,
    exhaustive: complete && !bounded,
    complete,
    tallies: [...space.tallies],
    ends,
    again,
    ...(message === undefined ? {} : { violation: { message, schedule: taken.slice(0, taken[d] < 0 ? d : d + 1) } }),
  });

  const key = (depth: number): number => {
    if (!bounded) return table.add(space.hashLo, space.hashHi);
    const extra = Math.imul(last[depth] * 64 + used[depth] + 1, 0x9e3779b1);
    return table.add(space.hashLo ^ extra, space.hashHi + extra);
  };

  /** Lists the choices of a frame. */
  const list = (depth: number): void => {
    const from = depth * most;
    const end = only[depth] < 0 ? space.choices(choices, from) : space.choicesOf(only[depth], choices, from);
    counts[depth] = end - from;
  };

  /**
   * If `wide` says so, tries all threads in a frame in which one thread alone was tried. The state of this frame must
   * be the present state.
   */
  const widen = (depth: number): void => {
    if (wide[depth] === 0) return;
    wide[depth] = 0;
    only[depth] = -1;
    next[depth] = 0;
    list(depth);
    tree.release(ids[depth]);
  };

  /** Enters the present state as frame `depth`. */
  const enter = (depth: number, id: number, thread: number): void => {
    d = depth;
    ids[depth] = id;
    next[depth] = 0;
    low[depth] = id;
    good[depth] = 0;
    wide[depth] = 0;
    space.mark(marks, 2 * depth);
    only[depth] = thread;
    taken[depth] = -1;
    if ((depth + 1) * most > choices.length) {
      const more = new Int32Array(choices.length * 2);
      more.set(choices);
      choices = more;
    }
    list(depth);
    open.push(id);
  };

  /** Returns a thread whose next access is local, or -1. */
  const localThread = (depth: number, id: number): number => {
    for (let t = 0; t < space.threads; t++) {
      if (!space.mayMove(t)) continue;
      const reliance = sharing.rely(space, depth, t);
      if (reliance >= 0) tree.rely(id, reliance);
      if (reliance >= 0 || space.silent(t)) return t;
    }
    return -1;
  };

  /** Enters a state that has not been seen before. */
  const discover = (depth: number, id: number): void => {
    if (reduce) tree.add(id, depth === 0 ? 0 : ids[depth - 1], depth === 0 ? 0 : taken[depth - 1]);
    enter(depth, id, reduce ? localThread(depth, id) : -1);
  };

  /** Searches all that can be reached from the frame `base`. Returns a result if it has to end early. */
  const explore = (base: number): SearchResult | number | undefined => {
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
        if (reduce) sharing.note(space, d, choice);
        try {
          space.apply(choice);
        } catch (error) {
          if (!isFinding(error)) throw error;
          return finish(false, error.message);
        }
        if ((++steps & CLOCK) === 0) {
          if (performance.now() - start > milliseconds) return finish(false);
          options.progress?.(table.size, steps);
        }
        if (reduce) sharing.arrive(space, d + 1, space.others ? -1 : t);
        if (space.distinguishes()) return steps + again;
        // A step that the checks notice is visible, even if its access is local.
        if (only[d] >= 0 && space.touched) wide[d] = 1;
        const before = table.size;
        const id = key(d + 1);
        if (id === before) {
          if (table.size > mostStates) return finish(false);
          discover(d + 1, id);
          continue;
        }
        if (isOpen(id)) {
          if (id < low[d]) low[d] = id;
          // The step closes a cycle, so the other threads must have their turn in this state too.
          if (only[d] >= 0) wide[d] = 1;
        } else if (!isMishap(choice)) good[d] = 1; // A death is no way to the end.
        space.undo(marks, 2 * d);
        widen(d);
        continue;
      }
      if (only[d] < 0 && isEnd(choices, d * most, count)) {
        taken[d] = -1;
        try {
          space.checkEnd();
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
          // A thread that was left out on a wrong assumption may lead to an end. The next attempt tries that thread.
          if (sharing.takeBroken() !== undefined) return steps + again;
          return finish(false, 'from here on no end can be reached: whatever is done, somebody goes round for ever');
        }
        while (open.pop() !== id);
      }
      if (d === base) return undefined;
      const parent = d - 1;
      if (low[d] < low[parent]) low[parent] = low[d];
      if (good[d] === 1 && !isMishap(taken[parent])) good[parent] = 1;
      d = parent;
      space.undo(marks, 2 * d);
      widen(d);
    }
  };

  /** Comes back to a state, on the path by which it was first reached. */
  const comeBack = (id: number): void => {
    const way: number[] = [];
    let at = id;
    while (ids[d] > at) d--;
    while (ids[d] !== at) {
      way.push(at);
      at = tree.parent(at);
      while (ids[d] > at) d--;
    }
    space.undo(marks, 2 * d);
    for (const to of way.reverse()) {
      const choice = tree.choice(to);
      taken[d] = choice;
      space.apply(choice);
      again++;
      sharing.arrive(space, ++d, space.others ? -1 : Math.floor(choice / CHOICES));
      ids[d] = to;
      space.mark(marks, 2 * d);
    }
  };

  /** Tries all threads in the states where one thread alone was tried on an assumption that has proved wrong since. */
  const mend = (broken: Uint8Array): SearchResult | number | undefined => {
    const size = table.size;
    d = 0;
    for (let id = 0; id < size; id++) {
      const reliance = tree.reliance(id);
      if (reliance < 0 || broken[reliance] !== 1) continue;
      comeBack(id);
      if (performance.now() - start > milliseconds) return finish(false);
      tree.release(id);
      enter(d, id, -1);
      const early = explore(d);
      if (early !== undefined) return early;
    }
    return undefined;
  };

  sharing.begin();
  sharing.arrive(space, 0);
  last[0] = -1;
  used[0] = 0;
  discover(0, key(0));
  let early = explore(0);
  while (early === undefined) {
    const broken = sharing.takeBroken();
    if (broken === undefined) break;
    early = mend(broken);
  }
  return early ?? finish(true);
}

/** Says whether only deaths and exceptions can still happen. */
function isEnd(choices: Int32Array, from: number, count: number): boolean {
  for (let i = from; i < from + count; i++) if (!isMishap(choices[i])) return false;
  return true;
}

function goesOn(choices: Int32Array, from: number, count: number, thread: number): boolean {
  for (let i = from; i < from + count; i++) if (choices[i] === thread * CHOICES + STEP) return true;
  return false;
}
