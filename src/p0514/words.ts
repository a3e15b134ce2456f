/**
 * Threads wait for a word of a typed array over shared memory to change. This file finds the word and the value that it
 * is compared with. It waits by the calls of core/algorithms/places.ts, since only JavaScript can look at the word.
 */
import { host } from '#host';
import { algorithmsOf } from '../algorithms/compiled.js';
import type { Algorithms } from '../border/algorithms.js';
import { badInteger, badType, mayNotBlock } from '../errors.js';
import { now } from '../runtime/clock.js';
import type { Membership } from '../runtime/membership.js';
import { LONGEST } from '../runtime/numbers.js';
import { isShared } from '../runtime/requirements.js';
import { checkWaitAsync, waitAsync } from '../runtime/wait-async.js';
import { INSTEAD, untilThen } from './deadline.js';

/** An array of integers or floats, whose words can be waited on. Floats are compared by their bits. */
export type WaitableArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** The type of a word of the array. */
export type ValueOf<A extends WaitableArray> = A extends BigInt64Array | BigUint64Array ? bigint : number;

type Integers = Exclude<WaitableArray, Uint8ClampedArray | Float32Array | Float64Array>;
type Maker<A> = new (buffer: ArrayBufferLike, offset?: number, length?: number) => A;

/**
 * One word of each class of array, by its name, and the same word as Atomics can load it: the very same where it can.
 */
const kinds: Record<string, { word: WaitableArray; bits: Integers; load: Maker<Integers> }> = {};

function kind(make: Maker<WaitableArray>, load: Maker<Integers>): void {
  const word = new make(new ArrayBuffer(8), 0, 1);
  const bits = make === load ? (word as Integers) : new load(word.buffer, 0, 1);
  kinds[make.name] = { word, bits, load };
}
for (const make of [Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array]) kind(make, make);
for (const make of [BigInt64Array, BigUint64Array]) kind(make, make);
kind(Uint8ClampedArray, Uint8Array);
kind(Float32Array, Int32Array);
kind(Float64Array, BigInt64Array);

/** The same memory as integers, for arrays that Atomics cannot load. */
const views = new WeakMap<WaitableArray, Integers>();

/**
 * The bytes that share a key, so that a signal through an array of another width finds the waiter. The key is the place
 * in the buffer alone, since no property identifies a buffer in every thread.
 */
const KEY_BYTES = 8;

/** @internal */
export function keyOf(what: string, array: WaitableArray, index: number): number {
  const name = (array as { [Symbol.toStringTag]?: string } | null | undefined)?.[Symbol.toStringTag];
  if (name === undefined || kinds[name] === undefined || !ArrayBuffer.isView(array))
    throw badType(`${what}: array`, 'a typed array of integers or floats', array);
  if (!isShared(array.buffer))
    throw new TypeError(`${what}: array must be over shared memory: no other thread could change its words`);
  if (!Number.isInteger(index) || index < 0 || index >= array.length)
    throw badInteger(`${what}: index`, index, 0, array.length - 1);
  return Math.floor((array.byteOffset + index * array.BYTES_PER_ELEMENT) / KEY_BYTES);
}

/** @internal A word, and the value from which it is to change. */
export class Word {
  readonly key: number;
  readonly #array: Integers;
  readonly #index: number;
  readonly #old: number | bigint;

  constructor(what: string, array: WaitableArray, index: number, old: number | bigint) {
    this.key = keyOf(what, array, index);
    const { word, bits, load } = kinds[array[Symbol.toStringTag]] as (typeof kinds)[string];
    const big = typeof word[0] === 'bigint';
    if (typeof old !== (big ? 'bigint' : 'number')) throw badType(`${what}: old`, big ? 'a bigint' : 'a number', old);
    word[0] = old as never;
    if (word[0] !== old && !(Number.isNaN(old) && Number.isNaN(word[0])))
      throw new RangeError(`${what}: old must be a value that a ${array[Symbol.toStringTag]} can hold, got ${old}`);
    this.#old = bits[0] as number | bigint;
    this.#index = index;
    if (word === bits) this.#array = array as Integers;
    else {
      let view = views.get(array);
      if (view === undefined) {
        view = new load(array.buffer, array.byteOffset, array.length);
        views.set(array, view);
      }
      this.#array = view;
    }
  }

  /** Whether the word has changed. */
  get changed(): boolean {
    return Atomics.load(this.#array as Int32Array, this.#index) !== this.#old;
  }
}

/** The number of looks before a waiter goes to its place. */
const LOOKS = 50;

type Leave = (reason?: Error) => void;

/** For each membership, what takes the promises of this thread from their places, and rejects them with a reason. */
const leaving = new WeakMap<Membership, Set<Leave>>();

function leavingOf(membership: Membership): Set<Leave> {
  const known = leaving.get(membership);
  if (known) return known;
  const all = new Set<Leave>();
  leaving.set(membership, all);
  membership.beforeEnd((reason) => {
    for (const leave of all) leave(reason);
  });
  return all;
}

/** @internal The places where threads wait for words to change. */
export abstract class Places {
  readonly #membership: Membership;
  /** @internal */
  protected readonly algorithms: Algorithms;

  constructor(membership: Membership) {
    this.#membership = membership;
    this.algorithms = algorithmsOf(membership);
  }

  /** Returns the place of a key. Throws if there is none any more. */
  abstract placeOf(key: number): number;

  /** Throws if a waiter must not wait any longer. */
  abstract checkOpen(): void;

  /** Waits until the word has changed. Returns false if that has not happened within the time. */
  wait(word: Word, milliseconds = Infinity): boolean {
    const place = this.placeOf(word.key);
    if (word.changed) return true;
    if (milliseconds <= 0) return false;
    if (!this.#membership.mayBlock) throw mayNotBlock(INSTEAD);
    for (let looks = LOOKS; looks > 0; looks--) if (word.changed) return true;
    const end = now() + milliseconds;
    while (true) {
      const sequence = this.algorithms.arriveAt(place);
      try {
        if (word.changed) return true;
        this.checkOpen();
        const left = end - now();
        if (left <= 0) return false;
        this.algorithms.sleepAt(place, sequence, left === Infinity ? -1n : BigInt(Math.ceil(left * 1e6)));
      } finally {
        this.algorithms.departFrom(place);
      }
    }
  }

  /** Does the same without blocking the thread. The process stays alive meanwhile. */
  async waitAsync(word: Word, milliseconds = Infinity): Promise<boolean> {
    const place = this.placeOf(word.key);
    if (word.changed) return true;
    if (milliseconds <= 0) return false;
    checkWaitAsync();
    const sequences = new BigInt64Array(this.#membership.memory.buffer);
    const end = now() + milliseconds;
    const all = leavingOf(this.#membership);
    let isHere = false;
    let reject: Leave | undefined;
    const leave: Leave = (reason) => {
      if (isHere) this.algorithms.departFrom(place);
      isHere = false;
      if (!reason) return;
      reject?.(reason);
      // This ends the wait, which would keep the memory. Other waiters there look again.
      Atomics.notify(sequences, place >> 3);
    };
    host.keepAlive(true);
    all.add(leave);
    try {
      while (true) {
        const sequence = this.algorithms.arriveAt(place);
        isHere = true;
        try {
          if (word.changed) return true;
          this.checkOpen();
          const left = end - now();
          if (left <= 0) return false;
          const wait = waitAsync(sequences, place >> 3, sequence, left);
          if (wait.async)
            await new Promise((resolve, refuse) => {
              reject = refuse;
              wait.value.then(resolve);
            });
        } finally {
          leave();
        }
      }
    } finally {
      all.delete(leave);
      host.keepAlive(false);
    }
  }

  /** Wakes the waiters for a change of a word with this key. */
  signal(key: number): void {
    this.algorithms.signalAt(this.placeOf(key));
  }
}

/** @internal Waits until a point of the system clock, in pieces that a timer can be set to. */
export function waitUntil(places: Places, what: string, word: Word, epochMs: number): boolean {
  while (true) {
    const left = untilThen(what, epochMs);
    if (places.wait(word, left)) return true;
    if (left < LONGEST) return false;
  }
}

/** @internal */
export async function waitUntilAsync(places: Places, what: string, word: Word, epochMs: number): Promise<boolean> {
  while (true) {
    const left = untilThen(what, epochMs);
    if (await places.waitAsync(word, left)) return true;
    if (left < LONGEST) return false;
  }
}
