/**
 * Deadlocks: threads that wait for one another in a circle.
 *
 *     thread 2 holds Mutex "accounts" ◄──────── waits ──── thread 3
 *        │                                                   │
 *        └──────────── waits ────────► Mutex "audit", which thread 3 holds
 *
 * waits-for.ts finds the threads that are stuck. Each of them waits for a holder that is stuck too, so walks from
 * holder to holder come to circles. The other stuck threads stand behind the circles. Then the circle is put into words,
 * and confirm.ts looks a second time. If the second look finds something else, there is no deadlock, or one of its
 * threads has just woken to look as well.
 * The threads may wait in several arenas: then there is a look at each (`together` in src/look/look.ts).
 *
 * A deadlock in which a promise waits is never certain: its thread is not blocked, and another task of the thread may
 * give back what the thread holds. Such circles are `suspected`, if the promise has waited for a while.
 */
import { HAS_HEAD, KIND_RW_LOCK, KIND_SEMAPHORE, O_ROBUST } from '../border/numbers.js';
import { addTo } from '../look/elements.js';
import { ownNumber, PAUSE } from '../look/key-reading.js';
import { type Look, seatsOf } from '../look/look.js';
import { kindOf } from '../look/view.js';
import { epoch } from '../runtime/epoch.js';
import { isConfirmed } from './confirm.js';
import {
  articled,
  nameOfKind,
  type ObjectRef,
  objectRef,
  objectText,
  type ThreadRef,
  threadRef,
  threadText,
} from './refs.js';
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
  /** The thread. Its number is that in the arena of the object for which it waits. */
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
  /** In how many arenas the threads of the circle wait. */
  readonly arenas: number;
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

/** A deadlock that a look has found, before the second look. Threads have their numbers in all looks. */
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
    for (const { who } of holders) {
      // A thread that holds permits itself waits for those of others, too.
      if (who === thread && holders.length > 1) continue;
      if (isEnd(who)) {
        const way = [thread, who];
        for (let one = thread; one !== first; way.unshift(one)) one = from.get(one) as number;
        return way;
      }
      if (!reached.has(who)) from.set(who, thread);
      reached.add(who);
    }
  }
  return undefined;
}

/** Returns the shortest circle from a stuck thread back to itself, without its end; undefined if there is none. */
export function circleThrough(stuck: ReadonlyMap<number, Stuck>, first: number): number[] | undefined {
  return wayTo(stuck, first, (thread) => thread === first)?.slice(0, -1);
}

/** Returns circles of stuck threads, and who stands behind each. Of circles that share a thread, it returns one. */
export function circlesIn(stuck: ReadonlyMap<number, Stuck>): Found[] {
  const found: Found[] = [];
  const circleOf = new Map<number, Found & { behind: number[] }>();
  // Many may wait for the same holders.
  const lists = new Set([...stuck.values()].map(({ holders }) => holders));
  const awaited = new Set([...lists].flatMap((holders) => holders.map(({ who }) => who)));
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

/**
 * Describes a deadlock, and then looks a second time. Returns undefined if the second look finds something else.
 *
 * The names are read between the two looks. A thread of the deadlock may be terminated at any time, and an object may be
 * disposed of. Then another thread or object gets the place, and names read later would be missing or would be those of
 * the new one. The second look finds each thread in the same life, and each object in the same generation, as before
 * the names were read. So the names are right.
 */
export function confirmed(looks: readonly Look[], found: Found): Deadlock | undefined {
  const deadlock = describe(found);
  const memories = looks.map(({ view }) => view.words);
  return isConfirmed(memories, ...evidenceOf(found.stuck, found.cycle)) ? deadlock : undefined;
}

/** Returns the looks at the arenas in which the threads of a circle wait. */
export function looksOf({ cycle, stuck }: Found): Set<Look> {
  return new Set(cycle.map((who) => (stuck.get(who) as Stuck).blocked.look));
}

function describe({ cycle, behind, stuck }: Found): Deadlock {
  const waits = cycle.map((who): Edge => stuckEdge(stuck, who));
  return deadlockOf(
    waits,
    behind.map((who) => stuckEdge(stuck, who)),
    true,
  );
}

function stuckEdge(stuck: ReadonlyMap<number, Stuck>, who: number): Edge {
  const { look, thread, object, waited } = (stuck.get(who) as Stuck).blocked;
  return { look, thread: thread.thread, object, blocked: true, waited };
}

/** A wait in a circle. */
interface Edge {
  readonly look: Look;
  readonly thread: number;
  readonly object: number;
  readonly blocked: boolean;
  readonly waited: number;
}

/** Describes a circle. Each wait is for what the thread of the next one holds. */
function deadlockOf(cycle: readonly Edge[], behind: readonly Edge[], isCertain: boolean): Deadlock {
  const arenas = [...new Set([...cycle, ...behind].map(({ look }) => look))];
  // Arenas have no names. The reporter numbers them in the same way wherever it tells of them.
  const arenaOf = ({ look }: Edge): string => (arenas.length === 1 ? '' : ` of arena ${look.index + 1}`);
  const before = (i: number): Edge => cycle.at(i - 1) as Edge;
  const edges = cycle.map((wait, i) => edgeOf(wait, before(i)));
  const others = behind.map((wait) => edgeOf(wait, undefined));
  const lines = edges.map((edge, i) => lineOf(edge, arenaOf(before(i)), arenaOf(cycle[i] as Edge)));
  const stand = others.map((edge, i) => lineOf(edge, '', arenaOf(behind[i] as Edge)));
  return {
    edges,
    behind: others,
    arenas: new Set(cycle.map(({ look }) => look)).size,
    text: textOf(edges, lines, stand, isCertain),
  };
}

function edgeOf({ look, thread, object, blocked, waited }: Edge, before: Edge | undefined): DeadlockEdge {
  return {
    thread: threadRef(look, thread),
    holds: before && objectRef(before.look, before.object),
    waitsFor: objectRef(look, object),
    blocked,
    waited,
  };
}

function lineOf({ thread, holds, waitsFor, blocked, waited }: DeadlockEdge, there: string, here: string): string {
  const what = objectText(waitsFor) + here;
  const how = `${blocked ? '' : ' by a promise'}, for ${waited} ms`;
  // Nobody waits for a lock of which the thread is a reader: that is an error at once.
  if (waitsFor.kind === 'RwLock' && holds?.number === waitsFor.number && there === here)
    return `${threadText(thread)} has the turn of ${what} and waits for its readers${how}`;
  return `${threadText(thread)} ${holds ? `holds ${objectText(holds)}${there} and ` : ''}waits for ${what}${how}`;
}

function textOf(
  edges: readonly DeadlockEdge[],
  lines: readonly string[],
  behind: readonly string[],
  isCertain: boolean,
): string {
  const stand = behind.length > 0 ? `. Behind them: ${behind.join('; ')}` : '';
  const calls = edges.some(({ waitsFor }) => waitsFor.kind === 'Semaphore')
    ? 'cancelAll, dispose or add'
    : 'cancelAll or dispose';
  return isCertain
    ? `deadlock: ${lines.join('; ')}${stand}. None of them can go on, unless another thread calls ` +
        `${calls}, or one of them is terminated`
    : `perhaps a deadlock: ${lines.join('; ')}. Another task of the thread may end it`;
}

// --- Promises -------------------------------------------------------------------------------------------

/** A wait from which a circle may come that is not certain. Threads have their numbers in all looks. */
interface Wait extends Edge {
  readonly who: number;
  readonly holders: readonly number[];
}

/**
 * Returns the circles in which a promise has waited for `after` milliseconds or more. They are found by taking away,
 * again and again, the threads that wait for nobody left. From each thread that is left, a walk leads to a circle.
 */
function suspectedIn(after: number, looks: readonly Look[]): Wait[][] {
  const waits = new Map<number, Wait[]>();
  for (const look of looks) for (const wait of waitsIn(look, after)) addTo(waits, wait.who, wait);
  // A thread that blocks with a time limit, or runs, ends no walk: it has no wait here.
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const [who, list] of waits) {
      const left = list.filter(({ holders }) => holders.some((holder) => waits.has(holder)));
      if (left.length === list.length) continue;
      goesOn = true;
      if (left.length === 0) waits.delete(who);
      else waits.set(who, left);
    }
  }
  const found: Wait[][] = [];
  const seen = new Set<number>();
  for (const first of waits.keys()) {
    const path: Wait[] = [];
    const walked = new Set<number>();
    let who = first;
    while (!walked.has(who) && !seen.has(who)) {
      walked.add(who);
      // A promise of the thread leads on first: without one, the circle is certain.
      const list = waits.get(who) as Wait[];
      const wait = (list.find(({ blocked }) => !blocked) ?? list[0]) as Wait;
      path.push(wait);
      who = wait.holders.find((holder) => waits.has(holder)) as number;
    }
    for (const one of walked) seen.add(one);
    const cycle = path.slice(path.findIndex((wait) => wait.who === who));
    if (path.every((wait) => wait.who !== who) || cycle.every(({ blocked }) => blocked)) continue;
    found.push(cycle.length === 1 ? ownWaits(waits.get(who) as Wait[], cycle) : cycle);
  }
  return found;
}

/** So many objects of a thread are told, each of which is the one for which the thread waits by a promise. */
const MOST_OWN = 8;

/**
 * Returns the waits of a thread by promises for what the thread itself has: the tasks of one thread may wait for one
 * another, each with one of these objects.
 * @param found one of these waits.
 */
function ownWaits(waits: readonly Wait[], [found]: readonly Wait[]): Wait[] {
  const { who } = found as Wait;
  const others = waits.filter((wait) => wait !== found && !wait.blocked && wait.holders.includes(who));
  const seen = new Set([(found as Wait).object]);
  const first = others.filter(({ object }) => !seen.has(object) && seen.add(object));
  return [found as Wait, ...first].slice(0, MOST_OWN);
}

/** Returns the waits of threads that block, and those of promises that have lasted for so long, in one arena. */
function waitsIn(look: Look, after: number): Wait[] {
  const waits: Wait[] = [];
  const numbersOf = new Map<readonly Holder[], number[]>();
  const add = (thread: number, object: number, how: Blocked['how'], blocked: boolean, waited: number): void => {
    const list = holdersOf(look, object, kindOf(look.view, object), how, blocked ? thread : 0);
    if (list === undefined) return;
    const holders = numbersOf.get(list) ?? list.filter((one) => look.threads.has(one.thread)).map((one) => one.who);
    numbersOf.set(list, holders);
    if (holders.length > 0) waits.push({ look, thread, who: look.whoOf(thread), object, holders, blocked, waited });
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
    const isMutex = (kind & HAS_HEAD) !== 0;
    const head = isMutex ? headPromiseOf(look.view, object) : 0;
    for (const { thread, waits, waited } of list) {
      if (waits === 0 || waited < after || look.threads.get(thread)?.isAsleep) continue;
      if (head === thread) add(thread, object, 'head', false, waited);
      if (isMutex) continue;
      const reads = seatsOf(look, object).some((seat) => seat.thread === thread && seat.waits);
      add(thread, object, kind === KIND_RW_LOCK && !reads ? 'drain' : 'phase', false, waited);
    }
  }
  return waits;
}

// --- What nobody can see ----------------------------------------------------------------------------------

/**
 * Returns what the arena does not know, in words: one line for each object for which somebody waits, `most` at most.
 */
export function unseenIn(look: Look, most: number): string[] {
  const lines: string[] = [];
  for (const object of look.awaited()) {
    if (lines.length === most) break;
    const kind = kindOf(look.view, object);
    if (look.waitingOf(object) === 0 || holdersOf(look, object, kind, 'queue', 0) !== undefined) continue;
    // The first request of a limiter ends its pause itself.
    if (ownNumber(look.view, object) === PAUSE) continue;
    const text = objectText(objectRef(look, object));
    lines.push(
      kind === KIND_SEMAPHORE && look.view.load(object + O_ROBUST) === 0
        ? `${text} has no owners, so nobody knows who has its permits: make it with { robust: true }`
        : `${text}: any thread may end a wait for ${articled(nameOfKind(kind))}, so nobody knows who should`,
    );
  }
  return lines;
}

/** A thread that looks is awake before and after for less than so many milliseconds, if it gets a processor. */
const AWAKE_FOR = 20;

function isOf(looks: ReadonlySet<Look>, which: number | undefined): boolean {
  return which === undefined || [...looks].some(({ index }) => index === which);
}

/** The deadlocks that looks have found, and the last of the looks. */
export interface Answer extends Pick<Deadlocks, 'certain' | 'suspected'> {
  readonly looks: readonly Look[];
  /** The arenas of the deadlocks that are certain, as the looks at them. */
  readonly arenas: readonly ReadonlySet<Look>[];
}

/**
 * Returns the deadlocks of some arenas, certain and suspected.
 * @param look looks at all the arenas. A thread of a deadlock may be awake for a moment, before and after it looks as
 * well, so the arenas may be looked at again.
 * @param which only those count in which a thread waits in the arena with this index; undefined: all count.
 */
export function deadlocksIn(look: () => readonly Look[], after: number, which: number | undefined): Answer {
  const LOOKS = 3;
  const begun = epoch();
  let looks = look();
  let stuck = stuckIn(...looks);
  let certain: (readonly [Found, Deadlock])[] = [];
  for (let times = 1; stuck.size > 0; times++) {
    const circles = circlesIn(stuck).filter((circle) => isOf(looksOf(circle), which));
    certain = circles.flatMap((circle) => {
      const deadlock = confirmed(looks, circle);
      return deadlock ? [[circle, deadlock] as const] : [];
    });
    if (certain.length === circles.length) break;
    if (times >= LOOKS && Math.abs(epoch() - begun) > AWAKE_FOR) break;
    looks = look();
    stuck = stuckIn(...looks);
  }
  const suspected = suspectedIn(after, looks).filter((cycle) => isOf(new Set(cycle.map(({ look }) => look)), which));
  return {
    looks,
    certain: certain.map(([, deadlock]) => deadlock),
    arenas: certain.map(([circle]) => looksOf(circle)),
    suspected: suspected.map((cycle) => deadlockOf(cycle, [], false)),
  };
}
