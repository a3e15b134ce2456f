/** A report of an arena: what a look has found (src/look/look.ts), as a plain object. */

import {
  GATE_SHUT,
  H_ELEMENTS,
  H_OBJECTS,
  H_THREADS,
  HAS_HEAD,
  HAS_PHASE,
  KIND_EVENT,
  KIND_ONCE,
  KIND_RATE_LIMITER,
  KIND_RW_LOCK,
  KIND_SEMAPHORE,
  M_OWNER,
  M_WORD,
  O_DEATHS,
  O_PHASE,
  O_TIMEOUTS,
  PHASE_COUNT,
} from '../border/numbers.js';
import { emptyQueue, type Queue } from '../look/elements.js';
import { holdersIn } from '../look/holders.js';
import { attachmentsOf, type Look, seatsOf, type Waiter } from '../look/look.js';
import { limiterOf } from '../look/names.js';
import { permitsAt } from '../look/permits.js';
import { kindOf } from '../look/view.js';
import type { Used } from '../objects/stats.js';
import { epoch } from '../runtime/epoch.js';
import { badType } from '../runtime/errors.js';
import { type Deadlock, deadlocksIn, unseenIn } from './deadlocks.js';
import { dateText, type RateWaits, rateWaitsIn } from './rate-waits.js';
import { counted, type ObjectRef, objectRefIn, objectText, type ThreadRef, threadRef, threadText } from './refs.js';

/** What a thread holds. */
export interface Holding extends ObjectRef {
  /** How many permits or tasks it holds, 1 for a lock. */
  readonly permits: number;
}

/** What a thread waits for. */
export interface Waiting extends ObjectRef {
  /**
   * Whether the thread blocks for it, in `select` among others. Otherwise promises of the thread wait, or the thread
   * polls.
   */
  readonly blocked: boolean;
  /** How many requests of the thread wait for it. */
  readonly requests: number;
  /** How many permits each of these requests asks for. */
  readonly permits: number;
  /** How long the first of these requests has waited, in milliseconds. */
  readonly waited: number;
}

/** A thread of the arena. */
export interface ThreadReport extends ThreadRef {
  /** `asleep`: it blocks in this library. `dead`: it has died, and what it held is being given back. */
  readonly state: 'awake' | 'asleep' | 'dead';
  /** Whether it blocks for something in another arena. This is known if the look was at that arena as well. */
  readonly elsewhere: boolean;
  /** What it holds, as far as that is known: not the permits of a semaphore that is not robust. The first 100. */
  readonly holds: readonly Holding[];
  /** The number of objects that it holds. */
  readonly holding: number;
  /** What it waits for: the first 100. */
  readonly waits: readonly Waiting[];
  /** The number of its requests that wait, its promises included. */
  readonly waiting: number;
  /** The longest of these waits until now, in milliseconds. */
  readonly longestWait: number;
}

/** A waiting request, or several waiting promises of one thread that stand side by side and ask for the same number. */
export interface WaiterReport extends ThreadRef {
  /**
   * Whether the thread blocks for it, in `select` among others. Otherwise the request is a promise, or the thread is
   * the head of a mutex and polls.
   */
  readonly blocked: boolean;
  /** How many requests this entry stands for; only promises may be more than 1. */
  readonly requests: number;
  /** The number of permits that each of these requests asks for; 1 for a lock. */
  readonly permits: number;
  /** How long the first of these requests has waited, in milliseconds. */
  readonly waited: number;
  /**
   * In how many milliseconds the first of these requests may go, if it waits for a `RateLimiter` and all in front of it
   * go on time. Undefined if nobody knows, and for all other objects.
   */
  readonly left: number | undefined;
}

/** A thread that holds an object, or permits of it. */
export interface HolderReport extends ThreadRef {
  /** How many permits or tasks it holds, 1 for a lock. */
  readonly permits: number;
}

/** A shared object of the arena. */
export interface ObjectReport extends ObjectRef {
  /** Its state in a few words, such as `locked`, `2 of 4 permits out` or `3 left`. */
  readonly state: string;
  /** The permits that are free; undefined if it has no permits. */
  readonly available: number | undefined;
  /** The permits that requests have taken and not given back; undefined if it has no permits. */
  readonly out: number | undefined;
  /** Who holds it. Undefined if nobody can know: a semaphore that is not robust has no owners. */
  readonly holders: readonly HolderReport[] | undefined;
  /** The thread that has the writers' turn of a `RwLock`. */
  readonly turn: ThreadRef | undefined;
  /** The number of waiting requests, blocked threads and promises alike. */
  readonly waiting: number;
  /** The requests in the order of the queue: the first 100. */
  readonly waiters: readonly WaiterReport[];
  /** The longest wait until now, in milliseconds. */
  readonly longestWait: number;
  /** The number of cancelled tickets that still stand in the queue. */
  readonly cancelled: number;
  /** The number of requests that ended by a time-out, a signal or `cancelAll`. */
  readonly timeouts: number;
  /** The number of threads that died as its owners. */
  readonly ownerDeaths: number;
}

/** The answer of `report`. */
export interface ArenaReport {
  /** When the look began: milliseconds since 1970. */
  readonly at: number;
  /** The threads that are attached. */
  readonly threads: readonly ThreadReport[];
  /** The live objects. */
  readonly objects: readonly ObjectReport[];
  /** The number of waiting requests, blocked threads and promises alike. */
  readonly waiting: number;
  /** The longest wait until now, in milliseconds. */
  readonly longestWait: number;
  /** The number of requests of the live objects that ended by a time-out, a signal or `cancelAll`. */
  readonly timeouts: number;
  /** The number of threads that died as owners of the live objects. */
  readonly ownerDeaths: number;
  /** The deadlocks that are certain; see `Deadlocks`. */
  readonly deadlocks: readonly Deadlock[];
  /** Circles in which a promise has waited for long; see `Deadlocks`. */
  readonly suspected: readonly Deadlock[];
  /** What the report cannot see, in words. */
  readonly unseen: readonly string[];
  /** What the arena has room for, and how much of the room is in use. */
  readonly used: {
    /** Threads that are attached. */
    readonly threads: Used;
    /** Shared objects, with or without a name. */
    readonly objects: Used;
    /** Wait elements: waiters and attachments use them. */
    readonly elements: Used;
    /** Bytes of the memory: at most so many have been touched. */
    readonly bytes: Used;
  };
}

/** What a thread does, while the report is made: see ThreadReport. */
interface Doing {
  readonly holds: Holding[];
  holding: number;
  readonly waits: Waiting[];
  waiting: number;
  longestWait: number;
}

/**
 * Describes an arena.
 * @param looker looks at the arena, and at other ones in which its threads may wait.
 * @param which the index of the arena among these.
 */
export function reportOf(looker: () => readonly Look[], after: number, most: number, which = 0): ArenaReport {
  const at = epoch();
  const { looks, certain, suspected } = deadlocksIn(looker, after, which);
  const look = looks[which] as Look;
  const threads = new Threads(look, most);
  // Who sleeps in the pause of a RateLimiter waits for the limiter.
  const told = look.objects.filter((object) => limiterOf(look.view, object) === undefined);
  const objects = told.map((object) => objectReport(look, object, threads, most));
  return {
    at,
    threads: threads.reports(asleepIn(looks.filter((one) => one !== look))),
    objects,
    waiting: objects.reduce((sum, { waiting }) => sum + waiting, 0),
    longestWait: objects.reduce((longest, { longestWait }) => Math.max(longest, longestWait), 0),
    timeouts: objects.reduce((sum, { timeouts }) => sum + timeouts, 0),
    ownerDeaths: objects.reduce((sum, { ownerDeaths }) => sum + ownerDeaths, 0),
    deadlocks: certain,
    suspected,
    unseen: unseenIn(look, most),
    used: usedOf(look),
  };
}

/** The threads of an arena, and what each of them does: the reports of the objects tell it. */
class Threads {
  readonly #look: Look;
  /** How many holdings and waits of a thread are listed. */
  readonly #most: number;
  readonly #doing = new Map<number, Doing>();
  readonly #refs = new Map<number, ThreadRef>();

  constructor(look: Look, most: number) {
    this.#look = look;
    this.#most = most;
    for (const thread of look.threads.keys()) {
      const [waiting = 0, longestWait = 0] = [look.waiting[thread], look.longest[thread]];
      this.#doing.set(thread, { holds: [], holding: 0, waits: [], waiting, longestWait });
      this.#refs.set(thread, threadRef(look, thread));
    }
  }

  refOf(thread: number): ThreadRef {
    return this.#refs.get(thread) ?? threadRef(this.#look, thread);
  }

  /** A thread holds an object. */
  holds(thread: number, ref: ObjectRef, permits: number): void {
    const own = this.#doing.get(thread);
    if (!own) return;
    own.holding++;
    if (own.holds.length < this.#most) own.holds.push({ ...ref, permits });
  }

  /** A thread waits for an object. */
  waits({ thread, blocked, requests, permits, waited }: Waiter, ref: ObjectRef): void {
    const waits = this.#doing.get(thread)?.waits;
    if (waits && waits.length < this.#most) waits.push({ ...ref, blocked, requests, permits, waited });
  }

  /** A thread waits for a rate. The look knows only of its sleeps in the queue of the limiter's pause. */
  waitsForRate(thread: number, { requests, sleeps, longest }: RateWaits): void {
    const own = this.#doing.get(thread);
    if (!own) return;
    own.waiting = Math.max(own.waiting - sleeps, 0) + requests;
    own.longestWait = Math.max(own.longestWait, longest);
  }

  /** @param elsewhere the threads that block in other arenas. */
  reports(elsewhere: ReadonlySet<number>): ThreadReport[] {
    return [...this.#look.threads.values()].map(({ thread, isDead, isAsleep }) => ({
      ...this.refOf(thread),
      state: isDead ? 'dead' : isAsleep || elsewhere.has(this.#look.whoOf(thread)) ? 'asleep' : 'awake',
      elsewhere: !isDead && !isAsleep && elsewhere.has(this.#look.whoOf(thread)),
      ...(this.#doing.get(thread) as Doing),
    }));
  }
}

/** Describes an object, and tells the threads what they hold of it and that they wait for it. */
function objectReport(look: Look, object: number, threads: Threads, most: number): ObjectReport {
  const { view } = look;
  const ref = objectRefIn(view, object);
  const kind = kindOf(view, object);
  const queue = look.queues.get(object) ?? emptyQueue(view, object);
  const rate = kind === KIND_RATE_LIMITER ? rateWaitsIn(look, object) : undefined;
  for (const [thread, its] of rate?.threads ?? []) threads.waitsForRate(thread, its);
  const waiters: readonly (Waiter & { readonly left?: number | undefined })[] =
    rate?.waiters.slice(0, most) ?? look.waitersOf(object, most);
  const holders = holdersIn(look, object);
  for (const { thread, permits } of holders ?? []) threads.holds(thread, ref, permits);
  for (const waiter of waiters) threads.waits(waiter, ref);
  const turn = kind === KIND_RW_LOCK ? attachmentsOf(look, object).find(({ held }) => held > 0) : undefined;
  const { state, available, out } = rate ?? permitsOf(look, object, ref, queue);
  // Written out: copying all properties would take ten times as long.
  return {
    kind: ref.kind,
    name: ref.name,
    key: ref.key,
    part: ref.part,
    number: ref.number,
    state,
    available,
    out,
    holders: holders?.map(({ thread, permits }) => ({ ...threads.refOf(thread), permits })),
    turn: turn && threads.refOf(turn.thread),
    waiting: rate?.waiting ?? look.waitingOf(object),
    waiters: waiters.map(({ thread, blocked, requests, permits, waited, left }) => {
      const { threadId, name } = threads.refOf(thread);
      return { thread, threadId, name, blocked, requests, permits, waited, left };
    }),
    longestWait: rate?.longestWait ?? look.longestWaitOf(object),
    cancelled: queue.cancelled,
    timeouts: view.load(object + O_TIMEOUTS) >>> 0,
    ownerDeaths: view.load(object + O_DEATHS) >>> 0,
  };
}

/** Returns the threads that block in the arenas of some looks. */
function asleepIn(looks: readonly Look[]): Set<number> {
  return new Set(
    looks.flatMap((look) =>
      [...look.threads.values()].flatMap(({ thread, isAsleep }) => (isAsleep ? [look.whoOf(thread)] : [])),
    ),
  );
}

function permitsOf(
  look: Look,
  object: number,
  ref: ObjectRef,
  queue: Queue,
): Pick<ObjectReport, 'state' | 'available' | 'out'> {
  const { view } = look;
  const kind = kindOf(view, object);
  const none = { available: undefined, out: undefined };
  if ((kind & HAS_HEAD) !== 0) {
    const owner = view.load(object + M_WORD) & M_OWNER;
    return { state: owner === 0 ? 'unlocked' : 'locked', ...none };
  }
  if (kind === KIND_RW_LOCK) {
    const isShut = (view.load(object + O_PHASE) & GATE_SHUT) !== 0;
    const isRead = seatsOf(look, object).some(({ reads }) => reads);
    const shut = isRead ? 'locked for reading, and a writer waits for these readers' : 'locked for writing';
    const isUpdated = attachmentsOf(look, object).some(({ held }) => held > 0);
    const open = [...(isRead ? ['reading'] : []), ...(isUpdated ? ['an update'] : [])].join(' and for ');
    return { state: isShut ? shut : open ? `locked for ${open}` : 'unlocked', ...none };
  }
  if (kind === KIND_SEMAPHORE) {
    const { made, available, out } = permitsAt(view, object, queue);
    const isLock = ref.kind === 'KeyedMutex';
    const state = isLock ? (out > 0 ? 'locked' : 'unlocked') : `${out} of ${counted(made, 'permit')} out`;
    return { state, available, out };
  }
  if ((kind & HAS_PHASE) === 0) return { state: '', ...none };
  const count = view.load(object + O_PHASE) & PHASE_COUNT;
  if (kind === KIND_ONCE) return { state: ['done', 'not begun', 'runs'][count] ?? '', ...none };
  if (kind === KIND_EVENT) return { state: count === 0 ? 'set' : 'not set', ...none };
  return { state: `${count} left`, ...none };
}

function usedOf({ view, threads, objects, elements }: Look): ArenaReport['used'] {
  return {
    threads: { used: threads.size, capacity: view.load(H_THREADS) },
    objects: { used: objects.length, capacity: view.load(H_OBJECTS) },
    elements: { used: elements, capacity: view.load(H_ELEMENTS) },
    bytes: { used: view.touched(), capacity: view.byteLength },
  };
}

// --- The report in words ----------------------------------------------------------------------------------

/**
 * Returns a report in words: the deadlocks first, then each object for which somebody waits, then each thread that
 * waits or holds something. Never blocks, throws nothing if the report is one of `report`.
 *
 * @example
 * ```ts
 * import { formatReport, report } from 'taketurns/report';
 *
 * console.log(formatReport(report()));
 * ```
 * @since 0.3.0
 */
export function formatReport(report: ArenaReport): string {
  if (!Array.isArray((report as ArenaReport | null | undefined)?.threads))
    throw badType('formatReport: report', 'what report() returns', report, 'write formatReport(report())');
  const { threads, objects, deadlocks, suspected, unseen, waiting, longestWait } = report;
  return [
    `${counted(threads.length, 'thread')}, ${counted(objects.length, 'object')}, ${waiting} waiting, the longest for ${longestWait} ms`,
    ...[...deadlocks, ...suspected].map(({ text }) => text.toUpperCase().slice(0, 1) + text.slice(1)),
    ...objects.flatMap((object) => (object.waiting === 0 ? [] : linesOfObject(object))),
    ...threads.flatMap((thread) => (thread.holding === 0 && thread.waiting === 0 ? [] : [lineOfThread(thread)])),
    ...unseen.map((line) => `Not seen: ${line}`),
  ].join('\n');
}

function linesOfObject(object: ObjectReport): string[] {
  const { holders, state, turn } = object;
  const by = holders?.map((holder) => threadText(holder)).join(', ');
  const isRate = object.kind === 'RateLimiter';
  const owners = isRate
    ? ''
    : holders === undefined
      ? ', nobody knows by whom'
      : by
        ? `, held by ${by}`
        : ', held by nobody';
  const whose = turn ? `, it is the turn of ${threadText(turn)}` : '';
  return [
    `${objectText(object)}: ${state || 'waited for'}${owners}${whose}, ${object.waiting} waiting`,
    ...object.waiters.map((waiter) => {
      const { requests, permits, waited, blocked, left } = waiter;
      const times = requests === 1 ? '' : ` (${requests} times)`;
      return `  ${threadText(waiter)} waits for ${permits}${times}, ${blocked ? 'blocked' : 'by a promise'}, for ${waited} ms${isRate ? dateText(left) : ''}`;
    }),
  ];
}

function lineOfThread(thread: ThreadReport): string {
  const { holds, holding, waits, waiting, state, elsewhere } = thread;
  const held = holds.map((one) => objectText(one) + (one.permits > 1 ? ` (${one.permits})` : ''));
  if (holding > holds.length) held.push(`${holding - holds.length} more`);
  const wanted = waits.map((wait) => objectText(wait));
  const more = waiting - waits.reduce((sum, { requests }) => sum + requests, 0);
  if (more > 0) wanted.push(`${more} more`);
  if (elsewhere) wanted.push('an object of another arena');
  return `${threadText(thread)}: ${state}, holds ${held.join(', ') || 'nothing'}, waits for ${
    wanted.join(', ') || 'nothing in this arena'
  }`;
}
