/** CountingSemaphore is the counter of semaphore.ts with the greatest value 2,147,483,647. */
import { find } from '../algorithms/objects.js';
import { type Handle, Reference } from '../reference.js';
import { LIMIT } from '../runtime/core.js';
import { Notify } from './notify.js';
import { CounterSemaphore, makeCounter, type SemaphoreOptions } from './semaphore.js';

/** What to send to another thread, for `CountingSemaphore.from` there: plain and structured-cloneable. */
export type CountingSemaphoreHandle = Handle<'CountingSemaphore'>;

const KIND = 'CountingSemaphore';

/**
 * P0514R1's `counting_semaphore`: a value that `signal` raises and `wait` lowers, never below 0.
 *
 * Source: Giroux, P0514R1, 32.10. C++20 has it as `std::counting_semaphore`.
 */
export class CountingSemaphore extends CounterSemaphore<typeof KIND> {
  /** Its greatest value, 2,147,483,647. */
  static readonly max = LIMIT;

  /**
   * @param desired its value at first, 0 (the default) to `CountingSemaphore.max`.
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(desired = 0, options: SemaphoreOptions = {}) {
    super(KIND, LIMIT, options instanceof Reference ? options : makeCounter(KIND, desired, LIMIT, options));
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if it is no handle of a CountingSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread, or for another attachment of one.
   */
  static from(handle: CountingSemaphoreHandle): CountingSemaphore {
    return new CountingSemaphore(0, find(KIND, handle));
  }

  /**
   * Adds to the value, and unblocks. Never blocks. On a disposed semaphore it does nothing.
   * @param count 1 (the default) to `CountingSemaphore.max`.
   * @param notify `all` (the default): as many waiters as the value suffices for; `one`: one of them; `none`: nobody,
   * and the value is there for whoever comes, or for those whom a later signal unblocks.
   * @throws {RangeError} if the value would pass `CountingSemaphore.max`; then nothing has changed.
   * @throws {RangeError | TypeError} for a bad count or `notify`.
   */
  signal(count = 1, notify: Notify = Notify.all): void {
    this.raise(count, notify);
  }
}
