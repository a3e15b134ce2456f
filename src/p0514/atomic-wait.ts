/** In the free functions of P0514R1, threads wait in a table of the library: the waiting array of the arena. */
import type { Arena } from '../arena.js';
import { checkOptions } from '../errors.js';
import { membershipOf } from '../own-arenas.js';
import type { Membership } from '../runtime/membership.js';
import { checkDuration } from './deadline.js';
import { Notify, notifyNumber } from './notify.js';
import { keyOf, Places, type ValueOf, type WaitableArray, Word, waitUntil, waitUntilAsync } from './words.js';

/** The place where threads wait for a word. */
export interface AtomicWaitOptions {
  /** The arena of the waiting array. Waiters and signallers must name the same arena. Default: `Arena.default`. */
  readonly arena?: Arena;
}

class Table extends Places {
  placeOf(key: number): number {
    return this.algorithms.placeOf(key | 0);
  }

  checkOpen(): void {}
}

const tables = new WeakMap<Membership, Table>();

function tableOf(what: string, options: AtomicWaitOptions = {}): Table {
  checkOptions(what, options, ['arena']);
  const membership = membershipOf(options.arena);
  let table = tables.get(membership);
  if (table === undefined) {
    table = new Table(membership);
    tables.set(membership, table);
  }
  return table;
}

/**
 * Blocks the thread until a word differs from `old`, and a thread has signalled the change. It returns only when it
 * has seen the word changed: it may miss a word that changes and changes back (P0514R1, 3).
 *
 * The memory must be shared, but need not belong to the arena, and the word may have any width. Threads must change
 * the word by `Atomics`. A waiter is found by its place in the buffer, in units of 8 bytes. So a signal may also wake
 * waiters for other words: for words at the same place in other buffers, and for words whose places share one of the
 * arena's `slots`. These waiters look and sleep again. An `AtomicSemaphore` has no such neighbours.
 * @param array a typed array of integers, or of floats, which are compared by their bits.
 * @param index of the word, 0 to `array.length - 1`.
 * @param old a value that the array can hold.
 * @throws `RangeError` or `TypeError` for a bad argument, or memory that is not shared.
 * @throws `TypeError` on a thread that must not block, if it would have to.
 */
export function atomicWait<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  options?: AtomicWaitOptions,
): void {
  tableOf('atomicWait', options).wait(new Word('atomicWait', array, index, old));
}

/** As `atomicWait`, but it only looks whether the word differs from `old`. Never blocks. */
export function atomicTryWait<A extends WaitableArray>(array: A, index: number, old: ValueOf<A>): boolean {
  return new Word('atomicTryWait', array, index, old).changed;
}

/**
 * As `atomicWait`, for a limited time.
 * @param ms milliseconds, 0 (as `atomicTryWait`) to 2,147,483,647, or Infinity.
 * @returns whether it has seen the word changed. It returns false only when the time has passed.
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
 * As `atomicTryWaitFor`, until a point of the system's clock.
 * @param epochMs milliseconds since 1970, as in `Date.now()`. After that point it is `atomicTryWait`.
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

/** As `atomicWait`, but returns a promise and does not block. The process stays alive until it is fulfilled. */
export async function atomicWaitAsync<A extends WaitableArray>(
  array: A,
  index: number,
  old: ValueOf<A>,
  options?: AtomicWaitOptions,
): Promise<void> {
  await tableOf('atomicWaitAsync', options).waitAsync(new Word('atomicWaitAsync', array, index, old));
}

/** As `atomicTryWaitFor`, but returns a promise and does not block. */
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

/** As `atomicTryWaitUntil`, but returns a promise and does not block. */
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
 * Wakes the waiters for a change of the word. The caller must have changed the word. Never blocks; if nobody waits,
 * the call only loads a word.
 * @param array as for `atomicWait`.
 * @param index of the word, 0 to `array.length - 1`.
 * @param notify `all` (the default) and `one` do the same: several words may share a place, and a single wake-up could
 * reach a waiter of another word, so all are woken. `none` does nothing.
 * @throws `RangeError` or `TypeError` for a bad argument, or memory that is not shared.
 */
export function atomicSignal(
  array: WaitableArray,
  index: number,
  notify: Notify = Notify.all,
  options?: AtomicWaitOptions,
): void {
  notifyNumber('atomicSignal', notify);
  const key = keyOf('atomicSignal', array, index);
  if (notify !== Notify.none) tableOf('atomicSignal', options).signal(key);
}
