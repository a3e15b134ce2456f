/**
 * How a thread measures its waits: for metrics (series.ts), and for who listens in this thread (src/metrics/events.ts).
 *
 * Nobody measures on a fast path. The functions of the core that a thread calls only if it has to wait are replaced, for
 * the calling thread, by functions that also read the clock. They are replaced only when metrics have begun:
 *
 *     when the thread attaches to an arena that has metrics (looking-host.ts)
 *     when the thread first sleeps after metrics have begun (long-sleeps.ts)
 *     when the thread itself begins them (src/metrics/metrics.ts)
 *
 *     a wait in a queue    park, parkFor ──► compete, of a mutex, ──► over; or cancel, cancelHead
 *     a wait for a phase   waitsBegin ──► waitsEnd
 *     a promise            the element says since when ──► settle, releaseToOwn, finishReleaseAndSettle; of a mutex
 *                          reserveLock, unlockToOwn; or cancelRun, dropRun
 *     a wait for a rate    RateQueue tells when it is over (src/rates/queue.ts), because its requests sleep more than
 *                          once, and all promises of a thread together
 *
 * Of a `select`, only the case that happens counts. If none does, each case counts as a failure.
 *
 * A thread that blocks in a queue counts only if it sleeps: a wait that ends while the thread polls takes microseconds.
 * Promises that are settled together count as if all had waited as long as the first of them.
 */
import type { Core } from '../border/core.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  CANCELLED,
  E_END,
  E_REQUEST,
  E_SINCE,
  E_START,
  ELEMENT_SIZE,
  HAS_HEAD,
  LEAVE,
  MORE,
  O_LIFE,
  T_SLEEPS,
  T_SLEEPS_ON,
  TIMED_OUT,
  WIDTH_MASK,
} from '../border/numbers.js';
import type { Sync } from '../border/sync.js';
import { ownNumber, PAUSE } from '../look/key-reading.js';
import { has, View } from '../look/view.js';
import { mark } from '../runtime/embedded.js';
import { epoch } from '../runtime/epoch.js';
import { WAIT_BLOCKED, WAIT_FAILED } from '../runtime/numbers.js';
import { ownWaitsIn } from '../runtime/own-waits.js';
import { counter } from './series.js';
import { isMeasured } from './settings.js';

/** A wait that has ended. */
export interface Ended {
  /** The address of the object. */
  readonly object: number;
  /** Whether the thread has blocked. Otherwise promises of the thread have waited. */
  readonly blocked: boolean;
  /** How many requests have ended. */
  readonly requests: number;
  /** Seconds. */
  readonly waited: number;
  /** Whether they have not got what they waited for. */
  readonly failed: boolean;
}

/** What measuring needs of a membership. */
export interface Measured {
  readonly memory: WebAssembly.Memory;
  readonly thread: number;
}

/** Who else gets to know of the waits of this thread. */
export interface Listening {
  onWait?: ((memory: WebAssembly.Memory, thread: number, ended: Ended) => void) | undefined;
}

/** The key of those that listen to the functions of a module that are replaced: one for each copy of this package. */
const MEASURED = Symbol.for('taketurns:measured');

/**
 * Makes the calling thread measure its waits in the functions of a module: of the core, or of taketurns/sync.
 * @param now gives the milliseconds since a fixed moment.
 */
export function measureWaits(module: object, membership: Measured, listening: Listening, now: () => number): void {
  const isCore = 'enqueue' in module;
  // In the module of channels a thread sleeps, but waits by promises of the core.
  if (!isCore && !('waitsBegin' in module)) return;
  const { memory, thread } = membership;
  const functions = module as { [MEASURED]?: Set<Listening> };
  const known = functions[MEASURED];
  // Another copy of this package may have done it.
  if (known) {
    known.add(listening);
    return;
  }
  const all = new Set([listening]);
  mark(functions, MEASURED, all);
  const view = new View(memory);
  const count = counter(view);
  const tell: Tell = (object, milliseconds, failed, blocked, requests = 1) => {
    // Who sleeps in the pause of a RateLimiter waits for the limiter, which tells by itself when the wait is over.
    if (requests === 0 || ownNumber(view, object) === PAUSE) return;
    const waited = Math.max(milliseconds, 0) / 1000;
    if (isMeasured(view.words)) count(object, waited, requests, failed);
    for (const { onWait } of all) onWait?.(memory, thread, { object, blocked, requests, waited, failed });
  };
  if (!isCore) measurePhases(module as Sync, view, now, tell);
  else {
    measureQueues(module as Core, view, thread, now, tell);
    measurePromises(module as Core, view, membership, tell);
    ownWaitsIn(membership).rateWaited = tell;
  }
}

type Tell = (object: number, milliseconds: number, failed: boolean, blocked: boolean, requests?: number) => void;

/** The request with which a thread blocks in a queue. It has one at a time. */
class BlockedRequest {
  readonly #view: View;
  /** The record of the thread. */
  readonly #record: number;
  readonly #now: () => number;
  readonly #tell: Tell;
  /** When the request began to block; undefined if none does. */
  #begun: number | undefined;
  /** How often the thread had slept before. */
  #sleeps = 0;

  constructor(view: View, thread: number, now: () => number, tell: Tell) {
    this.#view = view;
    this.#record = view.record(thread);
    this.#now = now;
    this.#tell = tell;
  }

  get isThere(): boolean {
    return this.#begun !== undefined;
  }

  /** A new request begins. The runtime may have ended the wait of the one before, and no code has noticed this. */
  forget(): void {
    this.#begun = undefined;
  }

  /** Calls a function in which the thread may sleep. */
  during<A>(call: () => A): A {
    if (this.#begun === undefined) {
      this.#begun = this.#now();
      this.#sleeps = this.#view.load(this.#record + T_SLEEPS);
    }
    try {
      return call();
    } catch (error) {
      this.#begun = undefined;
      throw error;
    }
  }

  /** Calls a function in which the thread may sleep in the queue. */
  parked<A extends number>(call: () => A): A {
    const answer = this.during(call);
    // A request that has timed out is cancelled next, or goes on.
    if (answer === TIMED_OUT || answer === LEAVE) return answer;
    const view = this.#view;
    try {
      if (!this.#hasSlept) this.#begun = undefined;
      else this.leaves(view.objectOf(view.load(this.#record + T_SLEEPS_ON) & ~3), answer !== ADMITTED);
    } catch {}
    return answer;
  }

  /** The wait in the queue is over. A request for a mutex that has not failed goes on as the head. */
  leaves(object: number, failed: boolean): void {
    if (failed || !has(this.#view, object, HAS_HEAD)) this.ends(object, failed);
  }

  ends(object: number, failed: boolean): void {
    const since = this.#begun;
    this.#begun = undefined;
    if (since !== undefined && this.#hasSlept) this.#tell(object, this.#now() - since, failed, true);
  }

  get #hasSlept(): boolean {
    return this.#view.load(this.#record + T_SLEEPS) !== this.#sleeps;
  }
}

// The functions below stand in the place of functions of the core. Their callers note what the core has answered before
// they call anything else (class Settlement of runtime/promises.ts), so after the answer nothing here may throw: if the
// stack is exhausted, the wait is not counted.

/** Measures how long the thread blocks in queues. */
function measureQueues(core: Core, view: View, thread: number, now: () => number, tell: Tell): void {
  const { enqueue, queue, park, parkFor, compete, cancel, cancelHead } = core;
  const request = new BlockedRequest(view, thread, now, tell);
  core.enqueue = (s, n, taken, attachment) => {
    request.forget();
    return enqueue(s, n, taken, attachment);
  };
  core.queue = (m, attachment) => {
    request.forget();
    return queue(m, attachment);
  };
  core.park = (since, attachment) => request.parked(() => park(since, attachment));
  core.parkFor = (limit, since, attachment) => request.parked(() => parkFor(limit, since, attachment));
  core.compete = (m, limit, attachment) => {
    const answer = request.during(() => compete(m, limit, attachment));
    try {
      if (answer !== TIMED_OUT && answer !== LEAVE) request.ends(m, answer !== ADMITTED);
    } catch {}
    return answer;
  };
  core.cancel = (o, attachment) => {
    const answer = cancel(o, attachment);
    try {
      request.leaves(o, answer !== ADMITTED);
    } catch {}
    return answer;
  };
  core.cancelHead = (m, attachment) => {
    const since = waitedBy(view, elementOf(view, attachment));
    cancelHead(m, attachment);
    try {
      if (request.isThere) request.ends(m, true);
      else tell(m, since, true, false);
    } catch {}
  };
}

/** Measures how long promises wait in queues. */
function measurePromises(core: Core, view: View, membership: Measured, tell: Tell): void {
  const { settle, releaseToOwn, finishReleaseAndSettle, reserveLock, unlockToOwn, cancelRun, dropRun } = core;
  /** Returns what the element of a run says, before the run is over. */
  const read = (number: number) => {
    const e = elementOf(view, number);
    const [start, end] = [view.load64(e + E_START), view.load64(e + E_END)];
    const requests = Math.floor((end - start) / (view.load(e + E_REQUEST) & WIDTH_MASK));
    return { object: view.objectOf(e), waited: waitedBy(view, e), requests };
  };
  /** Calls a function that settles promises of a run, and returns how many. */
  const settling = (number: number, call: () => number): number => {
    const { object, waited } = read(number);
    const count = call();
    try {
      // A promise for a mutex goes on as the head.
      if (count > 0 && !has(view, object, HAS_HEAD)) tell(object, waited, false, false, count);
    } catch {}
    return count;
  };
  core.settle = (number, attachment) => settling(number, () => settle(number, attachment));
  core.finishReleaseAndSettle = (s, n, answered, run, attachment) =>
    settling(run, () => finishReleaseAndSettle(s, n, answered, run, attachment));
  core.releaseToOwn = (s, n, run, attachment) =>
    settling(run, () => releaseToOwn(s, n, run, attachment)) === 0 ? 0 : 1;
  core.unlockToOwn = (m, run, attachment) => {
    const waited = waitedBy(view, elementOf(view, attachment));
    const answer = unlockToOwn(m, run, attachment);
    try {
      if (answer !== 0) tell(m, waited, false, false);
    } catch {}
    return answer;
  };
  core.reserveLock = (m, attachment) => {
    const answer = reserveLock(m, attachment);
    // The mutex may also have been disposed of.
    const isOver = answer === ADMITTED || answer === ANSWER_CLOSED;
    try {
      if (isOver) tell(m, waitedBy(view, elementOf(view, attachment)), answer !== ADMITTED, false);
    } catch {}
    return answer;
  };
  core.cancelRun = (number) => {
    const { object, waited, requests } = read(number);
    const answer = cancelRun(number);
    const hasLeft = answer === CANCELLED || answer === MORE;
    try {
      if (hasLeft && !ownWaitsIn(membership).isUnchosen) tell(object, waited, true, false, requests);
    } catch {}
    return answer;
  };
  core.dropRun = (number) => {
    const { object, waited, requests } = read(number);
    dropRun(number);
    try {
      tell(object, waited, true, false, requests);
    } catch {}
  };
}

/**
 * Measures how long calls and promises wait for a phase. Those of one object end in the order in which they began, as
 * far as this function can know.
 */
function measurePhases(sync: Sync, view: View, now: () => number, tell: Tell): void {
  const { waitsBegin, waitsEnd } = sync;
  const waits = new Map<number, { readonly generation: number; readonly starts: number[] }>();
  /** Returns when the calls of an attachment that wait have begun. */
  const startsOf = (attachment: number): number[] => {
    // The attachment may have been to an object that was disposed of while the thread waited.
    const generation = view.load(view.objectOf(elementOf(view, attachment)) + O_LIFE + 4);
    const known = waits.get(attachment);
    if (known?.generation === generation) return known.starts;
    const its = { generation, starts: [] };
    waits.set(attachment, its);
    return its.starts;
  };
  sync.waitsBegin = (attachment, calls, time) => {
    waitsBegin(attachment, calls, time);
    startsOf(attachment).push(now());
  };
  sync.waitsEnd = (attachment, calls, how) => {
    const object = view.objectOf(elementOf(view, attachment));
    waitsEnd(attachment, calls, how);
    const starts = startsOf(attachment);
    const begun = starts.splice(0, calls);
    if (starts.length === 0) waits.delete(attachment);
    if (begun.length === 0) return;
    // As promises in a queue: those that end together count as if all had waited as long as the first of them.
    tell(object, now() - (begun[0] as number), (how & WAIT_FAILED) !== 0, (how & WAIT_BLOCKED) !== 0, begun.length);
  };
}

/** Returns the address of the element of a run or an attachment. */
function elementOf(view: View, number: number): number {
  return view.elements + (number - 1) * ELEMENT_SIZE;
}

/** Returns for how many milliseconds the request of an element has waited. */
function waitedBy(view: View, element: number): number {
  const since = view.load(element + E_SINCE);
  return since === 0 ? 0 : (epoch() - since) | 0;
}
