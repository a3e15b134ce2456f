/// <reference lib="esnext.disposable" preserve="true" />
/**
 * This file has the guards of a RwLock: HeldRead, HeldWrite and HeldUpdate. Each guard gives back once what it holds.
 *
 *     HeldUpdate ──upgrade──► HeldWrite ──downgrade──► HeldRead
 *       │    ▲                  │                        ▲
 *       │    └─downgradeToUpdate┘                        │
 *       └─────────────────downgrade──────────────────────┘
 *
 * A guard that has been upgraded or downgraded holds nothing any more. The guard that the call returns holds what this
 * guard held.
 */

import { end, Guard, isHeld } from '../common/guard.js';
import { nameOf } from '../common/shown.js';
import type { WaitOptions } from '../objects/options.js';

/** @internal What a guard calls to act on its lock. */
export interface GuardedLock {
  endRead(): void;
  endWrite(): void;
  endUpdate(): void;
  downgrade(): HeldRead;
  downgradeToUpdate(): HeldUpdate;
  downgradeUpdate(): HeldRead;
  upgrade(options: WaitOptions | undefined): HeldWrite;
  upgradeAsync(options: WaitOptions | undefined): Promise<HeldWrite>;
}

/** @internal Gives back by the lock what a guard holds. */
const unlockOf = Symbol();
/** @internal */
export const handOver = Symbol();

/** @internal Returns the lock of this guard, while the guard holds it. */
export const lockOf = Symbol.for('taketurns:lockOf');

/**
 * A guard of a `RwLock`. The end of the `using` or `await using` scope, or `unlock`, gives back what the guard holds.
 */
abstract class Held extends Guard {
  readonly #name: string;
  #lock: GuardedLock | undefined;
  /**
   * #handsOver: whether this guard is being upgraded or downgraded. #ended: whether `unlock` was called during this.
   */
  #handsOver = false;
  #ended = false;

  /**
   * Whether a thread has died as a writer, and no other thread has written and unlocked since. The data that the lock
   * guards may then be half-written.
   */
  readonly ownerDied: boolean;

  /** @internal */
  protected constructor(name: string, lock: GuardedLock, ownerDied: boolean) {
    super();
    this.#name = name;
    this.#lock = lock;
    this.ownerDied = ownerDied;
  }

  /** @internal */
  protected get [isHeld](): boolean {
    return this.#lock !== undefined;
  }

  /**
   * Gives back what the guard holds. Does nothing the second time. Never blocks. @throws {Error} in another thread.
   * @example held.unlock();
   */
  unlock(): void {
    this[end]();
  }

  /** @internal */
  protected [end](): void {
    const lock = this.#lock;
    this.#ended = this.#handsOver;
    this.#lock = undefined;
    if (lock) this[unlockOf](lock);
  }

  /** @internal */
  protected abstract [unlockOf](lock: GuardedLock): void;

  /** @internal Passes what this guard holds on to a new guard. If the call fails, this guard still holds the same. */
  protected [handOver]<T>(method: string, to: (lock: GuardedLock) => T): T {
    const lock = this.#lock;
    if (lock === undefined) throw new Error(`${this.#name}.${method}: this guard does not hold the lock any more`);
    this.#lock = undefined;
    this.#handsOver = true;
    const takeBack = (error: unknown): never => {
      this.#handsOver = false;
      // If the scope of this guard has ended in the meantime, nobody else gives back what the guard held.
      if (this.#ended) this[unlockOf](lock);
      else this.#lock = lock;
      throw error;
    };
    try {
      const result = to(lock);
      // The program may have replaced `Promise`, so `instanceof` does not tell. Guards have no `catch`.
      const { catch: caught } = result as Partial<Promise<never>>;
      if (caught) return caught.call(result, takeBack) as T;
      this.#handsOver = false;
      return result;
    } catch (error) {
      return takeBack(error);
    }
  }

  /** @internal */
  get [lockOf](): GuardedLock | undefined {
    return this.#lock;
  }

  /** The name of its class. */
  get [Symbol.toStringTag](): string {
    return #name in this ? this.#name : nameOf(this);
  }
}

/**
 * A `RwLock` that `read`, `readAsync` or `tryRead` has locked for reading.
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/sync';
 *
 * const lock = new RwLock();
 * {
 *   using held = lock.read(); // beside other readers, to the end of the scope
 * }
 * ```
 */
export class HeldRead extends Held {
  private constructor(lock: GuardedLock, ownerDied: boolean) {
    super('HeldRead', lock, ownerDied);
  }

  /** @internal */
  protected [unlockOf](lock: GuardedLock): void {
    lock.endRead();
  }
}

/**
 * A `RwLock` that `write`, `writeAsync`, `tryWrite` or `HeldUpdate.upgrade` has locked for writing.
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/sync';
 *
 * const lock = new RwLock();
 * {
 *   using held = lock.write(); // alone
 *   using reads = held.downgrade(); // no writer comes between
 * }
 * ```
 */
export class HeldWrite extends Held {
  private constructor(lock: GuardedLock, ownerDied: boolean) {
    super('HeldWrite', lock, ownerDied);
  }

  /**
   * Makes the writer a reader. No other thread writes in between. After the call this guard holds nothing, and the
   * returned guard reads. Never blocks.
   * @throws {Error} if the guard holds nothing.
   * @throws {ArenaFullError} if the thread reads 8 other locks. Then the thread is still a writer.
   * @example using reading = held.downgrade();
   */
  downgrade(): HeldRead {
    return this[handOver]('downgrade', (lock) => lock.downgrade());
  }

  /**
   * Gives up the writing and keeps the turn: lets readers in, and reads beside them. No other thread writes meanwhile, and
   * `upgrade` makes the owner of the turn a writer again. After the call this guard holds nothing, and the returned
   * guard has the turn. Never blocks.
   * @throws {Error} if the guard holds nothing.
   * @example using found = held.downgradeToUpdate();
   * @since 0.3.0
   */
  downgradeToUpdate(): HeldUpdate {
    return this[handOver]('downgradeToUpdate', (lock) => lock.downgradeToUpdate());
  }

  /** @internal */
  protected [unlockOf](lock: GuardedLock): void {
    lock.endWrite();
  }
}

/**
 * The writers' turn of a `RwLock`, which `update` or `updateAsync` has taken. The owner of the turn reads beside
 * readers. `upgrade` makes it a writer.
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/sync';
 *
 * const lock = new RwLock();
 * {
 *   using found = lock.update(); // beside readers; nobody writes meanwhile
 *   const isOld = true;
 *   if (isOld) {
 *     using held = found.upgrade({ timeout: 50 }); // once the readers have left
 *   }
 * }
 * ```
 */
export class HeldUpdate extends Held {
  private constructor(lock: GuardedLock, ownerDied: boolean) {
    super('HeldUpdate', lock, ownerDied);
  }

  /**
   * Makes the owner of the turn a writer: lets no more readers in, and blocks the thread until the readers inside have
   * left. No other thread has written since `update`. After the call the returned guard holds the lock and gives
   * everything back. This guard holds nothing.
   * @param options a time-out and a signal; without them the call may take for ever.
   * @throws {TimeoutError} when the time-out has passed. Readers are let in again, and this guard still holds the turn.
   * @throws the reason of a signal that is aborted already.
   * @throws {Error} if the guard holds nothing.
   * @throws {SelfDeadlockError} if this thread or a promise of it reads: the thread would wait for itself.
   * @throws {RangeError | TypeError} for a bad time-out or signal.
   * @throws {TypeError} on a thread that must not block, if the call would block.
   * @throws {DisposedError} if the lock has been or is being disposed of.
   * @example using writing = held.upgrade({ timeout: 50 });
   */
  upgrade(options?: WaitOptions): HeldWrite {
    return this[handOver]('upgrade', (lock) => lock.upgrade(options));
  }

  /**
   * As `upgrade`, without blocking the thread. While the promise is pending, this guard holds nothing. If the upgrade
   * fails, this guard holds the turn again. The promise rejects with what `upgrade` throws.
   * @example await using writing = await held.upgradeAsync();
   */
  async upgradeAsync(options?: WaitOptions): Promise<HeldWrite> {
    return this[handOver]('upgradeAsync', (lock) => lock.upgradeAsync(options));
  }

  /**
   * Makes the owner of the turn a reader, and gives the turn back. After the call this guard holds nothing, and the
   * returned guard reads. Never blocks.
   * @throws {Error} if the guard holds nothing.
   * @throws {ArenaFullError} if the thread reads 8 other locks. Then the thread still has the turn.
   * @example using reading = held.downgrade();
   */
  downgrade(): HeldRead {
    return this[handOver]('downgrade', (lock) => lock.downgradeUpdate());
  }

  /** @internal */
  protected [unlockOf](lock: GuardedLock): void {
    lock.endUpdate();
  }
}

type Make<T> = new (lock: GuardedLock, ownerDied: boolean) => T;

/** @internal The constructors, which only a RwLock calls. */
export const ReadGuard = HeldRead as unknown as Make<HeldRead>;
/** @internal */
export const WriteGuard = HeldWrite as unknown as Make<HeldWrite>;
/** @internal */
export const UpdateGuard = HeldUpdate as unknown as Make<HeldUpdate>;
