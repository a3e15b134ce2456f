/**
 * An arena, a semaphore and a mutex describe themselves by plain objects. This file looks at every wait element to make
 * these objects. Other threads run meanwhile, so the numbers may not fit one another. While all threads rest, the
 * numbers are exact.
 */

import type { Core } from '../border/core.js';
import {
  ASYNC,
  ATTACHED,
  IDLE,
  T_COLLISIONS,
  T_DOORBELL,
  T_FUTILE_WAKES,
  THREAD_SIZE,
  TOMBSTONE,
  WAITING,
} from '../border/numbers.js';
import { timestamp } from '../runtime/clock.js';
import type { Membership } from '../runtime/membership.js';
import { MOST_LISTED } from '../runtime/numbers.js';

/** A thread of an arena. */
export interface ThreadStats {
  /** The number of the thread in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /** Whether the thread sleeps in this library. */
  readonly blocked: boolean;
  /** The number of waiting requests of the thread, its promises included. */
  readonly waiting: number;
  /** The longest wait until now, in milliseconds. */
  readonly longestWait: number;
}

/** The use of a limited resource. */
export interface Used {
  /** The number in use now. */
  readonly used: number;
  /** The number in all. */
  readonly capacity: number;
}

/** The answer of `Arena.stats`. */
export interface ArenaStats {
  /** The threads that are attached now. */
  readonly threads: readonly ThreadStats[];
  /** The number of waiting requests, blocked threads and promises alike. */
  readonly waiting: number;
  /** The longest wait until now, in milliseconds. */
  readonly longestWait: number;
  /** The number of cancelled tickets that still stand in the queue. */
  readonly cancelled: number;
  /** How often, since the arena was made, a waiter came to a bucket of the waiting array with another waiter in it. */
  readonly collisions: number;
  /** How often, since the arena was made, a waiter was woken before its turn. */
  readonly futileWakes: number;
  /**
   * Wait elements. Waiters and attachments of threads to objects use them, and each thread has one or two spare
   * elements.
   */
  readonly elements: Used;
  /** Shared objects. */
  readonly objects: Used;
  /** How many threads hold permits of a robust semaphore or hold a mutex, summed over all semaphores and mutexes. */
  readonly holders: number;
}

/** A waiting request, or several waiting promises of one thread that stand side by side and ask for the same number. */
export interface WaiterStats {
  /** The number of the thread in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /**
   * Whether the thread blocks for the request. Otherwise the request is a promise, or its thread is the head of a mutex
   * and polls.
   */
  readonly blocked: boolean;
  /** How many requests this entry stands for; only promises may be more than 1. */
  readonly requests: number;
  /** The number of permits that each of these requests asks for; 1 for a mutex. */
  readonly permits: number;
  /**
   * How long the first of these requests has waited, in milliseconds. A thread that blocks counts from when it has gone
   * to sleep. Until then the number is 0.
   */
  readonly waited: number;
}

/** A thread that holds permits of a robust semaphore. */
export interface HolderStats {
  /** The number of the thread in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /** The number of permits that the thread holds. */
  readonly permits: number;
}

/** The answer of `Semaphore.inspect`. */
export interface SemaphoreStats {
  /** The number of permits with which the semaphore was made. */
  readonly permits: number;
  /** The number of permits that `add` has made since then, less the permits that `reduce` has taken away. */
  readonly added: number;
  /** The greatest number of available permits. */
  readonly max: number;
  /** The number of permits that `tryAcquire` could take. */
  readonly available: number;
  /** The number of permits that requests have taken and not given back; below 0 if more were released than taken. */
  readonly out: number;
  /** The number of waiting requests, blocked threads and promises alike. */
  readonly waiting: number;
  /**
   * The most permits that one waiting request asks for; 0 if no request waits. If it is more than can ever be available
   * at one time, the queue stands still behind that request; see `SemaphoreOptions.max`.
   */
  readonly widest: number;
  /** The longest wait until now, in milliseconds. */
  readonly longestWait: number;
  /** The number of cancelled tickets that still stand in the queue. */
  readonly cancelled: number;
  /**
   * The number of requests that ended by a time-out, a signal or `cancelAll`, since the semaphore was made. Waiting
   * promises of one thread that stand side by side count as one if `cancelAll` ends them.
   */
  readonly timeouts: number;
  /** Whether the permits of each thread are recorded. */
  readonly robust: boolean;
  /** The number of threads that died with permits of it, since the semaphore was made; 0 if it is not robust. */
  readonly ownerDeaths: number;
  /** The waiting requests in the order of the queue: the first 100. */
  readonly waiters: readonly WaiterStats[];
  /** The threads that hold permits, if the semaphore is robust. */
  readonly holders: readonly HolderStats[];
}

/** The answer of `Condition.inspect`. */
export interface ConditionStats {
  /** The number of threads and promises that wait and are not notified. */
  readonly waiting: number;
  /** The longest wait until now, in milliseconds. */
  readonly longestWait: number;
  /** How many waits have ended by a time-out or a signal. */
  readonly timeouts: number;
  /** The requests that wait, or are notified and not yet woken, in the order of the queue: the first 100. */
  readonly waiters: readonly WaiterStats[];
}

/** The answer of `Mutex.inspect`. */
export interface MutexStats {
  /** Whether a thread has the lock. */
  readonly locked: boolean;
  /** The number of the owner in the arena, as in `ThreadHandle`; undefined when there is no owner. */
  readonly owner: number | undefined;
  /** The `threadId` of the owner in `worker_threads`; undefined in web workers. */
  readonly ownerThreadId: number | undefined;
  /** How often a waiter may be overtaken at most. */
  readonly bypass: number;
  /** The number of waiting requests, blocked threads and promises alike. */
  readonly waiting: number;
  /** The longest wait until now, in milliseconds. */
  readonly longestWait: number;
  /**
   * The number of requests that waited and ended by a time-out, a signal or `cancelAll`, since the mutex was made.
   * Waiting promises of one thread that stand side by side count as one if `cancelAll` ends them.
   */
  readonly timeouts: number;
  /** The number of threads that died as the owner, since the mutex was made. */
  readonly ownerDeaths: number;
  /** The waiting requests in the order of the queue: the first 100. */
  readonly waiters: readonly WaiterStats[];
}

/**
 * Sums over the waiting requests that have been looked at so far. There may be millions of requests, so no list of them
 * is made.
 */
interface Tally {
  /** The number of requests. */
  waiting: number;
  /** The permits that these requests wait for. */
  permits: number;
  /** The most permits that one of these requests waits for. */
  widest: number;
  /** The longest wait until now, in milliseconds. */
  longestWait: number;
}

interface Look {
  readonly all: Tally;
  /** The tally of each thread that has a waiting request. */
  readonly threads: ReadonlyMap<number, Tally>;
  readonly holders: readonly HolderStats[];
  /** The first of the waiters, if the look is at one object. */
  readonly waiters: readonly WaiterStats[];
  readonly cancelled: number;
  readonly used: number;
}

/** Returns the first of the waiters by their tickets. */
function firstOf(found: (readonly [bigint, WaiterStats])[]): (readonly [bigint, WaiterStats])[] {
  return found.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST_LISTED);
}

const NONE: Readonly<Tally> = { waiting: 0, permits: 0, widest: 0, longestWait: 0 };

/** Looks at every element, or at those of one object. */
function look(core: Core, object?: number): Look {
  const all = { ...NONE };
  const threads = new Map<number, Tally>();
  const holders: HolderStats[] = [];
  let found: (readonly [bigint, WaiterStats])[] = [];
  const now = timestamp();
  let cancelled = 0;
  let used = 0;
  for (let i = core.usedElements() - 1; i >= 0; i--) {
    const state = core.elementState(i);
    if (state !== IDLE) used++;
    if (object !== undefined && core.elementObject(i) !== object) continue;
    const owner = core.elementOwner(i);
    const thread = owner & (ASYNC - 1);
    // The record of an attachment says whether the thread is the head of a mutex, which has left the queue.
    const isRecord = state === ATTACHED;
    const permits = isRecord ? core.elementHeld(i) : 0;
    if (permits > 0) holders.push({ thread, threadId: threadIdOf(core, thread), permits });
    if (state === TOMBSTONE) cancelled += Number(core.elementWidth(i, 1));
    const waiting = isRecord || (state >= WAITING && state < TOMBSTONE) ? core.elementWaiting(i) : 0;
    if (waiting === 0) continue;
    const isPromise = (owner & ASYNC) !== 0;
    const isAsleep = core.isAsleep(thread) !== 0;
    // Until a thread sleeps, the element still has the time of an earlier wait.
    const waited = isPromise || isAsleep || isRecord ? Math.max(0, (now - (core.elementSince(i) || now)) | 0) : 0;
    const width = Number(core.elementWidth(i, 0));
    const blocked = isRecord ? isAsleep : !isPromise;
    if (object !== undefined) {
      const threadId = threadIdOf(core, thread);
      // The head of a mutex, which has left the queue, comes before all tickets.
      const ticket = isRecord ? -1n : core.elementStart(i);
      found.push([ticket, { thread, threadId, blocked, requests: waiting, permits: width || 1, waited }]);
      // There may be millions of waiters.
      if (found.length > 2 * MOST_LISTED) found = firstOf(found);
    }
    const own = threads.get(thread) ?? { ...NONE };
    threads.set(thread, own);
    for (const tally of [all, own]) {
      tally.waiting += waiting;
      tally.permits += waiting * width;
      tally.widest = Math.max(tally.widest, width);
      tally.longestWait = Math.max(tally.longestWait, waited);
    }
  }
  return { all, threads, holders, waiters: firstOf(found).map(([, waiter]) => waiter), cancelled, used };
}

/**
 * Returns how often all threads that ever registered have counted an event in their records, modulo 2^32. A record
 * keeps its counts when the next thread gets it.
 */
function total({ core, memory, thread }: Membership, event: number): number {
  const words = new Int32Array(memory.buffer);
  const records = core.doorbell() - T_DOORBELL - thread * THREAD_SIZE;
  let count = 0;
  for (let i = core.mostThreads(); i > 0; i--) count += Atomics.load(words, (records + i * THREAD_SIZE + event) >> 2);
  return count >>> 0;
}

/** @internal Returns the `threadId` of a thread in `worker_threads`; undefined if it has none, or the thread is 0. */
export function threadIdOf(core: Core, thread: number): number | undefined {
  const name = thread && core.hostOf(thread);
  return name > 0 ? name - 1 : undefined;
}

/** @internal Names a thread, for errors and descriptions: `thread 2 (threadId 1)`. */
export function threadText(core: Core, thread: number): string {
  const id = threadIdOf(core, thread);
  return `thread ${thread}${id === undefined ? '' : ` (threadId ${id})`}`;
}

/** @internal */
export function arenaStats(membership: Membership): ArenaStats {
  const { core } = membership;
  const { all, threads: tallies, holders, cancelled, used } = look(core);
  const threads: ThreadStats[] = [];
  for (let thread = 1; thread <= core.mostThreads(); thread++) {
    if (core.lifeIfAlive(thread) === 0) continue;
    const { waiting, longestWait } = tallies.get(thread) ?? NONE;
    const blocked = core.isAsleep(thread) !== 0;
    threads.push({ thread, threadId: threadIdOf(core, thread), blocked, waiting, longestWait });
  }
  return {
    threads,
    waiting: all.waiting,
    longestWait: all.longestWait,
    cancelled,
    collisions: total(membership, T_COLLISIONS),
    futileWakes: total(membership, T_FUTILE_WAKES),
    elements: { used, capacity: core.mostElements() },
    objects: { used: core.liveObjects(), capacity: core.mostObjects() },
    holders: holders.length,
  };
}

/** @internal */
export function semaphoreStats(core: Core, at: number): SemaphoreStats {
  const { all, holders, waiters, cancelled } = look(core, at);
  const permits = core.initial(at);
  const added = core.added(at);
  return {
    permits,
    added,
    max: core.maxOf(at),
    available: core.available(at),
    out: permits + added - Number(core.balance(at)) - all.permits - cancelled,
    waiting: all.waiting,
    widest: all.widest,
    longestWait: all.longestWait,
    cancelled,
    timeouts: core.timeouts(at),
    robust: core.isRobust(at) !== 0,
    ownerDeaths: core.deaths(at),
    waiters,
    holders,
  };
}

/** @internal */
export function mutexStats(core: Core, at: number): MutexStats {
  const { all, waiters } = look(core, at);
  const owner = core.ownerOf(at);
  return {
    locked: owner !== 0,
    owner: owner || undefined,
    ownerThreadId: threadIdOf(core, owner),
    bypass: core.maxOf(at),
    waiting: core.waitersOf(at),
    longestWait: all.longestWait,
    timeouts: core.timeouts(at),
    ownerDeaths: core.deaths(at),
    waiters,
  };
}

/** @internal */
export function conditionStats(core: Core, at: number, waiting: number): ConditionStats {
  const { all, waiters } = look(core, at);
  return { waiting, longestWait: all.longestWait, timeouts: core.timeouts(at), waiters };
}
