/**
 * A view is the memory of an arena, as those read it who look at the arena: by loads alone, and without the core. So
 * a reader needs nothing of the threads that use the arena, and disturbs none of them.
 *
 * core/arena/arena.ts computes where the regions lie. This file computes the same (test/unit/report.test.ts compares
 * the two).
 */

import {
  ASYNC,
  CLOSED_BELOW,
  E_REQUEST,
  ELEMENT_SIZE,
  H_ELEMENTS,
  H_END,
  H_ID,
  H_OBJECTS,
  H_THREADS,
  NAME_HEADS,
  NAME_HEADS_LEAST,
  NAME_HEADS_STEP,
  NAME_SIZE,
  O_KIND,
  O_LIFE,
  OBJECT_SIZE,
  T_LIFE,
  T_RUNTIME_ID,
  THREAD_MASK,
  THREAD_SIZE,
  USED_ELEMENTS,
  USED_OBJECTS,
  USED_THREADS,
} from '../border/numbers.js';
import type { SharedMemory } from '../runtime/own-arenas.js';

/** The states of the word O_LIFE, in its low half (core/arena/objects.ts). */
const OBJECT_STATES = 3 << 24;
const LIVE = 2 << 24;

export class View {
  readonly words: Int32Array;
  readonly byteLength: number;
  /** The addresses at which the regions begin. */
  readonly objects: number;
  readonly names: number;
  readonly threads: number;
  readonly elements: number;
  readonly labels: number;

  constructor(memory: SharedMemory) {
    this.words = new Int32Array(memory.buffer);
    this.byteLength = memory.buffer.byteLength;
    const objects = this.load(H_OBJECTS);
    const heads = (Math.max(objects, NAME_HEADS_LEAST) + NAME_HEADS_STEP - 1) & -NAME_HEADS_STEP;
    this.objects = NAME_HEADS + heads * 8;
    this.names = this.objects + objects * OBJECT_SIZE;
    this.threads = this.names + (objects + this.load(H_THREADS) + 1) * NAME_SIZE;
    this.labels = this.load(H_END);
    this.elements = this.labels - this.load(H_ELEMENTS) * ELEMENT_SIZE;
  }

  /** Returns a word of 4 bytes. */
  load(address: number): number {
    return Atomics.load(this.words, address >>> 2);
  }

  /** Returns a word of 8 bytes. Another thread may change it between the loads of its halves. */
  load64(address: number): number {
    return this.load(address + 4) * 2 ** 32 + (this.load(address) >>> 0);
  }

  /** Returns the difference of two words of 8 bytes, each given by its low and its high half. */
  static difference(lo: number, hi: number, fromLo: number, fromHi: number): number {
    return ((hi - fromHi) | 0) * 2 ** 32 + ((lo >>> 0) - (fromLo >>> 0));
  }

  /** Returns a text of so many bytes of UTF-8. */
  text(at: number, length: number): string {
    let bytes = '';
    let seen = 0;
    for (let i = at; i < at + length; ) {
      let word = this.load(i) >>> ((i & 3) * 8);
      const next = Math.min((i | 3) + 1, at + length);
      for (; i < next; i++) {
        const byte = word & 0xff;
        seen |= byte;
        bytes += String.fromCharCode(byte);
        word >>>= 8;
      }
    }
    if (seen < 0x80) return bytes;
    try {
      // jsdom has no TextDecoder.
      return decodeURIComponent(escape(bytes));
    } catch {
      // The thread that owns the bytes has changed them meanwhile.
      return bytes;
    }
  }

  record(thread: number): number {
    return this.threads + thread * THREAD_SIZE;
  }

  objectAt(index: number): number {
    return this.objects + index * OBJECT_SIZE;
  }

  /** Returns the number of the object in the arena, from 0 on. */
  indexOf(object: number): number {
    return (object - this.objects) / OBJECT_SIZE;
  }

  /** Returns the address of the object of the request in an element. */
  objectOf(element: number): number {
    return this.objectAt(objectIndexOf(this.load(element + E_REQUEST), this.load(element + E_REQUEST + 4)));
  }

  /** Returns the id of the arena. */
  id(): string {
    return `${this.load(H_ID)} ${this.load(H_ID + 4)}`;
  }

  isLive(object: number): boolean {
    return (this.load(object + O_LIFE) & OBJECT_STATES) === LIVE;
  }

  usedObjects(): number {
    return this.load(USED_OBJECTS);
  }

  life(thread: number): number {
    return this.load(this.record(thread) + T_LIFE);
  }

  /** Returns the `threadId` of a thread; undefined if its runtime gives none. */
  threadId(thread: number): number | undefined {
    const id = this.load(this.record(thread) + T_RUNTIME_ID);
    return id > 0 ? id - 1 : undefined;
  }

  /** Returns how many bytes of the arena may have been touched: all tables, and what of the others was ever in use. */
  touched(): number {
    const { objects, threads, elements } = this;
    const used = (counter: number, size: number): number => this.load(counter) * size;
    return (
      objects +
      used(USED_OBJECTS, OBJECT_SIZE + NAME_SIZE) +
      used(USED_THREADS, THREAD_SIZE) +
      (elements - threads - (this.load(H_THREADS) + 1) * THREAD_SIZE) +
      used(USED_ELEMENTS, ELEMENT_SIZE)
    );
  }
}

/** Returns the kind of an object, a number of KINDS. Its bits are the traits of the kind (core/kinds/words.ts). */
export function kindOf(view: View, object: number): number {
  return view.load(object + O_KIND);
}

/** Whether the kind of an object has a trait. */
export function has(view: View, object: number, trait: number): boolean {
  return (kindOf(view, object) & trait) !== 0;
}

/** Returns the thread of the owner in the high half of a request. */
export function threadOf(requestHi: number): number {
  return (requestHi >>> 19) & THREAD_MASK;
}

/** Whether a request, of which this is the high half, is that of promises. */
export function isAsync(requestHi: number): boolean {
  return ((requestHi >>> 19) & ASYNC) !== 0;
}

/** Returns the index of the object of a request. */
export function objectIndexOf(requestLo: number, requestHi: number): number {
  return ((requestHi & 0x7ffff) << 1) | (requestLo >>> 31);
}

/** Whether a difference of grant and ticket says that the object is closed. */
export function isClosed(ahead: number): boolean {
  return ahead < CLOSED_BELOW;
}
