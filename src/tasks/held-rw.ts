/**
 * The guards of a RwLock: HeldRead, HeldWrite and HeldUpdate.
 *
 *     HeldUpdate ──upgradeAsync──► HeldWrite ──downgrade──► HeldRead
 *       │    ▲                       │                        ▲
 *       │    └──downgradeToUpdate────┘                        │
 *       └────────────────────downgrade────────────────────────┘
 *
 * A guard that has been upgraded or downgraded holds nothing any more. The guard that the call returns holds what this
 * guard held.
 */
import { end } from '../common/guard.js';
import type { WaitOptions } from '../common/waits.js';
import { giveBack, Held, type Source, source } from './guards.js';
import { checkOpen } from './task-object.js';

/** @internal What a guard holds. */
export const READ = 0;
/** @internal */
export const UPDATE = 1;
/** @internal */
export const WRITE = 2;
/** @internal */
export type Mode = typeof READ | typeof UPDATE | typeof WRITE;

/** @internal */
export const downgrade = Symbol();
/** @internal */
export const downgradeToUpdate = Symbol();
/** @internal */
export const upgrade = Symbol();
/** @internal */
export const handOver: unique symbol = Symbol();

/** @internal The lock of a guard. */
export interface GuardedLock extends Source<Mode> {
  [checkOpen](): void;
  [downgrade](from: Mode): HeldRead;
  [downgradeToUpdate](): HeldUpdate;
  [upgrade](options: WaitOptions | undefined): Promise<HeldWrite>;
}

abstract class HeldMode extends Held {
  /**
   * Gives back what the guard holds. Does nothing the second time. Never blocks.
   * @throws {Error} if a call of `unlockRead` or `unlockWrite` of the lock has given it back before, and nobody has
   * locked since.
   * @example held.unlock();
   */
  unlock(): void {
    this[end]();
  }

  /** @internal Returns the lock. From now on the guard holds nothing. */
  protected [handOver](method: string): GuardedLock {
    const lock = this[source] as GuardedLock | undefined;
    if (!lock) throw new Error(`${this[Symbol.toStringTag]}.${method}: this guard does not hold the lock any more`);
    lock[checkOpen]();
    this[source] = undefined;
    return lock;
  }
}

/**
 * A `RwLock` that `readAsync` or `tryRead` has locked for reading.
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/tasks';
 *
 * const lock = new RwLock();
 * {
 *   using held = await lock.readAsync(); // beside other readers, to the end of the scope
 * }
 * ```
 * @since 0.3.0
 */
export class HeldRead extends HeldMode {
  /** `HeldRead`. */
  get [Symbol.toStringTag](): string {
    return 'HeldRead';
  }
}

/**
 * A `RwLock` that `writeAsync`, `tryWrite` or `HeldUpdate.upgradeAsync` has locked for writing.
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/tasks';
 *
 * const lock = new RwLock();
 * {
 *   using held = await lock.writeAsync(); // alone
 *   using reads = held.downgrade(); // no writer comes between
 * }
 * ```
 * @since 0.3.0
 */
export class HeldWrite extends HeldMode {
  /** `HeldWrite`. */
  get [Symbol.toStringTag](): string {
    return 'HeldWrite';
  }

  /**
   * Makes the writer a reader. No other task writes in between. After the call this guard holds nothing, and the
   * returned guard reads. Never blocks.
   * @throws {Error} if the guard holds nothing.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example const reads = held.downgrade();
   */
  downgrade(): HeldRead {
    return this[handOver]('downgrade')[downgrade](WRITE);
  }

  /**
   * Gives up the writing and keeps the turn: lets readers in, and reads beside them. No other task writes meanwhile, and
   * `upgradeAsync` makes the owner of the turn a writer again. After the call this guard holds nothing, and the returned
   * guard has the turn. Never blocks.
   * @throws {Error} if the guard holds nothing.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example const found = held.downgradeToUpdate();
   */
  downgradeToUpdate(): HeldUpdate {
    return this[handOver]('downgradeToUpdate')[downgradeToUpdate]();
  }
}

/**
 * The writers' turn of a `RwLock`, which `updateAsync` has taken. The owner of the turn reads beside readers.
 * `upgradeAsync` makes it a writer.
 *
 * @example
 * ```ts
 * import { RwLock } from 'taketurns/tasks';
 *
 * const lock = new RwLock();
 * {
 *   using found = await lock.updateAsync(); // beside readers; nobody writes meanwhile
 *   const isOld = true;
 *   if (isOld) {
 *     using held = await found.upgradeAsync({ timeout: 50 }); // once the readers have left
 *   }
 * }
 * ```
 * @since 0.3.0
 */
export class HeldUpdate extends HeldMode {
  /** Whether the scope of the guard has ended. */
  #ended = false;

  /** `HeldUpdate`. */
  get [Symbol.toStringTag](): string {
    return 'HeldUpdate';
  }

  /**
   * Makes the owner of the turn a writer: lets no more readers in, and waits until the readers inside have left. No
   * other task has written since `updateAsync`. The guard of the promise gives everything back, and this guard holds
   * nothing. If the upgrade fails, this guard holds the turn again. Never blocks.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects with TimeoutError when the time-out has passed, with the reason of the signal when
   * that is aborted, with RangeError or TypeError for a bad time-out or signal, with DisposedError if the lock has been
   * or is being disposed of, and with an Error if the guard holds nothing.
   * @example using held = await found.upgradeAsync({ timeout: 50 });
   */
  async upgradeAsync(options?: WaitOptions): Promise<HeldWrite> {
    const lock = this[handOver]('upgradeAsync');
    try {
      return await lock[upgrade](options);
    } catch (error) {
      // If the scope of this guard has ended in the meantime, nobody else gives the turn back.
      if (this.#ended) lock[giveBack](UPDATE);
      else this[source] = lock;
      throw error;
    }
  }

  /**
   * Makes the owner of the turn a reader, and gives the turn back. After the call this guard holds nothing, and the
   * returned guard reads. Never blocks.
   * @throws {Error} if the guard holds nothing.
   * @throws {DisposedError} if the lock has been disposed of.
   * @example const reads = found.downgrade();
   */
  downgrade(): HeldRead {
    return this[handOver]('downgrade')[downgrade](UPDATE);
  }

  /** @internal */
  protected override [end](): void {
    this.#ended = true;
    super[end]();
  }
}

type Make<T> = new (lock: GuardedLock, mode: Mode) => T;

/** @internal The constructors, which only a RwLock calls. */
export const ReadGuard = HeldRead as unknown as Make<HeldRead>;
/** @internal */
export const WriteGuard = HeldWrite as unknown as Make<HeldWrite>;
/** @internal */
export const UpdateGuard = HeldUpdate as unknown as Make<HeldUpdate>;
