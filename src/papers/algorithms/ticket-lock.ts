/** TicketLock is the public face of core/papers/ticket-lock.ts. */
import { KIND_TICKET_LOCK } from '../../border/numbers.js';
import { type Definition, find, type Handle, make, open } from '../../objects/reference.js';
import { type LockOptions, properties, SharedLock } from './lock.js';

/** The options of a new `TicketLock`. */
export type TicketLockOptions = LockOptions;
/** A plain, structured-cloneable value to send to another thread, for `TicketLock.from` there. */
export type TicketLockHandle = Handle<'TicketLock'>;

const KIND = 'TicketLock';

const DEFINITION: Definition<typeof KIND, [TicketLockOptions]> = {
  kind: KIND,
  number: KIND_TICKET_LOCK,
  properties,
};

/**
 * The ticket lock: first come, first served. All waiters wait on the same word. A waiter polls this word `spin` times
 * (default 100) and then parks on it. An unlock wakes all parked waiters.
 *
 * Source: Reed and Kanodia; in Dice, Capacitors, an inner lock. In contrast to the source, a waiter that has polled in
 * vain parks.
 *
 * @example
 * ```ts
 * import { TicketLock } from 'taketurns/algorithms';
 *
 * const lock = new TicketLock(); // threads share it by lock.handle
 * const answer = lock.run(() => 'in the section');
 * ```
 */
export class TicketLock extends SharedLock<typeof KIND> {
  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: TicketLockOptions = {}) {
    super(KIND, make(DEFINITION, options), (a) => ({
      lock: a.ticketLock,
      tryLock: a.ticketTryLock,
      unlock: a.ticketUnlock,
      dispose: a.ticketLockDispose,
    }));
  }

  /**
   * Attaches to the lock of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a TicketLock.
   * @throws {DisposedError} if the lock has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const lock = TicketLock.from(workerData.lock); // its `handle`, sent by the other thread
   */
  static from(handle: TicketLockHandle): TicketLock {
    return new TicketLock(find(DEFINITION, handle));
  }

  /**
   * Attaches to the lock of this name in the arena, or creates it. Never blocks.
   * @param name 1 to 116 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, or if the name belongs to another kind of object.
   * @throws {ArenaFullError} if the arena has no room for another object or attachment.
   * @example const lock = TicketLock.open('accounts');
   */
  static open(name: string, options: TicketLockOptions = {}): TicketLock {
    return new TicketLock(open(DEFINITION, name, options));
  }
}
