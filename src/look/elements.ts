/**
 * The one pass over the wait elements of an arena: which requests wait, and what threads hold. `inspect`, `stats`,
 * `waiting`, reports, metrics and locks by key all count by it.
 *
 *     element                    what it says
 *     WAITING, AWAKE, ...        requests in the queue of an object: of a thread that blocks, or of a run of promises
 *     TOMBSTONE                  cancelled requests that still stand in the queue
 *     ATTACHED                   a thread has the object: what it holds, and how many of its calls wait outside the queue
 *     IDLE                       nothing; all others are only in use
 *
 * Who waits. A request **waits** from when it has its ticket until it is due: grant has reached its end, so nothing is
 * left to wait for but the wake-up. (A notified waiter of a `Condition` waits no more, though it may sleep until the
 * mutex is free.) Besides, a call waits outside the queue while it waits for the end of a phase, and as the head of a
 * mutex. `waiting`, wherever the library says it, is the sum of both: `waitingAt` and `Look.waitingOf`. Blocked calls and
 * promises count alike, and what belongs to a closed object no more. Of a queue that may be long, the core counts who
 * waits in it, by the same rule (`waiting` in core/inspect.ts).
 *
 * Each element is right for one moment. The pass reads the state of an element before and after the other words of the
 * element. The state has an epoch, so if it is the same both times, the words belong together. An element that changes
 * all the time has no long wait, and is skipped after four tries. An element of a dead thread counts until its reaper has
 * freed it.
 *
 * There may be millions of waiters, so the pass keeps at most some of each object (`most`), the first ones in the order of
 * the queue.
 */
import {
  ASLEEP,
  ATTACHED,
  AWAKE,
  CLOSED_OBJECT,
  E_ASLEEP,
  E_END,
  E_HELD,
  E_REQUEST,
  E_SINCE,
  E_START,
  ELEMENT_SIZE,
  GRANT,
  HAS_HEAD,
  HAS_PHASE,
  HOLDS,
  IDLE,
  LIFE_STATE,
  TOMBSTONE,
  USED_ELEMENTS,
  USED_THREADS,
  WAITING,
  WIDTH_MASK,
} from '../border/numbers.js';
import type { SharedMemory } from '../runtime/own-arenas.js';
import { caseMark } from './case-mark.js';
import { isAsync, isClosed, kindOf, objectIndexOf, threadOf, View } from './view.js';

/** The bits of a state that are not its epoch. */
const STATES = 15;
/** The bits of the two halves of a request that tell its object. */
const OBJECT_LOW = 1 << 31;
const OBJECT_HIGH = 0x7ffff;

/** A request in the queue of an object, or several alike of promises of one thread. */
export interface Request {
  readonly thread: number;
  readonly isAsync: boolean;
  /** Whether the thread blocks for it: a call that blocks, or a case of a `select`. */
  readonly blocked: boolean;
  readonly requests: number;
  readonly permits: number;
  readonly waited: number;
  /** The place in the queue. */
  readonly at: number;
}

/** The requests in the queue of one object. */
export interface Queue {
  /** The first of them, in no order. A thread is among them until it has been woken, also if its request is due. */
  list: Request[];
  /** How many of them wait. */
  waiting: number;
  /** The permits for which these wait. */
  permits: number;
  /** The most permits for which one of them waits. */
  widest: number;
  longestWait: number;
  /** The tickets of tombstones. */
  cancelled: number;
  /** Requests at this place and after it are not kept; Infinity at first. */
  end: number;
  /** What grant was when the pass found the first request: the places are counted from here. */
  readonly fromLo: number;
  readonly fromHi: number;
}

/** An attachment by which a thread holds something of an object, or waits outside its queue. */
export interface Attachment {
  readonly element: number;
  readonly object: number;
  readonly thread: number;
  /** How many permits or tasks the thread holds, 1 for a turn. Who has a mutex, the word of the mutex says. */
  readonly held: number;
  /** How many calls of the thread wait: for the end of a phase, or as the head of a mutex. */
  readonly waits: number;
  /** How long the first of these calls has waited, in milliseconds. */
  readonly waited: number;
}

/**
 * Returns how many milliseconds have passed since a time, which is in milliseconds, modulo 2^32. Returns 0 for the time
 * 0, which stands for an unknown time.
 */
export type AgeOf = (since: number) => number;

/** What the pass finds. */
export interface Elements {
  /** By the address of the object. */
  readonly queues: ReadonlyMap<number, Queue>;
  readonly attachments: ReadonlyMap<number, readonly Attachment[]>;
  /** By the number of a thread: how many of its calls wait, and the longest of these waits. */
  readonly waiting: Int32Array;
  readonly longest: Int32Array;
  /** How many elements are in use. */
  readonly elements: number;
}

/** What a pass looks for. */
export interface Wanted {
  readonly ageOf: AgeOf;
  /** How many requests of each object are kept, 0 or more. */
  readonly most: number;
  /** Whether the thread with this number blocks in `select`. */
  readonly selects: (thread: number) => boolean;
  /** The only object at which it looks; undefined: all. */
  readonly only?: number | undefined;
}

const fence = new Int32Array(1);

/**
 * Orders what the caller has loaded before and what it loads after: no compiler and no processor moves a load across an
 * exchange. An atomic load of JavaScript is a call, ten times as dear as a plain load, so the pass pays for two exchanges
 * an element and loads the words plainly. Between the exchanges the loads need no order.
 */
function inOrder(): void {
  Atomics.exchange(fence, 0, 0);
}

/** Looks at every element of an arena that was ever in use, or at those of one object. */
export function elementsIn(view: View, wanted: Wanted): Elements {
  const pass = new Pass(view, wanted);
  pass.lookAtAll();
  return pass;
}

class Pass implements Elements {
  readonly queues = new Map<number, Queue>();
  readonly attachments = new Map<number, Attachment[]>();
  readonly waiting: Int32Array;
  readonly longest: Int32Array;
  elements = 0;
  readonly #view: View;
  readonly #words: Int32Array;
  readonly #wanted: Wanted;
  /** The index of the only object at which it looks, as it stands in the words of a request. */
  readonly #onlyLo: number;
  readonly #onlyHi: number;

  constructor(view: View, wanted: Wanted) {
    const threads = view.load(USED_THREADS) + 1;
    this.waiting = new Int32Array(threads);
    this.longest = new Int32Array(threads);
    this.#view = view;
    this.#words = view.words;
    this.#wanted = wanted;
    const index = wanted.only === undefined ? 0 : view.indexOf(wanted.only);
    this.#onlyLo = (index & 1) << 31;
    this.#onlyHi = index >>> 1;
  }

  lookAtAll(): void {
    const { elements, words } = this.#view;
    const { only } = this.#wanted;
    const used = this.#view.load(USED_ELEMENTS);
    for (let i = 0; i < used; i++) {
      const element = elements + i * ELEMENT_SIZE;
      const e = element >>> 2;
      // Most elements of a large pool say nothing of what is asked. A plain load finds all that was there before the
      // look began.
      if (((words[e] as number) & STATES) === IDLE) continue;
      if (only !== undefined && !isOf(words, e, this.#onlyLo, this.#onlyHi)) this.elements++;
      else for (let tries = 0; tries < 4 && !this.#lookAt(element); tries++);
    }
  }

  /** Returns false if the element has changed during the look. */
  #lookAt(element: number): boolean {
    const state = this.#load(element);
    const is = state & STATES;
    if (is === IDLE) return true;
    const isWait = is >= WAITING && is <= AWAKE;
    if (isWait || is === TOMBSTONE) return this.#lookAtRequest(element, state);
    // Of most attachments, the thread holds nothing and waits for nothing.
    if (is === ATTACHED && (this.#load(element + E_HELD) !== 0 || this.#load(element + E_END) !== 0))
      return this.#lookAtAttachment(element, state);
    this.elements++;
    return true;
  }

  #lookAtAttachment(element: number, state: number): boolean {
    inOrder();
    const requestHi = this.#load(element + E_REQUEST + 4);
    const object = this.#view.objectAt(objectIndexOf(this.#load(element + E_REQUEST), requestHi));
    const heldWord = this.#load(element + E_HELD);
    const end = this.#load(element + E_END);
    const since = this.#load(element + E_SINCE);
    const kind = kindOf(this.#view, object);
    inOrder();
    if (this.#load(element) !== state) return false;
    this.elements++;
    const held = heldBy(kind, heldWord);
    const waits = waitsBy(kind, heldWord, end);
    if ((held === 0 && waits === 0) || !this.#wants(object)) return true;
    const thread = threadOf(requestHi);
    const waited = this.#wanted.ageOf(since);
    if (waits > 0) this.#count(thread, waits, waited);
    addTo(this.attachments, object, { element, object, thread, held, waits, waited });
    return true;
  }

  #lookAtRequest(element: number, state: number): boolean {
    inOrder();
    const requestLo = this.#load(element + E_REQUEST);
    const requestHi = this.#load(element + E_REQUEST + 4);
    const startLo = this.#load(element + E_START);
    const startHi = this.#load(element + E_START + 4);
    const endLo = this.#load(element + E_END);
    const endHi = this.#load(element + E_END + 4);
    const since = this.#load(element + E_SINCE);
    inOrder();
    if (this.#load(element) !== state) return false;
    this.elements++;
    const object = this.#view.objectAt(objectIndexOf(requestLo, requestHi));
    if (!this.#wants(object)) return true;
    const queue = this.#queueOf(object);
    const is = state & STATES;
    const length = View.difference(endLo, endHi, startLo, startHi);
    if (is === TOMBSTONE) {
      queue.cancelled += length;
      return true;
    }
    const permits = requestLo & WIDTH_MASK;
    const grant = object + GRANT;
    const ahead = View.difference(this.#load(grant), this.#load(grant + 4), startLo, startHi);
    const async = isAsync(requestHi);
    const requests = async ? pendingOf(ahead, length, permits) : Number(is === WAITING);
    if (requests === 0 || isClosed(ahead)) return true;
    const thread = threadOf(requestHi);
    const isAsleep = async || (this.#view.life(thread) & LIFE_STATE) === ASLEEP;
    // Until a thread sleeps, the element still has the time of an earlier wait.
    const waited = isAsleep ? this.#wanted.ageOf(since) : 0;
    if (async || ahead < permits) {
      this.#count(thread, requests, waited);
      addWait(queue, requests, permits, waited);
    }
    const at = View.difference(startLo, startHi, queue.fromLo, queue.fromHi);
    const { most, selects } = this.#wanted;
    if (most === 0 || at >= queue.end) return true;
    const blocked = !async || (selects(thread) && this.#load(element + E_ASLEEP) === caseMark(state));
    queue.list.push({ thread, isAsync: async, blocked, requests, permits, waited, at });
    if (queue.list.length >= 2 * most) cut(queue, most);
    return true;
  }

  #load(address: number): number {
    return this.#words[address >>> 2] as number;
  }

  #wants(object: number): boolean {
    const { only } = this.#wanted;
    return only === undefined || object === only;
  }

  #queueOf(object: number): Queue {
    let queue = this.queues.get(object);
    if (!queue) {
      queue = emptyQueue(this.#view, object);
      this.queues.set(object, queue);
    }
    return queue;
  }

  #count(thread: number, requests: number, waited: number): void {
    // A thread may have come during the look.
    if (thread >= this.waiting.length) return;
    this.waiting[thread] = (this.waiting[thread] as number) + requests;
    this.longest[thread] = Math.max(this.longest[thread] as number, waited);
  }
}

/** Counts requests that wait in a queue, alike ones of one thread. */
function addWait(queue: Queue, requests: number, permits: number, waited: number): void {
  queue.waiting += requests;
  queue.permits += requests * permits;
  queue.widest = Math.max(queue.widest, permits);
  queue.longestWait = Math.max(queue.longestWait, waited);
}

/** Whether the request of an element is for the object whose index has these halves (see `objectIndexOf`). */
function isOf(words: Int32Array, e: number, lo: number, hi: number): boolean {
  const request = e + (E_REQUEST >> 2);
  return (
    (((words[request] as number) ^ lo) & OBJECT_LOW) === 0 &&
    (((words[request + 1] as number) ^ hi) & OBJECT_HIGH) === 0
  );
}

/** Returns what the thread of an attachment holds. E_HELD is 1 for the head of a mutex; of a condition, it is carried. */
function heldBy(kind: number, held: number): number {
  return (kind & HOLDS) === 0 ? 0 : held;
}

/** Returns how many calls of the thread of an attachment wait outside the queue. */
function waitsBy(kind: number, held: number, end: number): number {
  if ((kind & HAS_HEAD) !== 0) return Number(held !== 0);
  // Other kinds may have other things in E_END, as an end of a channel has (core/kinds/channel/words.ts).
  return (kind & HAS_PHASE) === 0 ? 0 : end;
}

/** Returns the queue of an object in which nobody stands, as far as a look has seen. */
export function emptyQueue(view: View, object: number): Queue {
  return {
    list: [],
    waiting: 0,
    permits: 0,
    widest: 0,
    longestWait: 0,
    cancelled: 0,
    end: Infinity,
    fromLo: view.load(object + GRANT),
    fromHi: view.load(object + GRANT + 4),
  };
}

/** Returns how many promises of a run wait and are not due. */
function pendingOf(ahead: number, length: number, width: number): number {
  if (length < 0) return 0;
  return Math.floor(length / width) - Math.floor(Math.min(Math.max(ahead, 0), length) / width);
}

/** Keeps the first requests of a queue, in order. */
export function cut(queue: Queue, most: number): void {
  queue.list.sort((a, b) => a.at - b.at);
  if (queue.list.length <= most) return;
  queue.list.length = most;
  queue.end = (queue.list.at(-1) as Request).at;
}

export function addTo<T>(map: Map<number, T[]>, key: number, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Returns how many calls wait for an object, as the head comment says. */
export function waitingIn({ queues, attachments }: Pick<Elements, 'queues' | 'attachments'>, object: number): number {
  let waiting = queues.get(object)?.waiting ?? 0;
  for (const { waits } of attachments.get(object) ?? []) waiting += waits;
  return waiting;
}

/**
 * Returns how many calls wait for an object, in whatever threads, by a pass over the elements. The word of a mutex counts
 * its waiters (core/kinds/mutex/mutex.ts), so a mutex needs no pass.
 */
export function waitingAt(memory: SharedMemory, object: number): number {
  if (object === CLOSED_OBJECT) return 0;
  const view = new View(memory);
  return waitingIn(elementsIn(view, { ageOf: () => 0, most: 0, selects: () => false, only: object }), object);
}
