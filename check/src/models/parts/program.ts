/**
 * Makes a model from a line. A line has a name, the programs of the threads as one text, and the initial state. In the
 * text, bars stand between the programs of two threads. Each word of the text stands for one op: a letter, and behind
 * some letters a number. Without a number, the word means 1. An apostrophe at the end of a word says that the op is on
 * the second semaphore.
 *
 *     A2  acquire(2)
 *     B2  acquire(2) with a time-out
 *     W2  acquire(2) with a time-out; when the time is over, the thread waits a second time before it cancels
 *     Y2  tryAcquire(2)
 *     F   drain: takes all permits that are free
 *     F2  drain, which must get either 2 permits or none
 *     R   release of the permits that the thread has acquired, if it has acquired any
 *     V2  release(2), of permits that nobody held
 *     P2  add(2)
 *     M2  reduce(2)
 *     D   dispose
 *     K   cancelAll
 *     a2  acquireAsync(2)
 *     t2  acquireAsync(2, { signal })
 *     x2  fires the signal of the second of the waiting promises that have a signal
 *     e   enters the first run of promises in the waiting array, as the event loop does before it sleeps
 *     d   runs the event loop until no promise waits
 *     k   the same, but the promises keep their permits
 *     l   runs the event loop until it would sleep. The next ops run as a task of the thread. A later `d` goes on with
 *         this sleep
 *     S   reaps each thread that dies
 *     s   reaps thread 0, if thread 0 is dead by now
 *     w   waits until thread 0 is dead
 *     Z   sleeps until the thread is killed
 *     E   ends the thread in the orderly way
 */

import { Violation } from '../../engine/search/violation.js';
import {
  B_CELLS,
  BORROWED,
  C_DUE_HEAD,
  C_LOCATION_HEAD,
  constant,
  E_GATE,
  ELEMENT_SIZE,
  KEPT,
  LINE,
  O_LIFE,
  O_TAKEN,
  O_VAIN_POLLS,
  STATE_MASK,
} from '../../scene/layout.js';
import type { Model, Op } from '../../scene/model.js';
import { newObject } from '../../scene/new-object.js';
import { acquire, acquireFor, drain, reduce, tryAcquire } from '../../scene/ops/acquire.js';
import { cancelAll, checkLeft } from '../../scene/ops/asking.js';
import { call, dispose } from '../../scene/ops/calls.js';
import { awaitDeath, reapNow, supervise, untilDead } from '../../scene/ops/deaths.js';
import { eventLoop, keeping, listening } from '../../scene/ops/event-loop.js';
import { acquireOf, type Listing, releaseOf } from '../../scene/ops/listings.js';
import { abort, arrive, flush } from '../../scene/ops/promises.js';
import { add, post, release } from '../../scene/ops/release.js';
import type { Scene } from '../../scene/scene.js';

/** Three threads that acquire and release one permit twice. */
export const three = 'A R A R | A R A R | A R A R';

/** The ticket at which the low half of a counter wraps, in the middle of the model. */
export const WRAP = 2n ** 32n - 2n;

/** `near` of core/queue/polling.ts: if more requests are before a waiter, the waiter does not poll. */
const NEAR = 2;

export interface Line {
  readonly name: string;
  readonly program: string;
  /** The permits of each semaphore. */
  readonly permits: readonly number[];
  /** The most permits of each semaphore; without it there is no bound, and no release looks for one. */
  readonly max?: number;
  readonly buckets?: 1 | 2 | 4;
  readonly spin?: number;
  /**
   * If given, waiters decide for themselves how long they poll (core/queue/polling.ts). `pauses` is the length of a full
   * poll, in calls of `pause`. `vain` is the count of vain polls at the start.
   */
  readonly awake?: { readonly pauses: number; readonly vain: number };
  /** The initial value of the counters. */
  readonly first?: bigint;
  /** How many cells of every bucket are free; 12 by default. The other cells are taken for good. */
  readonly cells?: number;
  /** How many cells of each overflow line that a bucket has to itself are free; 12 by default. */
  readonly linesCells?: number;
  /** The library's Semaphore by default. */
  readonly kind?: keyof typeof LISTINGS;
  /** The LongTermThreshold. */
  readonly threshold?: number;
  /** How a chain wakes: WAKE_* of core/papers/words.ts. */
  readonly wake?: number;
  /** 1: waiters on channels wait by keyWaitLazy. */
  readonly lazy?: number;
  /** How often a waiter looks at grant before it enters its chain. */
  readonly look?: number;
  /** 1: waiters at locations alternate between two elements. */
  readonly alternates?: number;
  /** The pauses of a waiter on a ticket semaphore for each ticket ahead. */
  readonly delay?: number;
  /** The hash, one of HASH_*, if the kind has one. */
  readonly hash?: number;
  readonly mayWait?: boolean;
  readonly long?: boolean;
  readonly aged?: boolean;
  /** Whether no thread has borrowed an element before it begins to wait, as inside the condition of a wait by key. */
  readonly cold?: boolean;
  /** The threads that may be killed: one of them, or as many as `deaths` says. */
  readonly mortal?: readonly number[];
  readonly deaths?: number;
  /** The threads that are killed only in their sleep. */
  readonly asleep?: readonly number[];
  readonly undead?: boolean;
  readonly robust?: boolean;
  /** Whether a thread that is asked to leave may find no element for its tombstone, and wait on. */
  readonly full?: boolean;
  /** Elements beyond one for each thread and one for each promise. */
  readonly extra?: number;
  /** How many objects lie before the semaphores, so that these are not the first. */
  readonly before?: number;
}

/** The value of the gate of a sleeping thread. A higher value means that the gate is open. */
const PARKED = constant('PARKED');
const E_BELOW = constant('E_BELOW');

const CELLS = (LINE - B_CELLS) / 4;
function over(kind: 'CHAIN' | 'CHANNEL' | 'LOCATION', name: string, way = ''): Listing & { kind: string } {
  return { kind, acquire: `${name}Acquire`, release: `${name}Release${way}`, dispose: `${name}Dispose` };
}

/** The papers' semaphores, with the names of their functions. */
export const LISTINGS = {
  ticket: {
    kind: 'TICKET',
    acquire: 'ticketAcquire',
    await: 'ticketAwait',
    release: 'ticketRelease',
    post: 'ticketPost',
    dispose: 'ticketDispose',
  },
  delayed: {
    kind: 'TICKET',
    acquire: 'ticketAcquire',
    await: 'ticketAwaitDelayed',
    release: 'ticketRelease',
    post: 'ticketPost',
    dispose: 'ticketDispose',
  },
  twa: {
    kind: 'TWA',
    acquire: 'twaAcquire',
    await: 'twaAwait',
    release: 'twaRelease',
    post: 'twaPost',
    dispose: 'twaDispose',
  },
  conservative: {
    kind: 'TWA',
    acquire: 'twaAcquire',
    await: 'twaAwait',
    release: 'twaReleaseConservative',
    dispose: 'twaDispose',
  },
  sequestered: {
    kind: 'TWA',
    acquire: 'twaAcquireSequestered',
    await: 'twaAwait',
    release: 'twaReleaseConservative',
    dispose: 'twaDispose',
  },
  chain: over('CHAIN', 'chain'),
  'chain conservative': over('CHAIN', 'chain', 'Conservative'),
  channel: over('CHANNEL', 'channel'),
  'channel conservative': over('CHANNEL', 'channel', 'Conservative'),
  location: over('LOCATION', 'location'),
  'location conservative': over('LOCATION', 'location', 'Conservative'),
} as const satisfies Record<string, Listing & { kind: string }>;

/** Whether the waiters of this kind wait on elements that their threads have borrowed. */
const borrows = (kind: Line['kind']): boolean =>
  kind !== undefined && ['CHAIN', 'CHANNEL', 'LOCATION'].includes(LISTINGS[kind].kind);

function op(text: string, kind: Line['kind']): Op {
  const [, letter, count, second] = /^([ABWRVYFMPatxdkleDSsEZwK])(\d*)('?)$/.exec(text) ?? [];
  const n = count === undefined || count === '' ? 1 : Number(count);
  const semaphore = second === "'" ? 1 : 0;
  if (kind !== undefined) {
    const listing = LISTINGS[kind];
    if (letter === 'A') return acquireOf(listing, semaphore);
    if (letter === 'R') return releaseOf(listing, semaphore);
    if (letter === 'V') return releaseOf(listing, semaphore, n);
    if (letter === 'D') return dispose(semaphore, listing.dispose);
    if (letter === 'E') return call('retire', () => []);
    throw new Error(`a ${kind} semaphore has no ${text}`);
  }
  switch (letter) {
    case 'A':
      return acquire(n, semaphore);
    case 'B':
      return acquireFor(n, semaphore);
    case 'W':
      return acquireFor(n, semaphore, true);
    case 'R':
      return release(semaphore);
    case 'V':
      return post(n, semaphore);
    case 'Y':
      return tryAcquire(n, semaphore);
    case 'F':
      return drain(count === '' ? 0 : n, semaphore);
    case 'M':
      return reduce(n, semaphore);
    case 'P':
      return add(n, semaphore);
    case 'a':
      return arrive(n);
    case 't':
      return arrive(n, true);
    case 'x':
      return abort(n);
    case 'd':
      return eventLoop();
    case 'k':
      return keeping();
    case 'l':
      return listening();
    case 'e':
      return flush();
    case 'D':
      return dispose(semaphore);
    case 'S':
      return supervise();
    case 's':
      return reapNow();
    case 'w':
      return untilDead();
    case 'Z':
      return awaitDeath();
    case 'K':
      return cancelAll();
    case 'E':
      return call('unregister', () => []);
    default:
      throw new Error(`a program has no ${text}`);
  }
}

/** Takes cells for good, so that few waiters fill a line. The cells name an element that is never in use. */
export function takeCells(scene: Scene, free: number, number: number, from: number, end: number): void {
  for (let line = from; line < end; line += LINE) {
    for (let c = free; c < CELLS; c++) scene.machine.hostStore32(line + B_CELLS + 4 * c, number);
  }
}

/** The life of a disposed object without references (core/arena/objects.ts); each attached, unreaped thread adds 1. */
const DISPOSED = 3 << 24;
const LIVE = 2 << 24;

function checkDisposed(scene: Scene, semaphores: ReadonlySet<number>): void {
  // Threads reap only in models with deaths, and in those every thread is attached.
  const attached = scene.model.arena?.attached ?? 1;
  let references = attached;
  for (let t = 0; t < attached; t++) if (scene.dead(t)) references--;
  for (const s of scene.semaphores.keys()) {
    if (!semaphores.has(s) && scene.closed(s)) throw new Violation('a semaphore is closed, and nobody has done that');
  }
  for (const s of semaphores) {
    const life = scene.machine.words[(scene.semaphores[s] + O_LIFE) >> 2] & ~KEPT;
    // The thread that was to dispose may have died before it began. Then the object still lives, and must not be
    // closed.
    if (references < attached && life === LIVE + references && !scene.closed(s)) continue;
    if (life !== DISPOSED + references || !scene.closed(s))
      throw new Violation(`the life of a disposed object ends as 0x${life.toString(16)}`);
  }
}

/** Checks, when every thread has ended, that no element is borrowed or on a chain. */
export function checkRetired(scene: Scene): void {
  const { chains, buckets, elements, end } = scene.regions;
  const word = (address: number): number => scene.machine.words[address >> 2];
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    if ((word(e) & STATE_MASK) === BORROWED) throw new Violation('an element is still borrowed');
  }
  for (let line = chains; line < buckets; line += LINE) {
    if (word(line + C_LOCATION_HEAD) !== 0) throw new Violation('a location is not empty');
  }
}

/** Checks that no element of a woken thread is on a chain. */
function checkDueChains(scene: Scene): void {
  const { chains, buckets } = scene.regions;
  const word = (address: number): number => scene.machine.words[address >> 2];
  for (let line = chains; line < buckets; line += LINE) {
    for (let e = word(line + C_DUE_HEAD); e !== 0; e = word(e + E_BELOW)) {
      if (word(e + E_GATE) > PARKED) throw new Violation('a thread has been woken, and its element is on a chain');
    }
  }
}

/** The program of each thread. */
export function partsOf(program: string): string[] {
  return program.split('|').map((part) => part.trim());
}

export function modelOf(line: Line): Model {
  const parts = partsOf(line.program);
  const programs = parts.map((part) => part.split(/\s+/).map((word) => op(word, line.kind)));
  const asks = line.program.includes('K');
  // Some waiters may stay if no element is left for their tombstones, or if the thread that calls cancelAll dies
  // meanwhile.
  const allLeave = asks && !line.full && !line.mortal?.some((t) => parts[t]?.includes('K'));
  const promises = (line.program.match(/[at]\d/g) ?? []).length;
  // A thread that cancels leaves an element behind, and takes another one.
  const timed = (line.program.match(asks ? /[ABW]/g : /[BW]/g) ?? []).length;
  const elements = programs.length + promises + (line.extra ?? timed);
  const { before = 0, cells = CELLS, kind } = line;
  const disposed = new Set((line.program.match(/D'?/g) ?? []).map((text) => text.length - 1));
  return {
    name: line.name,
    ...(kind === undefined ? {} : { program: 'algorithms' }),
    programs,
    // dispose looks at elements in the order of their numbers, so its threads are not symmetric.
    ...(kind === undefined && /[DK]/.test(line.program) ? {} : { symmetric: parts }),
    arena: {
      buckets: line.buckets ?? 1,
      elements: elements + (cells < CELLS ? 1 : 0),
      objects: line.permits.length + before,
      // reap looks only after objects to which the dead thread was attached. So every thread is attached.
      attached: line.robust || line.program.includes('S') ? programs.length : 1,
    },
    mayWait: line.mayWait ?? asks,
    asks,
    ...(line.mortal === undefined ? {} : { deaths: line.deaths ?? 1, mortal: line.mortal }),
    ...(line.asleep === undefined ? {} : { asleep: line.asleep }),
    undead: line.undead ?? false,
    long: line.long ?? false,
    aged: line.aged ?? false,
    end: (scene) => {
      checkDisposed(scene, disposed);
      if (allLeave) checkLeft(scene);
      checkDueChains(scene);
      if (programs.every((program) => program.at(-1)?.text === 'retire')) checkRetired(scene);
    },
    objects: (scene) => {
      for (let i = 0; i < before; i++)
        scene.callNow(0, 'createObject', ...newObject({ kind: constant('KIND_SEMAPHORE') }));
      if (borrows(kind) && !line.cold) for (let t = 0; t < programs.length; t++) scene.callNow(t, 'prepare');
      if (line.awake) {
        for (let t = 0; t < programs.length; t++) scene.callNow(t, 'setAwake', line.awake.pauses, NEAR);
      }
      for (const permits of line.permits) {
        scene.semaphore({
          permits,
          spin: line.awake ? -1 : (line.spin ?? 0),
          threshold: line.threshold ?? 0,
          wake: line.wake ?? line.delay ?? 0,
          lazy: line.lazy ?? line.look ?? line.alternates ?? 0,
          first: line.first ?? 0n,
          robust: line.robust ?? false,
          ...(line.max === undefined ? {} : { max: line.max }),
          ...(line.hash === undefined ? {} : { hash: line.hash }),
          ...(kind === undefined ? {} : { kind: constant(`KIND_${LISTINGS[kind].kind}_SEMAPHORE`) }),
        });
        if (kind === 'sequestered') scene.watched.add((scene.semaphores.at(-1) as number) + O_TAKEN);
        if (line.awake) scene.machine.hostStore32((scene.semaphores.at(-1) as number) + O_VAIN_POLLS, line.awake.vain);
      }
      if (cells < CELLS) {
        const { buckets, lines, common } = scene.regions;
        takeCells(scene, cells, elements + 1, buckets, lines);
        takeCells(scene, line.linesCells ?? CELLS, elements + 1, lines, common);
        scene.filler = elements + 1;
      }
    },
  };
}
