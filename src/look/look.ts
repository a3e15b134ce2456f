/**
 * A look reads what an arena says at about one time: its threads, who waits, who holds what.
 *
 *     threads       alive, asleep on which word, or dead                       the registry
 *     objects       which are live                                             their words
 *     requests      who waits in the queue of an object, in order              the elements (elements.ts)
 *     attachments   what a thread holds of an object, and its other waits      the elements
 *     seats         who reads a RwLock, or waits to read it                    the records of the threads
 *
 * How the parts fit together. A look never stops another thread, so it is no snapshot. But each line in it is right for
 * one moment of the look (elements.ts). And a thread that sleeps changes none of its words. So what the look says of
 * threads that sleep all the while is right for one and the same moment. src/report/confirm.ts uses this.
 *
 * The cost is one pass over the elements that were ever in use. The objects are looked at only if somebody asks for all
 * of them. The names of objects and threads are no part of a look: who prints one reads it then (names.ts, labels.ts).
 *
 * A thread may be in several arenas, and has a number of its own in each. `together` makes looks at several arenas one:
 * a thread is known again by its `threadId`, which no other thread of the process has, before or after it.
 */

import {
  ASLEEP,
  DEAD,
  FREE,
  HAS_HEAD,
  LIFE_STATE,
  M_HEAD,
  OBJECT_SIZE,
  SEAT_FLAGS,
  SEAT_SIZE,
  T_DOORBELL,
  T_SEATS,
  T_SLEEPS,
  T_SLEEPS_ON,
  THREAD_MASK,
  THREAD_SIZE,
  USED_THREADS,
} from '../border/numbers.js';
import type { SharedMemory } from '../runtime/own-arenas.js';
import {
  type AgeOf,
  type Attachment,
  addTo,
  cut,
  type Elements,
  elementsIn,
  type Request,
  waitingIn,
} from './elements.js';
import { has, View } from './view.js';

/** A thread of the arena, as its record says. */
export interface Thread {
  readonly thread: number;
  readonly threadId: number | undefined;
  readonly life: number;
  readonly isAsleep: boolean;
  readonly isDead: boolean;
  /** Whether it blocks in `select`: it sleeps, and its promises may wake it. */
  readonly selects: boolean;
  /** The word on which it sleeps, or has slept last, with two bits: see sleepOn in core/arena/threads.ts. */
  readonly sleepsOn: number;
  readonly sleeps: number;
}

/** Who waits, as `Look.waitersOf` lists it. */
export interface Waiter extends Omit<Request, 'at' | 'isAsync'> {
  /** Whether it is in no queue: the head of a mutex, or one that waits for a phase. */
  readonly isOutside: boolean;
}

/** A seat of a thread that reads a RwLock or waits to read it. */
export interface Seat {
  readonly address: number;
  readonly thread: number;
  readonly object: number;
  readonly reads: boolean;
  readonly waits: boolean;
  /** The low half of the seat: the phase for the end of which a thread waits. */
  readonly phase: number;
  /** The high half of the seat. */
  readonly high: number;
}

export class Look implements Elements {
  readonly view: View;
  readonly ageOf: AgeOf;
  /** By the number of the thread. */
  readonly threads: ReadonlyMap<number, Thread>;
  readonly queues: Elements['queues'];
  readonly attachments: Elements['attachments'];
  /** By the address of the object. */
  readonly seats: ReadonlyMap<number, readonly Seat[]>;
  readonly waiting: Int32Array;
  readonly longest: Int32Array;
  readonly elements: number;
  /** Which of the looks it is, if there are several. */
  index = 0;
  /** By the number of the thread in this arena: the number that it has in all looks. See `together`. */
  #numbers: ReadonlyMap<number, number> | undefined;
  #objects: readonly number[] | undefined;

  constructor(view: View, ageOf: AgeOf, most: number, only?: number) {
    this.view = view;
    this.ageOf = ageOf;
    const threads = threadsIn(view);
    this.threads = threads;
    const selects = (thread: number): boolean => threads.get(thread)?.selects === true;
    const { queues, attachments, waiting, longest, elements } = elementsIn(view, { ageOf, most, selects, only });
    this.queues = queues;
    this.attachments = attachments;
    this.waiting = waiting;
    this.longest = longest;
    this.elements = elements;
    this.seats = seatsIn(view, this.threads);
  }

  /** The live objects. */
  get objects(): readonly number[] {
    this.#objects ??= objectsIn(this.view);
    return this.#objects;
  }

  /** Returns how many calls wait for an object. See elements.ts. */
  waitingOf(object: number): number {
    return waitingIn(this, object);
  }

  /** Returns how long the first of the calls that wait for an object has waited, in milliseconds; 0 if none waits. */
  longestWaitOf(object: number): number {
    let longest = this.queues.get(object)?.longestWait ?? 0;
    for (const { waits, waited } of attachmentsOf(this, object)) if (waits > 0) longest = Math.max(longest, waited);
    return longest;
  }

  /**
   * Returns who waits for an object: those outside its queue, who has waited longest first, and then the queue in order.
   * A notified waiter of a condition is among them until it has been woken.
   * @param most lists no more than so many.
   */
  waitersOf(object: number, most: number): Waiter[] {
    const isMutex = has(this.view, object, HAS_HEAD);
    const outside = attachmentsOf(this, object).flatMap(({ thread, waits, waited }): Waiter[] => {
      const own = this.threads.get(thread);
      // A thread that blocks sleeps on a word of the object. The head of a mutex sleeps on a word of its own.
      const blocked = own?.isAsleep === true && (isMutex ? this.#isHead(object, thread) : sleepsIn(own, object));
      return waits > 0 ? [{ thread, blocked, requests: waits, permits: 1, waited, isOutside: true }] : [];
    });
    outside.sort((a, b) => b.waited - a.waited);
    const queue = this.queues.get(object);
    if (queue) cut(queue, most);
    const queued = (queue?.list ?? []).map(({ thread, blocked, requests, permits, waited }): Waiter => {
      return { thread, blocked, requests, permits: permits || 1, waited, isOutside: false };
    });
    return [...outside, ...queued].slice(0, most);
  }

  /** Whether a thread itself, and no promise of it, is the head of a mutex. */
  #isHead(mutex: number, thread: number): boolean {
    return this.view.load(mutex + M_HEAD) === thread;
  }

  /** Returns the live objects for which somebody waits, in the order of their numbers. */
  awaited(): number[] {
    const all = new Set(
      [...this.queues].flatMap(([object, { list, waiting }]) => (list.length + waiting > 0 ? [object] : [])),
    );
    for (const [object, list] of this.attachments) if (list.some(({ waits }) => waits > 0)) all.add(object);
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

/** Whether a thread that sleeps does so on a word of an object. */
function sleepsIn({ sleepsOn }: Thread, object: number): boolean {
  return sleepsOn >= object && sleepsOn < object + OBJECT_SIZE;
}

/** Returns the attachments to an object by which a thread holds something or waits. */
export function attachmentsOf(look: Look, object: number): readonly Attachment[] {
  return look.attachments.get(object) ?? NO_ONE;
}

export function seatsOf(look: Look, object: number): readonly Seat[] {
  return look.seats.get(object) ?? NO_ONE;
}

/**
 * Looks at an arena.
 * @param now milliseconds, modulo 2^32; or a function that knows how long ago a time was.
 * @param most how many requests of each object are kept, 0 or more.
 * @param only the only object at whose elements it looks; undefined: all.
 */
export function lookAt(memory: SharedMemory, now: number | AgeOf, most: number, only?: number): Look {
  const ageOf = typeof now === 'number' ? before(now) : now;
  return new Look(new View(memory), ageOf, most, only);
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

function seatsIn(view: View, threads: ReadonlyMap<number, Thread>): Map<number, Seat[]> {
  const seats = new Map<number, Seat[]>();
  for (const thread of threads.keys()) {
    const record = view.record(thread);
    for (let address = record + T_SEATS; address < record + THREAD_SIZE; address += SEAT_SIZE) {
      const high = view.load(address + 4);
      const flags = high & SEAT_FLAGS;
      if (flags === 0) continue;
      const object = high - flags;
      const phase = view.load(address);
      const seat = { address, thread, object, reads: (flags & 1) !== 0, waits: (flags & 2) !== 0, phase, high };
      addTo(seats, object, seat);
    }
  }
  return seats;
}

function before(now: number): AgeOf {
  return (since) => (since === 0 ? 0 : Math.max((now - since) | 0, 0));
}
