/** TtsLock is the public face of core/papers/tts-lock.ts. */
import { KIND_TTS_LOCK } from '../../border/numbers.js';
import { type Definition, find, type Handle, make, open } from '../../objects/reference.js';
import { type LockOptions, properties, SharedLock } from './lock.js';

/** The options of a new `TtsLock`. */
export type TtsLockOptions = LockOptions;
/** A plain, structured-cloneable value to send to another thread, for `TtsLock.from` there. */
export type TtsLockHandle = Handle<'TtsLock'>;

const KIND = 'TtsLock';

const DEFINITION: Definition<typeof KIND, [TtsLockOptions]> = {
  kind: KIND,
  number: KIND_TTS_LOCK,
  properties,
};

/**
 * The polite test-and-test-and-set lock. Any thread that finds the lock free may take it, so nothing bounds how often a
 * waiter is overtaken. A `CapacitorLock` around the lock makes it fair. The lock is polite because a waiter only reads
 * the word of the lock while another thread holds the lock. The waiter polls the word `spin` times (default 100) and
 * then parks on it. An unlock wakes all parked waiters.
 *
 * Source: Dice, Capacitors, Listings 1 and 2, the inner lock. In the listings waiters poll without bound. Here they
 * park in the end, so that the other threads can run if there are more threads than processors.
 *
 * @example
 * ```ts
 * import { TtsLock } from 'taketurns/algorithms';
 *
 * const lock = new TtsLock(); // threads share it by lock.handle
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class TtsLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: TtsLockOptions = {}) {
    super(KIND, make(DEFINITION, options), (a) => ({
      lock: a.ttsLock,
      tryLock: a.ttsTryLock,
      unlock: a.ttsUnlock,
      dispose: a.ttsDispose,
    }));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a TtsLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = TtsLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: TtsLockHandle): TtsLock {
    return new TtsLock(find(DEFINITION, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = TtsLock.open('accounts');
   */
  static open(name: string, options: TtsLockOptions = {}): TtsLock {
    return new TtsLock(open(DEFINITION, name, options));
  }
}
