/**
 * An arena, a semaphore and a mutex describe themselves by plain objects. What these say of waiters and holders, a look at
 * the memory of the arena has found (src/look/elements.ts). Other threads run meanwhile, so the numbers may not fit one
 * another. While all threads rest, the numbers are exact.
 */

import {
  M_OWNER,
  M_WORD,
  O_DEATHS,
  O_MAX,
  O_ROBUST,
  O_TIMEOUTS,
  T_COLLISIONS,
  T_FUTILE_WAKES,
} from '../border/numbers.js';
import { emptyQueue } from '../look/elements.js';
import { holdersIn } from '../look/holders.js';
import { type Look, lookAt } from '../look/look.js';
import { permitsAt } from '../look/permits.js';
import type { View } from '../look/view.js';
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
  /**
   * How many threads hold an object, summed over all objects: a lock, a key, permits of a robust semaphore, tasks of a
   * wait group, or the run of a `Once`. `report` of `taketurns/report` names them.
   */
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

/** Looks at the elements of one object. */
function lookAtObject({ memory }: Membership, at: number): Look {
  return lookAt(memory, timestamp(), MOST_LISTED, at);
}

/**
 * Returns how often all threads that ever registered have counted an event in their records, modulo 2^32. A record
 * keeps its counts when the next thread gets it.
 */
function total(view: View, threads: number, event: number): number {
  let count = 0;
  for (let thread = threads; thread > 0; thread--) count += view.load(view.record(thread) + event);
  return count >>> 0;
}

function ownerOf(view: View, mutex: number): number {
  return view.load(mutex + M_WORD) & M_OWNER;
}

/** @internal */
export function arenaStats({ core, memory }: Membership): ArenaStats {
  const look = lookAt(memory, timestamp(), 0);
  const { view } = look;
  const threads = [...look.threads.values()]
    .filter(({ isDead }) => !isDead)
    .map(({ thread, threadId, isAsleep }): ThreadStats => {
      const { waiting, longest } = look;
      return { thread, threadId, blocked: isAsleep, waiting: waiting[thread] ?? 0, longestWait: longest[thread] ?? 0 };
    });
  const queues = [...look.queues.values()];
  return {
    threads,
    waiting: look.waiting.reduce((sum, waiting) => sum + waiting, 0),
    longestWait: look.longest.reduce((most, wait) => Math.max(most, wait), 0),
    cancelled: queues.reduce((sum, { cancelled }) => sum + cancelled, 0),
    collisions: total(view, core.mostThreads(), T_COLLISIONS),
    futileWakes: total(view, core.mostThreads(), T_FUTILE_WAKES),
    elements: { used: look.elements, capacity: core.mostElements() },
    objects: { used: look.objects.length, capacity: core.mostObjects() },
    holders: look.objects.reduce((sum, object) => sum + (holdersIn(look, object)?.length ?? 0), 0),
  };
}

/** Returns the first waiters of an object as `inspect` lists them. */
function waitersOf(look: Look, at: number): WaiterStats[] {
  return look.waitersOf(at, MOST_LISTED).map(({ thread, blocked, requests, permits, waited }) => {
    return { thread, threadId: look.view.threadId(thread), blocked, requests, permits, waited };
  });
}

/** @internal */
export function semaphoreStats(membership: Membership, at: number): SemaphoreStats {
  const look = lookAtObject(membership, at);
  const { view } = look;
  const queue = look.queues.get(at) ?? emptyQueue(view, at);
  const { available, out } = permitsAt(view, at, queue);
  const { core } = membership;
  return {
    permits: core.initial(at),
    added: core.added(at),
    max: view.load(at + O_MAX),
    available,
    out,
    waiting: look.waitingOf(at),
    widest: queue.widest,
    longestWait: look.longestWaitOf(at),
    cancelled: queue.cancelled,
    timeouts: view.load(at + O_TIMEOUTS) >>> 0,
    robust: view.load(at + O_ROBUST) !== 0,
    ownerDeaths: view.load(at + O_DEATHS) >>> 0,
    waiters: waitersOf(look, at),
    holders: (holdersIn(look, at) ?? []).map(({ thread, permits }) => {
      return { thread, threadId: view.threadId(thread), permits };
    }),
  };
}

/** @internal */
export function mutexStats(membership: Membership, at: number): MutexStats {
  const look = lookAtObject(membership, at);
  const { view } = look;
  const owner = ownerOf(view, at);
  return {
    locked: owner !== 0,
    owner: owner || undefined,
    ownerThreadId: owner === 0 ? undefined : view.threadId(owner),
    bypass: view.load(at + O_MAX),
    waiting: membership.core.waitersOf(at),
    longestWait: look.longestWaitOf(at),
    timeouts: view.load(at + O_TIMEOUTS) >>> 0,
    ownerDeaths: view.load(at + O_DEATHS) >>> 0,
    waiters: waitersOf(look, at),
  };
}

/** @internal */
export function conditionStats(membership: Membership, at: number): ConditionStats {
  const look = lookAtObject(membership, at);
  const timeouts = look.view.load(at + O_TIMEOUTS) >>> 0;
  return { waiting: look.waitingOf(at), longestWait: look.longestWaitOf(at), timeouts, waiters: waitersOf(look, at) };
}
