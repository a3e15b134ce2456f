/**
 * Deadlocks: threads that wait for one another in a circle.
 *
 *     thread 2 holds Mutex "accounts" ◄──────── waits ──── thread 3
 *        │                                                   │
 *        └──────────── waits ────────► Mutex "audit", which thread 3 holds
 *
 * waits-for.ts finds the threads that are stuck. Each of them waits for a holder that is stuck too, so walks from
 * holder to holder come to circles. The other stuck threads stand behind the circles. confirm.ts looks a second time.
 * If the second look finds something else, there is no deadlock, or one of its threads has just woken to look as well.
 *
 * A deadlock in which a promise waits is never certain: its thread is not blocked, and another task of the thread may
 * give back what the thread holds. Such circles are `suspected`, if the promise has waited for a while.
 */
import { KIND_MUTEX, KIND_RW_LOCK, KIND_SEMAPHORE, O_ROBUST } from '../border/numbers.js';
import { isConfirmed } from './confirm.js';
import { attachmentsOf, kindOf, type Look, placesOf } from './look.js';
import { nameOfKind, type ObjectRef, objectRef, objectText, type ThreadRef, threadRef, threadText } from './refs.js';
import {
  type Blocked,
  blockedOn,
  evidenceOf,
  type Holder,
  headPromiseOf,
  holdersOf,
  type Stuck,
  stuckIn,
} from './waits-for.js';

/** A thread in a deadlock. */
export interface DeadlockEdge {
  /** The thread. */
  readonly thread: ThreadRef;
  /**
   * What it holds, and the thread before it waits for. A writer that waits for the readers of a `RwLock` holds the
   * turn. Undefined for a thread that stands behind the deadlock.
   */
  readonly holds: ObjectRef | undefined;
  /** What it waits for. */
  readonly waitsFor: ObjectRef;
  /** Whether the thread blocks. Otherwise a promise of the thread waits. */
  readonly blocked: boolean;
  /** How long it has waited, in milliseconds. */
  readonly waited: number;
}

/** Threads that wait for one another in a circle. */
export interface Deadlock {
  /** The threads. Each one waits for what the next one holds, and the last one waits for what the first one holds. */
  readonly edges: readonly DeadlockEdge[];
  /** Threads that are not in the circle, and wait for one that is. */
  readonly behind: readonly DeadlockEdge[];
  /** The same in words. */
  readonly text: string;
}

/** The answer of `deadlocks`. */
export interface Deadlocks {
  /** Those that are certain: all their threads block, and a second look has found the same. */
  readonly certain: readonly Deadlock[];
  /** Those in which a promise has waited for long. Another task of its thread may end them. */
  readonly suspected: readonly Deadlock[];
  /** What cannot be seen, in words: for example, a semaphore that has no owners. */
  readonly unseen: readonly string[];
}

/** A deadlock that a look has found, before the second look. */
export interface Found {
  readonly cycle: readonly number[];
  readonly behind: readonly number[];
  readonly stuck: ReadonlyMap<number, Stuck>;
}

/**
 * Walks from a stuck thread to its holders, to the holders of these, and so on, the nearest first. Returns the threads
 * of the way to the first one that is an end; undefined if there is none.
 */
function wayTo(
  stuck: ReadonlyMap<number, Stuck>,
  first: number,
  isEnd: (thread: number) => boolean,
): number[] | undefined {
  /** From which thread the walk has come to each thread. */
  const from = new Map<number, number>();
  // The set grows while the loop runs over it.
  const reached = new Set([first]);
  for (const thread of reached) {
    const { holders } = stuck.get(thread) as Stuck;
    for (const holder of holders) {
      // A thread that holds permits itself waits for those of others, too.
      if (holder.thread === thread && holders.length > 1) continue;
      if (isEnd(holder.thread)) {
        const way = [thread, holder.thread];
        for (let one = thread; one !== first; way.unshift(one)) one = from.get(one) as number;
        return way;
      }
      if (!reached.has(holder.thread)) from.set(holder.thread, thread);
      reached.add(holder.thread);
    }
  }
  return undefined;
}

/** Returns the shortest circle from a thread back to itself, without its end; undefined if there is none. */
function circleThrough(stuck: ReadonlyMap<number, Stuck>, first: number): number[] | undefined {
  return wayTo(stuck, first, (thread) => thread === first)?.slice(0, -1);
}

/** Returns circles of stuck threads, and who stands behind each. Of circles that share a thread, it returns one. */
export function circlesIn(stuck: ReadonlyMap<number, Stuck>): Found[] {
  const found: Found[] = [];
  const circleOf = new Map<number, Found & { behind: number[] }>();
  // Many may wait for the same holders.
  const lists = new Set([...stuck.values()].map(({ holders }) => holders));
  const awaited = new Set([...lists].flatMap((holders) => holders.map(({ thread }) => thread)));
  for (const first of stuck.keys()) {
    const cycle = circleOf.has(first) || !awaited.has(first) ? undefined : circleThrough(stuck, first);
    if (cycle === undefined || cycle.some((thread) => circleOf.has(thread))) continue;
    const circle = { cycle, behind: [], stuck };
    found.push(circle);
    for (const thread of cycle) circleOf.set(thread, circle);
  }
  for (const first of stuck.keys()) {
    if (circleOf.has(first)) continue;
    const last = wayTo(stuck, first, (thread) => circleOf.has(thread))?.at(-1);
    if (last !== undefined) circleOf.get(last)?.behind.push(first);
  }
  return found;
}

/** Returns whether the second look finds the deadlock too. */
export function isCertain(look: Look, { cycle, stuck }: Found): boolean {
  return isConfirmed(look.view.words, ...evidenceOf(look, stuck, cycle));
}

/** Describes a deadlock. */
export function describe(look: Look, { cycle, behind, stuck }: Found): Deadlock {
  const waits = cycle.map((thread) => (stuck.get(thread) as Stuck).blocked);
  const edges = waits.map((blocked, i) => edgeOf(look, blocked, waits.at(i - 1)?.object));
  const others = behind.map((thread) => edgeOf(look, (stuck.get(thread) as Stuck).blocked, undefined));
  return { edges, behind: others, text: textOf(edges, others, true) };
}

function edgeOf(look: Look, { thread, object, waited }: Blocked, holds: number | undefined): DeadlockEdge {
  return {
    thread: threadRef(look, thread.thread),
    holds: holds === undefined ? undefined : objectRef(look, holds),
    waitsFor: objectRef(look, object),
    blocked: true,
    waited,
  };
}

function textOf(edges: readonly DeadlockEdge[], behind: readonly DeadlockEdge[], isCertain: boolean): string {
  const line = ({ thread, holds, waitsFor, blocked, waited }: DeadlockEdge): string => {
    const what = objectText(waitsFor);
    const how = `${blocked ? '' : ' by a promise'}, for ${waited} ms`;
    // Nobody waits for a lock of which the thread is a reader: that is an error at once.
    if (waitsFor.kind === 'RwLock' && holds?.number === waitsFor.number)
      return `${threadText(thread)} has the turn of ${what} and waits for its readers${how}`;
    return `${threadText(thread)} ${holds ? `holds ${objectText(holds)} and ` : ''}waits for ${what}${how}`;
  };
  const stand = behind.length > 0 ? `. Behind them: ${behind.map(line).join('; ')}` : '';
  const calls = edges.some(({ waitsFor }) => waitsFor.kind === 'Semaphore')
    ? 'cancelAll, dispose or add'
    : 'cancelAll or dispose';
  return isCertain
    ? `deadlock: ${edges.map(line).join('; ')}${stand}. None of them can go on, unless another thread calls ` +
        `${calls}, or one of them is terminated`
    : `perhaps a deadlock: ${edges.map(line).join('; ')}. Another task of the thread may end it`;
}

// --- Promises -------------------------------------------------------------------------------------------

/** A wait from which a circle may come that is not certain. */
interface Wait {
  readonly thread: number;
  readonly object: number;
  readonly holders: readonly number[];
  readonly blocked: boolean;
  readonly waited: number;
}

/**
 * Returns the circles in which a promise has waited for `after` milliseconds or more. They are found by taking away,
 * again and again, the threads that wait for nobody left. From each thread that is left, a walk leads to a circle.
 */
export function suspectedIn(look: Look, after: number): Deadlock[] {
  const waits = new Map<number, Wait[]>();
  const threadsOf = new Map<readonly Holder[], number[]>();
  const add = (thread: number, object: number, how: Blocked['how'], blocked: boolean, waited: number): void => {
    const holders = holdersOf(look, object, kindOf(look.view, object), how, blocked ? thread : 0);
    if (holders === undefined) return;
    const alive = threadsOf.get(holders) ?? holders.map((one) => one.thread).filter((one) => look.threads.has(one));
    threadsOf.set(holders, alive);
    if (alive.length === 0) return;
    const wait = { thread, object, holders: alive, blocked, waited };
    const own = waits.get(thread);
    if (own) own.push(wait);
    else waits.set(thread, [wait]);
  };
  for (const thread of look.threads.values()) {
    const blocked = thread.isAsleep ? blockedOn(look, thread) : undefined;
    if (blocked && !blocked.isTimed) add(thread.thread, blocked.object, blocked.how, true, blocked.waited);
  }
  for (const [object, queue] of look.queues) {
    for (const request of queue.list)
      if (request.isAsync && request.waited >= after) add(request.thread, object, 'queue', false, request.waited);
  }
  for (const [object, list] of look.attachments) {
    const kind = kindOf(look.view, object);
    const head = kind === KIND_MUTEX ? headPromiseOf(look.view, object) : 0;
    for (const { thread, held, waits, waited } of list) {
      if (waited < after || look.threads.get(thread)?.isAsleep) continue;
      if (held !== 0 && head === thread) add(thread, object, 'head', false, waited);
      if (waits === 0 || kind === KIND_MUTEX) continue;
      const reads = placesOf(look, object).some((place) => place.thread === thread && place.waits);
      add(thread, object, kind === KIND_RW_LOCK && !reads ? 'drain' : 'phase', false, waited);
    }
  }
  // A thread that blocks with a time limit, or runs, ends no walk: it has no wait here.
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const [thread, list] of waits) {
      const left = list.filter(({ holders }) => holders.some((holder) => waits.has(holder)));
      if (left.length === list.length) continue;
      goesOn = true;
      if (left.length === 0) waits.delete(thread);
      else waits.set(thread, left);
    }
  }
  const found: Deadlock[] = [];
  const seen = new Set<number>();
  for (const first of waits.keys()) {
    const path: Wait[] = [];
    const walked = new Set<number>();
    let thread = first;
    while (!walked.has(thread) && !seen.has(thread)) {
      walked.add(thread);
      // A promise of the thread leads on first: without one, the circle is certain.
      const list = waits.get(thread) as Wait[];
      const wait = (list.find(({ blocked }) => !blocked) ?? list[0]) as Wait;
      path.push(wait);
      thread = wait.holders.find((holder) => waits.has(holder)) as number;
    }
    for (const one of walked) seen.add(one);
    const cycle = path.slice(path.findIndex((wait) => wait.thread === thread));
    if (path.every((wait) => wait.thread !== thread) || cycle.every(({ blocked }) => blocked)) continue;
    const edges = cycle.map(
      (wait, i): DeadlockEdge => ({
        thread: threadRef(look, wait.thread),
        holds: objectRef(look, (cycle.at(i - 1) as Wait).object),
        waitsFor: objectRef(look, wait.object),
        blocked: wait.blocked,
        waited: wait.waited,
      }),
    );
    found.push({ edges, behind: [], text: textOf(edges, [], false) });
  }
  return found;
}

// --- What nobody can see ----------------------------------------------------------------------------------

/**
 * Returns what the arena does not know, in words: one line for each object for which somebody waits, `most` at most.
 */
export function unseenIn(look: Look, most: number): string[] {
  const lines: string[] = [];
  for (const object of look.objects) {
    if (lines.length === most) break;
    const kind = kindOf(look.view, object);
    const waits =
      (look.queues.get(object)?.waiting ?? 0) > 0 || attachmentsOf(look, object).some((one) => one.waits > 0);
    if (!waits || holdersOf(look, object, kind, 'queue', 0) !== undefined) continue;
    const text = objectText(objectRef(look, object));
    lines.push(
      kind === KIND_SEMAPHORE && look.view.load(object + O_ROBUST) === 0
        ? `${text} has no owners, so nobody knows who has its permits: make it with { robust: true }`
        : `${text}: any thread may end a wait for a ${nameOfKind(kind)}, so nobody knows who should`,
    );
  }
  return lines;
}

// Taken at load: a test that replaces the clock must not make a look endless.
const { now } = Date;
/** A thread that looks is awake before and after for less than so many milliseconds, if it gets a processor. */
const AWAKE_FOR = 20;

/**
 * Returns the deadlocks of an arena, certain and suspected.
 * @param again looks again. A thread of a deadlock may be awake for a moment, before and after it looks as well.
 */
export function deadlocksIn(first: Look, again: () => Look, after: number, most: number): Deadlocks & { look: Look } {
  const LOOKS = 3;
  const begun = now();
  let look = first;
  let stuck = stuckIn(look);
  let certain: Found[] = [];
  for (let looks = 1; stuck.size > 0; looks++) {
    const circles = circlesIn(stuck);
    certain = circles.filter((circle) => isCertain(look, circle));
    if (certain.length === circles.length) break;
    if (looks >= LOOKS && Math.abs(now() - begun) > AWAKE_FOR) break;
    look = again();
    stuck = stuckIn(look);
  }
  return {
    look,
    certain: certain.map((circle) => describe(look, circle)),
    suspected: suspectedIn(look, after),
    unseen: unseenIn(look, most),
  };
}
