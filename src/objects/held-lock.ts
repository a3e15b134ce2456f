/// <reference lib="esnext.disposable" preserve="true" />
/** A HeldLock is a guard of a lock: it gives the lock back once. */

import { end, Guard, isHeld } from '../common/guard.js';
import { giveBack } from './held-permits.js';

/** @internal The lock that a guard gives back. */
export interface Lockable {
  [giveBack](): void;
}

/**
 * A mutex that `hold`, `holdAsync` or `tryHold` has locked. The end of the `using` or `await using` scope, or `unlock`,
 * unlocks the mutex. Only the first of these calls has an effect.
 *
 * @example
 * ```ts
 * import { Mutex } from 'taketurns';
 *
 * const mutex = new Mutex();
 * {
 *   using held = mutex.hold();
 *   if (held.ownerDied) console.log('repair what it guards');
 * }
 * ```
 */
export class HeldLock extends Guard {
  #mutex: Lockable | undefined;

  /**
   * Whether an owner of the mutex has died, and this thread is the first that has locked the mutex since that death.
   * The data that the mutex guards may then be half-written.
   */
  readonly ownerDied: boolean;

  /** @internal */
  protected constructor(mutex: Lockable, ownerDied: boolean) {
    super();
    this.#mutex = mutex;
    this.ownerDied = ownerDied;
  }

  /** @internal */
  protected get [isHeld](): boolean {
    return this.#mutex !== undefined;
  }

  /**
   * Unlocks the mutex. Does nothing the second time. Never blocks.
   * @throws {Error} in a thread that is not the owner.
   * @example held.unlock();
   */
  unlock(): void {
    this[end]();
  }

  /** @internal */
  protected [end](): void {
    const mutex = this.#mutex;
    this.#mutex = undefined;
    mutex?.[giveBack]();
  }

  /** `HeldLock`. */
  get [Symbol.toStringTag](): string {
    return 'HeldLock';
  }
}

/** @internal The constructor, which only the methods that hold call. */
export const LockGuard = HeldLock as unknown as new (mutex: Lockable, ownerDied: boolean) => HeldLock;
