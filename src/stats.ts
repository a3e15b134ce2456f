/**
 * An arena, a semaphore and a mutex describe themselves by plain objects, taken by a look at every wait element. Other
 * threads go on meanwhile, so the numbers need not fit one another; while all rest, they are exact.
 */
import { ASYNC, ATTACHED, AWAKE, type Core, IDLE, TOMBSTONE, WAITING } from './runtime/core.js';

/** A thread of an arena. */
export interface ThreadStats {
  /** Its number in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** What the runtime calls it: its `threadId` in `worker_threads`; undefined in workers of the web. */
  readonly threadId: number | undefined;
  /** Whether it sleeps in a blocking acquire. */
  readonly blocked: boolean;
  /** Requests of it that wait, its promises included. */
  readonly waiting: number;
  /** Milliseconds for which the one that has waited longest has; of a promise, since it was the first of its thread. */
  readonly longestWait: number;
}

/** How much of something limited is taken. */
export interface Used {
  /** In use now. */
  readonly used: number;
  /** How many there are. */
  readonly capacity: number;
}

/** What an arena tells of itself: `Arena.stats`. */
export interface ArenaStats {
  /** Threads attached now. */
  readonly threads: readonly ThreadStats[];
  /** Requests that wait, blocked threads and promises. */
  readonly waiting: number;
  /** Milliseconds for which the one that has waited longest has. */
  readonly longestWait: number;
  /** Tickets that were cancelled and not passed on yet. */
  readonly cancelled: number;
  /** How often, since the arena was made, a waiter came to a bucket of the waiting array where another stood. */
  readonly collisions: number;
  /** How often, since the arena was made, a waiter was woken whose turn had not come. */
  readonly futileWakes: number;
  /** Wait elements in use, of how many: waiters, attachments of threads to objects, and one or two spares a thread. */
  readonly elements: Used;
  /** Objects in use, of how many. */
  readonly objects: Used;
  /** How many threads hold permits of a robust semaphore, or a mutex, summed over all of them. */
  readonly holders: number;
}

/** A thread that holds permits of a robust semaphore. */
export interface HolderStats {
  /** Its number in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** How many it holds. */
  readonly permits: number;
}

/** What a semaphore tells of itself: `Semaphore.inspect`. */
export interface SemaphoreStats {
  /** Permits that it was made with. */
  readonly permits: number;
  /** Most that may be available at once. */
  readonly max: number;
  /** Permits that `tryAcquire` could take. */
  readonly available: number;
  /** Permits taken and not given back; below 0, when more were released than taken. */
  readonly out: number;
  /** Requests that wait, blocked threads and promises. */
  readonly waiting: number;
  /** Milliseconds for which the one that has waited longest has. */
  readonly longestWait: number;
  /** Tickets that were cancelled and not passed on yet. */
  readonly cancelled: number;
  /** Requests that ended by a time-out or a signal, since it was made. */
  readonly timeouts: number;
  /** Whether each thread's permits are recorded. */
  readonly robust: boolean;
  /** Threads that died with permits of it, since it was made; 0 if it is not robust. */
  readonly ownerDeaths: number;
  /** Who holds permits, if it is robust. */
  readonly holders: readonly HolderStats[];
}

/** What `Mutex.inspect` tells: a snapshot, racy by nature. */
export interface MutexStats {
  /** Whether somebody has the lock. */
  readonly locked: boolean;
  /** The owner's number in the arena, as in `ThreadHandle`; undefined when nobody is. */
  readonly owner: number | undefined;
  /** What the runtime calls the owner: its `threadId` in `worker_threads`; undefined in workers of the web. */
  readonly ownerThreadId: number | undefined;
  /** How often a waiter may be overtaken at most. */
  readonly bypass: number;
  /** Requests that wait, blocked threads and promises. */
  readonly waiting: number;
  /** Milliseconds for which the one that has waited longest has. */
  readonly longestWait: number;
  /** Requests that ended by a time-out or a signal, since it was made; not those that never waited. */
  readonly timeouts: number;
  /** Threads that died as its owner, since it was made. */
  readonly ownerDeaths: number;
}

interface Waiter {
  readonly thread: number;
  readonly isPromise: boolean;
  readonly requests: number;
  readonly width: number;
  readonly since: number;
}

interface Look {
  readonly waiters: readonly Waiter[];
  readonly holders: readonly HolderStats[];
  readonly cancelled: number;
  readonly used: number;
}

const THREAD_MASK = ASYNC - 1;

const ago = (now: number, since: number): number => Math.max(0, (now - since) | 0);

/** Looks at every element, or at those of one object. */
function look(core: Core, object?: number): Look {
  const waiters: Waiter[] = [];
  const holders: HolderStats[] = [];
  const now = Date.now();
  let cancelled = 0;
  let used = 0;
  for (let i = core.usedElements() - 1; i >= 0; i--) {
    const state = core.elementState(i);
    if (state !== IDLE) used++;
    if (object !== undefined && core.elementObject(i) !== object) continue;
    const owner = core.elementOwner(i);
    const thread = owner & THREAD_MASK;
    if (state === TOMBSTONE) cancelled += Number(core.elementWidth(i, 1));
    else if (state === ATTACHED) {
      const permits = core.elementHeld(i);
      if (permits > 0) holders.push({ thread, permits });
      if (core.elementWaiting(i) === 0) continue;
      // The head waiter of a mutex is in no queue any more.
      const isPromise = core.isAsleep(thread) === 0;
      waiters.push({ thread, isPromise, requests: 1, width: 0, since: ago(now, core.elementSince(i)) });
    } else if (state === WAITING || state === AWAKE || (owner & ASYNC && state > IDLE + 1 && state < AWAKE)) {
      const requests = core.elementWaiting(i);
      if (requests === 0) continue;
      // Before a thread sleeps, and before a promise is entered in the array, the time there is of an earlier wait.
      const isAsleep = owner & ASYNC ? state !== AWAKE : core.isAsleep(thread) !== 0;
      waiters.push({
        thread,
        isPromise: (owner & ASYNC) !== 0,
        requests,
        width: Number(core.elementWidth(i, 0)),
        since: isAsleep ? ago(now, core.elementSince(i)) : 0,
      });
    }
  }
  return { waiters, holders, cancelled, used };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const requestsOf = (waiters: readonly Waiter[]): number => sum(waiters.map(({ requests }) => requests));
const longest = (waiters: readonly Waiter[]): number => Math.max(0, ...waiters.map(({ since }) => since));

export function arenaStats(core: Core): ArenaStats {
  const { waiters, holders, cancelled, used } = look(core);
  const threads: ThreadStats[] = [];
  for (let thread = 1; thread <= core.mostThreads(); thread++) {
    if (core.lifeIfAlive(thread) === 0) continue;
    const host = core.hostOf(thread);
    const own = waiters.filter((waiter) => waiter.thread === thread);
    threads.push({
      thread,
      threadId: host === 0 ? undefined : host - 1,
      blocked: own.some(({ isPromise }) => !isPromise),
      waiting: requestsOf(own),
      longestWait: longest(own),
    });
  }
  return {
    threads,
    waiting: requestsOf(waiters),
    longestWait: longest(waiters),
    cancelled,
    collisions: core.collisions(),
    futileWakes: core.futileWakes(),
    elements: { used, capacity: core.mostElements() },
    objects: { used: core.liveObjects(), capacity: core.mostObjects() },
    holders: holders.length,
  };
}

export function semaphoreStats(core: Core, at: number): SemaphoreStats {
  const { waiters, holders, cancelled } = look(core, at);
  const permits = core.initial(at);
  const queued = sum(waiters.map(({ requests, width }) => requests * width));
  return {
    permits,
    max: core.maxOf(at),
    available: core.available(at),
    out: permits - Number(core.balance(at)) - queued - cancelled,
    waiting: requestsOf(waiters),
    longestWait: longest(waiters),
    cancelled,
    timeouts: core.timeouts(at),
    robust: core.isRobust(at) !== 0,
    ownerDeaths: core.deaths(at),
    holders,
  };
}

export function mutexStats(core: Core, at: number): MutexStats {
  const { waiters } = look(core, at);
  const owner = core.ownerOf(at);
  const host = owner === 0 ? 0 : core.hostOf(owner);
  return {
    locked: owner !== 0,
    owner: owner === 0 ? undefined : owner,
    ownerThreadId: host === 0 ? undefined : host - 1,
    bypass: core.maxOf(at),
    waiting: core.waitersOf(at),
    longestWait: longest(waiters),
    timeouts: core.timeouts(at),
    ownerDeaths: core.deaths(at),
  };
}
