/**
 * A look reads everything in an arena once: threads, objects, names, and all elements.
 *
 *     threads       alive, asleep on which word, or dead; its name                the registry
 *     objects       kind and words                                              the objects that are live
 *     names         of those objects that somebody prints (names.ts)            the entries of the table of names
 *     requests      who waits in the queue of an object, in order               elements: WAITING, AWAKE, ...
 *     attachments   what a thread holds of an object; its waits for phases      elements: ATTACHED
 *     places        who reads a RwLock, or waits to read it                     the records of the threads
 *
 * How the parts fit together. A look never stops another thread, so it is no snapshot. But each line in it is right for
 * one moment of the look: the look reads the state of an element before and after the other words of the element. The
 * state has an epoch, so if it is the same both times, the words belong together. And a thread that sleeps changes none
 * of its words. So what the look says of threads that sleep all the while is right for one and the same moment.
 * confirm.ts uses this.
 *
 * The cost is one pass over the elements that were ever in use. There may be millions of waiters, so the look keeps at
 * most some of each object (`most`), the first ones in the order of the queue. The objects are looked at only if
 * somebody asks for all of them, and a name is read only if somebody asks for it.
 *
 * A thread may be in several arenas, and has a number of its own in each. `together` makes looks at several arenas one:
 * a thread is known again by its `threadId`, which no other thread of the process has, before or after it.
 */

import {
  ALIVE,
  ASLEEP,
  ATTACHED,
  AWAKE,
  DEAD,
  E_ASLEEP,
  E_END,
  E_HELD,
  E_REQUEST,
  E_SINCE,
  E_START,
  ELEMENT_SIZE,
  FREE,
  GRANT,
  IDLE,
  KIND_CHANNEL,
  KIND_MUTEX,
  LIFE_STATE,
  PLACE_FLAGS,
  PLACE_SIZE,
  T_DOORBELL,
  T_PLACES,
  T_SLEEPS,
  T_SLEEPS_ON,
  THREAD_MASK,
  THREAD_SIZE,
  TOMBSTONE,
  USED_ELEMENTS,
  USED_THREADS,
  WAITING,
  WIDTH_MASK,
} from '../border/numbers.js';
import { caseMark } from '../channel/case-mark.js';
import type { SharedMemory } from '../runtime/own-arenas.js';
import { labelOf } from './labels.js';
import { type Called, calledAt, kindOf } from './names.js';
import { isAsync, isClosed, objectIndexOf, threadOf, View } from './view.js';

/** The bits of a state that are not its epoch. */
const STATES = 15;

/** A thread of the arena, as its record says. */
export interface Thread {
  readonly thread: number;
  readonly threadId: number | undefined;
  readonly name: string | undefined;
  readonly life: number;
  readonly isAsleep: boolean;
  readonly isDead: boolean;
  /** Whether it blocks in `select`: it sleeps, and its promises may wake it. */
  readonly selects: boolean;
  /** The word on which it sleeps, or has slept last, with two bits: see sleepOn in core/arena/threads.ts. */
  readonly sleepsOn: number;
  readonly sleeps: number;
}

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

/** The requests that wait for one object. */
export interface Queue {
  /** The first of them, in no order. */
  list: Request[];
  waiting: number;
  /** The permits for which they wait. */
  permits: number;
  widest: number;
  longestWait: number;
  cancelled: number;
  /** Requests at this place and after it are not kept; Infinity at first. */
  end: number;
  /** What grant was when the look found the first request: the places are counted from here. */
  readonly fromLo: number;
  readonly fromHi: number;
}

/** An attachment by which a thread holds something of an object, or waits for a phase of it. */
export interface Attachment {
  readonly element: number;
  readonly object: number;
  readonly thread: number;
  readonly held: number;
  readonly waits: number;
  readonly waited: number;
}

/** A place of a thread that reads a RwLock or waits to read it. */
export interface Place {
  readonly address: number;
  readonly thread: number;
  readonly object: number;
  readonly reads: boolean;
  readonly waits: boolean;
  /** The low half of the place: the phase for the end of which a thread waits. */
  readonly phase: number;
  /** The high half of the place. */
  readonly high: number;
}

/**
 * Returns how many milliseconds have passed since a time, which is in milliseconds, modulo 2^32. Returns 0 for the time
 * 0, which stands for an unknown time.
 */
export type AgeOf = (since: number) => number;

/** What a look finds in the elements. */
interface Elements {
  /** By the address of the object. */
  readonly queues: ReadonlyMap<number, Queue>;
  readonly attachments: ReadonlyMap<number, readonly Attachment[]>;
  /** By the number of a thread: how many of its requests are queued, and the longest of these waits. */
  readonly waiting: Int32Array;
  readonly longest: Int32Array;
  /** How many elements are in use. */
  readonly elements: number;
}

export class Look implements Elements {
  readonly view: View;
  readonly ageOf: AgeOf;
  /** By the number of the thread. */
  readonly threads: ReadonlyMap<number, Thread>;
  readonly queues: Elements['queues'];
  readonly attachments: Elements['attachments'];
  /** By the address of the object. */
  readonly places: ReadonlyMap<number, readonly Place[]>;
  readonly waiting: Int32Array;
  readonly longest: Int32Array;
  readonly elements: number;
  /** Which of the looks it is, if there are several. */
  index = 0;
  /** By the number of the thread in this arena: the number that it has in all looks. See `together`. */
  #numbers: ReadonlyMap<number, number> | undefined;
  #objects: readonly number[] | undefined;
  readonly #called = new Map<number, Called>();

  constructor(view: View, ageOf: AgeOf, most: number) {
    this.view = view;
    this.ageOf = ageOf;
    this.threads = threadsIn(view);
    const { queues, attachments, waiting, longest, elements } = elementsIn(view, this.threads, ageOf, most);
    this.queues = queues;
    this.attachments = attachments;
    this.waiting = waiting;
    this.longest = longest;
    this.elements = elements;
    this.places = placesIn(view, this.threads);
  }

  /** The live objects. */
  get objects(): readonly number[] {
    this.#objects ??= objectsIn(this.view);
    return this.#objects;
  }

  /** Returns what an object is called. */
  called(object: number): Called {
    const known = this.#called.get(object) ?? calledAt(this.view, object);
    this.#called.set(object, known);
    return known;
  }

  /** Returns the live objects for which somebody waits, in the order of their numbers. */
  awaited(): number[] {
    const all = new Set([...this.queues].flatMap(([object, { waiting }]) => (waiting > 0 ? [object] : [])));
    for (const [object, list] of this.attachments)
      if (list.some(({ waits, held }) => waits > 0 || (held > 0 && kindOf(this.view, object) === KIND_MUTEX)))
        all.add(object);
    return [...all].filter((object) => this.view.isLive(object)).sort((a, b) => a - b);
  }

  /** Returns the number of a thread that is the same in all looks. */
  whoOf(thread: number): number {
    return this.#numbers?.get(thread) ?? this.index * (THREAD_MASK + 1) + thread;
  }

  /** Gives a look its place among several, and the numbers of its threads. */
  stand(index: number, numbers: ReadonlyMap<number, number>): void {
    this.index = index;
    this.#numbers = numbers;
  }
}

/**
 * Makes looks at several arenas of one process one: each thread gets the same number in all of them. Without a
 * `threadId`, as in the web workers of browsers, a thread counts as another one in each arena.
 */
export function together(looks: readonly Look[]): readonly Look[] {
  const known = new Map<number, number>();
  for (const [index, look] of looks.entries()) {
    const numbers = new Map<number, number>();
    look.stand(index, numbers);
    for (const { thread, threadId } of look.threads.values()) {
      if (threadId === undefined) continue;
      const who = known.get(threadId) ?? index * (THREAD_MASK + 1) + thread;
      known.set(threadId, who);
      numbers.set(thread, who);
    }
  }
  return looks;
}

const NO_ONE: readonly never[] = [];

/** Returns the attachments to an object by which a thread holds something or waits. */
export function attachmentsOf(look: Look, object: number): readonly Attachment[] {
  return look.attachments.get(object) ?? NO_ONE;
}

export function placesOf(look: Look, object: number): readonly Place[] {
  return look.places.get(object) ?? NO_ONE;
}

/**
 * Looks at an arena.
 * @param now milliseconds, modulo 2^32; or a function that knows how long ago a time was.
 * @param most how many requests of each object are kept, 0 or more.
 */
export function lookAt(memory: SharedMemory, now: number | AgeOf, most: number): Look {
  const ageOf = typeof now === 'number' ? before(now) : now;
  return new Look(new View(memory), ageOf, most);
}

function threadsIn(view: View): Map<number, Thread> {
  const threads = new Map<number, Thread>();
  const used = view.load(USED_THREADS);
  for (let thread = 1; thread <= used; thread++) {
    const life = view.life(thread);
    const state = life & LIFE_STATE;
    if (state === FREE) continue;
    const record = view.record(thread);
    const sleepsOn = view.load(record + T_SLEEPS_ON);
    threads.set(thread, {
      thread,
      threadId: view.threadId(thread),
      name: labelOf(view, thread, life - state + ALIVE),
      life,
      isAsleep: state === ASLEEP,
      isDead: state === DEAD,
      sleeps: view.load(record + T_SLEEPS),
      sleepsOn,
      selects: state === ASLEEP && (sleepsOn & ~3) === record + T_DOORBELL,
    });
  }
  return threads;
}

function objectsIn(view: View): number[] {
  const objects: number[] = [];
  const used = view.usedObjects();
  for (let i = 0; i < used; i++) {
    const object = view.objectAt(i);
    if (view.isLive(object)) objects.push(object);
  }
  return objects;
}

function placesIn(view: View, threads: ReadonlyMap<number, Thread>): Map<number, Place[]> {
  const places = new Map<number, Place[]>();
  for (const thread of threads.keys()) {
    const record = view.record(thread);
    for (let address = record + T_PLACES; address < record + THREAD_SIZE; address += PLACE_SIZE) {
      const high = view.load(address + 4);
      const flags = high & PLACE_FLAGS;
      if (flags === 0) continue;
      const object = high - flags;
      const phase = view.load(address);
      const place = { address, thread, object, reads: (flags & 1) !== 0, waits: (flags & 2) !== 0, phase, high };
      addTo(places, object, place);
    }
  }
  return places;
}

export function addTo<T>(map: Map<number, T[]>, key: number, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function before(now: number): AgeOf {
  return (since) => (since === 0 ? 0 : Math.max((now - since) | 0, 0));
}

function elementsIn(view: View, threads: ReadonlyMap<number, Thread>, ageOf: AgeOf, most: number): Elements {
  const queues = new Map<number, Queue>();
  const attachments = new Map<number, Attachment[]>();
  const waiting = new Int32Array(THREAD_MASK + 1);
  const longest = new Int32Array(THREAD_MASK + 1);
  let inUse = 0;
  const used = view.load(USED_ELEMENTS);
  // The loop runs over millions of words, so it loads them itself.
  const { words } = view;
  const load = (index: number): number => Atomics.load(words, index);
  for (let i = 0; i < used; i++) {
    const element = view.elements + i * ELEMENT_SIZE;
    // An element that changes all the time has no long wait.
    for (let tries = 0; tries < 4; tries++) {
      const e = element >>> 2;
      const state = load(e);
      const is = state & STATES;
      if (is === IDLE) break;
      const isWait = is >= WAITING && is <= AWAKE;
      if (!isWait && is !== TOMBSTONE && is !== ATTACHED) {
        inUse++;
        break;
      }
      // Of most attachments, the thread holds nothing and waits for nothing.
      if (is === ATTACHED && load(e + (E_HELD >> 2)) === 0 && load(e + (E_END >> 2)) === 0) {
        inUse++;
        break;
      }
      const requestLo = load(e + (E_REQUEST >> 2));
      const requestHi = load(e + (E_REQUEST >> 2) + 1);
      const startLo = load(e + (E_START >> 2));
      const startHi = load(e + (E_START >> 2) + 1);
      const endLo = load(e + (E_END >> 2));
      const endHi = load(e + (E_END >> 2) + 1);
      const held = load(e + (E_HELD >> 2));
      const since = load(e + (E_SINCE >> 2));
      const object = view.objectAt(objectIndexOf(requestLo, requestHi));
      // An end of a channel or of a watch has other things in these words (core/kinds/channel/words.ts).
      const waits = is === ATTACHED && (kindOf(view, object) & ~3) === KIND_CHANNEL ? 0 : endLo;
      if (load(e) !== state) continue;
      inUse++;
      const thread = threadOf(requestHi);
      if (is === ATTACHED) {
        if (held !== 0 || waits !== 0)
          addTo(attachments, object, { element, object, thread, held, waits, waited: ageOf(since) });
        break;
      }
      const length = View.difference(endLo, endHi, startLo, startHi);
      let queue = queues.get(object);
      if (!queue) {
        queue = emptyQueue(view, object);
        queues.set(object, queue);
      }
      if (is === TOMBSTONE) {
        queue.cancelled += length;
        break;
      }
      const width = requestLo & WIDTH_MASK;
      const grant = (object + GRANT) >>> 2;
      const ahead = View.difference(load(grant), load(grant + 1), startLo, startHi);
      const async = isAsync(requestHi);
      const requests = async ? pendingOf(ahead, length, width) : Number(is === WAITING);
      if (requests === 0 || isClosed(ahead)) break;
      const isAsleep = async || (view.life(thread) & LIFE_STATE) === ASLEEP;
      // Until a thread sleeps, the element still has the time of an earlier wait.
      const waited = isAsleep ? ageOf(since) : 0;
      waiting[thread] = (waiting[thread] as number) + requests;
      longest[thread] = Math.max(longest[thread] as number, waited);
      queue.waiting += requests;
      queue.permits += requests * width;
      queue.widest = Math.max(queue.widest, width);
      queue.longestWait = Math.max(queue.longestWait, waited);
      const at = View.difference(startLo, startHi, queue.fromLo, queue.fromHi);
      if (most === 0 || at >= queue.end) break;
      const blocked =
        !async || (threads.get(thread)?.selects === true && load(e + (E_ASLEEP >> 2)) === caseMark(state));
      queue.list.push({ thread, isAsync: async, blocked, requests, permits: width, waited, at });
      if (queue.list.length >= 2 * most) cut(queue, most);
      break;
    }
  }
  return { queues, attachments, waiting, longest, elements: inUse };
}

/** Returns the queue of an object for which nobody waits, as far as a look has seen. */
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

/** Returns how many promises of a run wait and are not due, as pendingCount in core/queue/runs.ts. */
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
