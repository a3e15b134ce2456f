/** CountingSemaphore is the class of semaphore.ts with 2,147,483,647 as the greatest value. */
import { KIND_COUNTING_SEMAPHORE, LIMIT } from '../../border/numbers.js';
import { type Definition, find, type Handle, make } from '../../objects/reference.js';
import { Notify } from './notify.js';
import { CounterSemaphore, counterProperties, raise, type SemaphoreOptions } from './semaphore.js';

/** A plain, structured-cloneable value to send to another thread, for `CountingSemaphore.from` there. */
export type CountingSemaphoreHandle = Handle<'CountingSemaphore'>;

const KIND = 'CountingSemaphore';

const DEFINITION: Definition<typeof KIND, [number, SemaphoreOptions]> = {
  kind: KIND,
  number: KIND_COUNTING_SEMAPHORE,
  properties: (what, desired, options) => counterProperties(what, desired, LIMIT, options),
};

/**
 * P0514R1's `counting_semaphore`: a value that `signal` raises and `wait` lowers, by 1 or more. It never falls below 0.
 *
 * Source: Giroux, P0514R1, 32.10. C++20 has it as `std::counting_semaphore`.
 *
 * @example
 * ```ts
 * import { CountingSemaphore } from 'taketurns/p0514';
 *
 * const slots = new CountingSemaphore(3); // threads share it by slots.handle
 * console.log(slots.tryWaitFor(50)); // milliseconds
 * slots.signal();
 * ```
 */
export class CountingSemaphore extends CounterSemaphore<typeof KIND> {
  /** The greatest value, 2,147,483,647. */
  static readonly max = LIMIT;

  /**
   * @param desired the first value, 0 (the default) to `CountingSemaphore.max`.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(desired = 0, options: SemaphoreOptions = {}) {
    super(KIND, LIMIT, make(DEFINITION, desired, options));
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of a CountingSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const semaphore = CountingSemaphore.from(workerData.semaphore); // its `handle`, sent by the other thread
   */
  static from(handle: CountingSemaphoreHandle): CountingSemaphore {
    return new CountingSemaphore(0, find(DEFINITION, handle));
  }

  /**
   * Adds to the value, and unblocks waiters. Never blocks. Does nothing on a disposed semaphore.
   * @param count 0 to `CountingSemaphore.max`, 1 by default. 0 adds nothing, but unblocks waiters that earlier signals
   * with `one` or `none` have left asleep.
   * @param notify the waiters to unblock. `all` (the default) unblocks as many waiters as the value suffices for. `one`
   * unblocks one waiter; if any waiter ever waited for more than 1, it may unblock several. `none` unblocks nobody: the
   * value stays for later callers, and for waiters that a later signal unblocks.
   * @throws {RangeError} if the value would pass `CountingSemaphore.max`. Then nothing has changed.
   * @throws {RangeError | TypeError} for a bad count or `notify`.
   * @example semaphore.signal(2);
   */
  signal(count = 1, notify: Notify = Notify.all): void {
    this[raise](count, notify);
  }
}
