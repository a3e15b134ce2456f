/** BinarySemaphore is the class of semaphore.ts with 1 as the greatest value. semaphore.ts has all but `signal`. */
import { KIND_BINARY_SEMAPHORE } from '../../border/numbers.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { Notify } from './notify.js';
import { CounterSemaphore, counterProperties, raise, type SemaphoreOptions } from './semaphore.js';

/** A plain, structured-cloneable value to send to another thread, for `BinarySemaphore.from` there. */
export type BinarySemaphoreHandle = Handle<'BinarySemaphore'>;

const KIND = 'BinarySemaphore';
const MAX = 1;

const DEFINITION: Definition<typeof KIND, [number, SemaphoreOptions]> = {
  kind: KIND,
  number: KIND_BINARY_SEMAPHORE,
  properties: (what, desired, options) => counterProperties(what, desired, MAX, options),
};

/**
 * P0514R1's `binary_semaphore`: available (1) or unavailable (0). It is a lock without an owner, because any thread may
 * call `signal`.
 *
 * Source: Giroux, P0514R1, 32.10. C++20 has it as `std::binary_semaphore`.
 *
 * @example
 * ```ts
 * import { BinarySemaphore } from 'taketurns/p0514';
 *
 * const turn = new BinarySemaphore(1); // threads share it by turn.handle
 * turn.wait();
 * turn.signal();
 * ```
 */
export class BinarySemaphore extends CounterSemaphore<typeof KIND> {
  /** The greatest value. */
  static readonly max = MAX;

  /**
   * @param desired 1 if the semaphore is available at first, 0 (the default) if it is not.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(desired = 0, options: SemaphoreOptions = {}) {
    super(KIND, MAX, make(DEFINITION, desired, options));
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a BinarySemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const semaphore = BinarySemaphore.from(workerData.semaphore); // its `handle`, sent by the other thread
   */
  static from(handle: BinarySemaphoreHandle): BinarySemaphore {
    return new BinarySemaphore(0, find(DEFINITION, handle));
  }

  /**
   * Makes the semaphore available, and unblocks waiters. By default it unblocks all waiters, and one of them takes
   * the semaphore. Never blocks. Does nothing on a disposed semaphore.
   * @throws {RangeError} if the semaphore is available already. Then nothing has changed.
   * @throws {TypeError} for a bad `notify`.
   * @example semaphore.signal();
   */
  signal(notify: Notify = Notify.all): void {
    this[raise](1, notify);
  }
}
