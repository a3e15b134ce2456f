/** ReciprocatingLock is the public face of core/papers/reciprocating-lock.ts. */
import { KIND_RECIPROCATING_LOCK } from '../../border/numbers.js';
import { type Definition, find, type Handle, make, open } from '../../objects/reference.js';
import { type LockOptions, properties, queueLock, SharedLock } from './lock.js';

/** The options of a new `ReciprocatingLock`. */
export type ReciprocatingLockOptions = LockOptions;
/** A plain, structured-cloneable value to send to another thread, for `ReciprocatingLock.from` there. */
export type ReciprocatingLockHandle = Handle<'ReciprocatingLock'>;

const KIND = 'ReciprocatingLock';

const DEFINITION: Definition<typeof KIND, [ReciprocatingLockOptions]> = {
  kind: KIND,
  number: KIND_RECIPROCATING_LOCK,
  properties,
};

/**
 * The Reciprocating Lock serves waiters in segments: the threads that come while one segment is served are the next
 * segment. Each segment is served from its latest waiter to its first. So a later thread overtakes a waiter at most
 * once. A waiter polls a word of its own `spin` times (default 100) and then parks on this word. An unlock wakes one
 * waiter. Only the unlock at the end of a segment touches the word that arriving threads use.
 *
 * Source: Dice and Kogan, Reciprocating Locks; in Dice, Capacitors, an inner lock. In contrast to the source, a waiter
 * that has polled in vain parks.
 *
 * A thread needs a wait element of the arena (`waiters`) for each lock of this class that it holds or waits for.
 *
 * @example
 * ```ts
 * import { ReciprocatingLock } from 'taketurns/algorithms';
 *
 * const lock = new ReciprocatingLock(); // threads share it by lock.handle
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class ReciprocatingLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: ReciprocatingLockOptions = {}) {
    super(KIND, make(DEFINITION, options), (a) => queueLock(a, a.recipLock, a.recipTryLock, a.recipUnlock));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a ReciprocatingLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = ReciprocatingLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: ReciprocatingLockHandle): ReciprocatingLock {
    return new ReciprocatingLock(find(DEFINITION, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = ReciprocatingLock.open('accounts');
   */
  static open(name: string, options: ReciprocatingLockOptions = {}): ReciprocatingLock {
    return new ReciprocatingLock(open(DEFINITION, name, options));
  }
}
