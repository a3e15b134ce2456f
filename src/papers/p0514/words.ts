/**
 * The waits for a word of a typed array to change. The word may be in any shared memory, and the core can see only the
 * memory of its arena. So JavaScript looks at the word. The thread sleeps by calls of core/papers/places.ts:
 *
 *     waiter     arrive at the place, which returns its sequence  ►  look at the word  ►  sleep while the place has
 *                this sequence  ►  depart  ►  begin again
 *     signaller  change the word  ►  if a waiter is at the place: change the sequence, and wake all who sleep there
 *
 * A waiter arrives before it looks, and a signaller changes the word before it looks whether a waiter is at the place.
 * So the waiter sees the change, or the signaller sees the waiter. places.ts has the details.
 *
 * The class Word finds the word and compares it with the old value. The class Places has the waits. Its subclasses say
 * where the places are: in the waiting array of an arena (atomic-wait.ts), or in one object (atomic-semaphore.ts).
 */
import { host } from '#host';
import type { Algorithms } from '../../border/algorithms.js';
import { callEach } from '../../common/each.js';
import { now } from '../../runtime/clock.js';
import { checkWaitAsync, waitAsync } from '../../runtime/doorbell.js';
import { badInteger, badType, mayNotBlock } from '../../runtime/errors.js';
import type { Membership } from '../../runtime/membership.js';
import { LONGEST } from '../../runtime/numbers.js';
import { isShared } from '../../runtime/requirements.js';
import { algorithmsOf } from '../algorithms/compiled.js';
import { INSTEAD, untilThen } from './deadline.js';

/** A typed array for whose words threads can wait. Floats are compared by their bits. */
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

/** The type of the words of an array. */
export type ValueOf<A extends WaitableArray> = A extends BigInt64Array | BigUint64Array ? bigint : number;

type Integers = Exclude<WaitableArray, Uint8ClampedArray | Float32Array | Float64Array>;
type Maker<A> = new (buffer: ArrayBufferLike, offset?: number, length?: number) => A;

/**
 * For each class of array, by its name: an array of one word (`word`), which turns an old value into bits, and the same
 * word as an array of integers (`bits`), because Atomics can load only these. `load` is the class of `bits`. If Atomics
 * can load the class itself, `word` and `bits` are the same array.
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

/** For arrays that Atomics cannot load, an array of integers over the same memory. */
const views = new WeakMap<WaitableArray, Integers>();

/**
 * How many bytes of a buffer have one key. So a signal through an array with another width of words finds the waiter.
 * The key depends only on the position in the buffer, because no property identifies a buffer in every thread.
 */
const KEY_BYTES = 8;

/** @internal Checks the array and the index, and returns the key of the word. */
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

/** @internal A word, and the old value, from which it is to change. */
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
      // An array may follow the length of its memory, which may grow.
      if (view?.length !== array.length) {
        view = new load(array.buffer, array.byteOffset, array.length);
        views.set(array, view);
      }
      this.#array = view;
    }
  }

  /** Whether the word differs from the old value. */
  get changed(): boolean {
    return Atomics.load(this.#array as Int32Array, this.#index) !== this.#old;
  }
}

/** How often a blocking waiter looks at its word before it goes to the place. */
const LOOKS = 50;

type Leave = (reason?: Error) => void;

/**
 * For each membership, the functions that end the waits of the promises of this thread. Such a function departs from
 * the place, and rejects the promise with a reason, if there is one.
 */
const leaving = new WeakMap<Membership, Set<Leave>>();

/** Returns these functions. When the membership ends, all of them are called. */
function leavingOf(membership: Membership): Set<Leave> {
  const known = leaving.get(membership);
  if (known) return known;
  const all = new Set<Leave>();
  leaving.set(membership, all);
  membership.beforeEnd((reason) => {
    callEach([...all].map((leave) => () => leave(reason)));
  });
  return all;
}

/** @internal The places where threads wait for words to change, and the waits there. */
export abstract class Places {
  readonly #membership: Membership;
  /** @internal */
  protected readonly algorithms: Algorithms;

  constructor(membership: Membership) {
    this.#membership = membership;
    this.algorithms = algorithmsOf(membership);
  }

  /** Returns the address of the place of a key. Throws if the place is closed. */
  abstract placeOf(key: number): number;

  /** Throws if a waiter must not wait any longer. */
  abstract checkOpen(): void;

  /** Blocks until the word differs from the old value. Returns false if this has not happened within the time. */
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

  /** Does the same as `wait`, but does not block the thread. The process stays alive meanwhile. */
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
      // The notify ends the pending waitAsync, which would keep the memory alive. Other waiters there look again.
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

  /** Wakes the waiters at the place of this key, so that they look at their words again. */
  signal(key: number): void {
    this.algorithms.signalAt(this.placeOf(key));
  }
}

/** @internal Waits until a point of the system clock at most, in parts no longer than a timer allows. */
export function waitUntil(places: Places, what: string, word: Word, epochMs: number): boolean {
  while (true) {
    const left = untilThen(what, epochMs);
    if (places.wait(word, left)) return true;
    if (left < LONGEST) return false;
  }
}

/** @internal Does the same as waitUntil, but does not block the thread. */
export async function waitUntilAsync(places: Places, what: string, word: Word, epochMs: number): Promise<boolean> {
  while (true) {
    const left = untilThen(what, epochMs);
    if (await places.waitAsync(word, left)) return true;
    if (left < LONGEST) return false;
  }
}
