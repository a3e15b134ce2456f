/**
 * The free functions of P0514R1, `atomic_wait` and `atomic_signal`. They wait for words of any shared memory, so the
 * library keeps no words of its own beside these words. Threads meet at the buckets of the arena's waiting array
 * instead: the position of a word in its buffer decides which bucket (core/papers/places.ts). words.ts has the
 * waiting.
 */
import type { Arena } from '../../arena/arena.js';
import { checkOptions } from '../../runtime/errors.js';
import type { Membership } from '../../runtime/membership.js';
import { membershipOf } from '../../runtime/own-arenas.js';
import { checkDuration } from './deadline.js';
import { Notify, notifyNumber } from './notify.js';
import { keyOf, Places, type ValueOf, type WaitableArray, Word, waitUntil, waitUntilAsync } from './words.js';

/** The options of the waits for a word and of its signals. */
export interface AtomicWaitOptions {
  /** The arena of the waiting array. Waiters and signallers must name the same arena. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** The waiting array of an arena, as a table of places. It is never closed for waiters. */
class Table extends Places {
  placeOf(key: number): number {
    return this.algorithms.placeOf(key | 0);
  }

  checkOpen(): void {}
}

/** The table of each membership of this thread. */
const tables = new WeakMap<Membership, Table>();

function tableOf(what: string, options: AtomicWaitOptions = {}): Table {
  checkNames(what, options);
  const membership = membershipOf(what, options.arena);
  let table = tables.get(membership);
  if (table === undefined) {
    table = new Table(membership);
    tables.set(membership, table);
  }
  return table;
}

function checkNames(what: string, options: AtomicWaitOptions): void {
  checkOptions(what, options, ['arena']);
}

/**
 * Blocks the thread until a word differs from `old`. A thread that changes the word must call `atomicSignal` after the
 * change, or the waiter may sleep on. The call returns only when it has seen that the word differs. So it may miss a
 * word that changes and changes back (P0514R1, 3).
 *
 * The memory must be shared, but need not belong to the arena, and the word may have any width. Threads must change
 * the word by `Atomics`. A signal finds a waiter by the position of the word in its buffer, in units of 8 bytes. So a
 * signal may also wake waiters for other words: for words at the same position in other buffers, and for words whose
 * positions share one of the arena's `slots`. These waiters look at their word and sleep again. To keep your waiters
 * apart from those for other words, use an `AtomicSemaphore`.
 * @param array a typed array of integers, or of floats, which are compared by their bits.
 * @param index of the word, 0 to `array.length - 1`.
 * @param old a value that the array can hold.
 * @throws {RangeError | TypeError} for a bad argument, or memory that is not shared.
 * @throws {TypeError} on a thread that must not block, if it would have to.
 * @example atomicWait(words, 0, 0); // while words[0] is 0
 */
export function atomicWait<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  options?: AtomicWaitOptions,
): void {
  tableOf('atomicWait', options).wait(new Word('atomicWait', array, index, old));
}

/**
 * As `atomicWait`, but returns at once whether the word differs from `old`. Never blocks. Throws what `atomicWait`
 * throws for a bad argument.
 * @example if (atomicTryWait(words, 0, 0)) console.log('words[0] is not 0');
 */
export function atomicTryWait<A extends WaitableArray>(array: A, index: number, old: ValueOf<A>): boolean {
  return new Word('atomicTryWait', array, index, old).changed;
}

/**
 * Does what `atomicWait` does, for a limited time. Blocks the thread for `ms` milliseconds at most, and throws what
 * `atomicWait` throws.
 * @param ms milliseconds, up to 2,147,483,647, or Infinity. With 0 or less the call acts as `atomicTryWait`.
 * @returns whether the word differs from `old`. The call returns false only when the time has passed.
 * @example const differs = atomicTryWaitFor(words, 0, 0, 50);
 */
export function atomicTryWaitFor<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  ms: number,
  options?: AtomicWaitOptions,
): boolean {
  const word = new Word('atomicTryWaitFor', array, index, old);
  return tableOf('atomicTryWaitFor', options).wait(word, checkDuration('atomicTryWaitFor', ms));
}

/**
 * Does what `atomicTryWaitFor` does, until a point of the system clock. Blocks the thread until that point at most, and
 * throws what `atomicWait` throws.
 * @param epochMs milliseconds since 1970, as in `Date.now()`. If that point has passed, the call acts as
 * `atomicTryWait`.
 * @example const differs = atomicTryWaitUntil(words, 0, 0, Date.now() + 50);
 */
export function atomicTryWaitUntil<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  epochMs: number,
  options?: AtomicWaitOptions,
): boolean {
  const what = 'atomicTryWaitUntil';
  return waitUntil(tableOf(what, options), what, new Word(what, array, index, old), epochMs);
}

/**
 * Does what `atomicWait` does, but returns a promise and does not block. The process stays alive until the promise is
 * fulfilled. The promise rejects with what `atomicWait` throws for a bad argument.
 * @example await atomicWaitAsync(words, 0, 0); // while words[0] is 0
 */
export async function atomicWaitAsync<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  options?: AtomicWaitOptions,
): Promise<void> {
  await tableOf('atomicWaitAsync', options).waitAsync(new Word('atomicWaitAsync', array, index, old));
}

/**
 * Does what `atomicTryWaitFor` does, but returns a promise and does not block. The promise rejects with what
 * `atomicTryWaitFor` throws for a bad argument.
 * @example const differs = await atomicTryWaitForAsync(words, 0, 0, 50);
 */
export async function atomicTryWaitForAsync<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  ms: number,
  options?: AtomicWaitOptions,
): Promise<boolean> {
  const word = new Word('atomicTryWaitForAsync', array, index, old);
  return tableOf('atomicTryWaitForAsync', options).waitAsync(word, checkDuration('atomicTryWaitForAsync', ms));
}

/**
 * Does what `atomicTryWaitUntil` does, but returns a promise and does not block. The promise rejects with what
 * `atomicTryWaitUntil` throws for a bad argument.
 * @example const differs = await atomicTryWaitUntilAsync(words, 0, 0, Date.now() + 50);
 */
export async function atomicTryWaitUntilAsync<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  epochMs: number,
  options?: AtomicWaitOptions,
): Promise<boolean> {
  const what = 'atomicTryWaitUntilAsync';
  return waitUntilAsync(tableOf(what, options), what, new Word(what, array, index, old), epochMs);
}

/**
 * Wakes the waiters for a word, so that they look at the word again. The caller changes the word before it calls. Never
 * blocks. If nobody waits, the call only loads a word.
 * @param array as for `atomicWait`.
 * @param index of the word, 0 to `array.length - 1`.
 * @param notify `all` (the default) and `one` both wake all waiters: several words may share a place, and a single
 * wake-up could reach a waiter for another word. `none` does nothing.
 * @throws {RangeError | TypeError} for a bad argument, or memory that is not shared.
 * @example atomicSignal(words, 0); // after the change of the word
 */
export function atomicSignal(
  array: WaitableArray,
  index: number,
  notify: Notify = Notify.all,
  options: AtomicWaitOptions = {},
): void {
  notifyNumber('atomicSignal', notify);
  const key = keyOf('atomicSignal', array, index);
  if (notify === Notify.none) checkNames('atomicSignal', options);
  else tableOf('atomicSignal', options).signal(key);
}
