/// <reference lib="esnext.disposable" preserve="true" />
/** HeldKeys is a guard of several keys: it gives them back once. */

import type { Key } from '../common/keys.js';
import { HeldLock } from '../objects/held-lock.js';
import { giveBack } from '../objects/held-permits.js';
import type { Entry } from './entry.js';

/**
 * Several keys that `holdAll` or `holdAllAsync` holds. They go back at the end of the `using` or `await using` scope, or
 * by `unlock`. Only the first of these calls has an effect.
 *
 * @example
 * ```ts
 * import { KeyedMutex } from 'taketurns/keyed';
 *
 * const accounts = KeyedMutex.open('accounts');
 * {
 *   using held = accounts.holdAll(['Ann', 'Bob']);
 *   console.log(held.keys);
 * }
 * ```
 * @since 0.3.0
 */
export class HeldKeys extends HeldLock {
  /** The keys, in the order in which they were taken. */
  readonly keys: readonly Key[];
  /**
   * The keys of which an owner has died, and of whose death this thread is the first to learn. The data that they guard
   * may be half-written. If there are any, `ownerDied` is true.
   */
  readonly keysOfDead: readonly Key[];

  /** @internal */
  protected constructor(held: readonly Entry[], keysOfDead: readonly Key[]) {
    super({ [giveBack]: () => giveAll(held) }, keysOfDead.length > 0);
    this.keys = held.map(({ key }) => key);
    this.keysOfDead = keysOfDead;
  }

  /**
   * Gives all keys back, the last one first. Does nothing the second time. Never blocks, throws nothing.
   * @example held.unlock();
   */
  override unlock(): void {
    super.unlock();
  }

  /** `HeldKeys`. */
  override get [Symbol.toStringTag](): string {
    return 'HeldKeys';
  }
}

/** @internal The constructor, which only the methods that hold call. */
export const KeysGuard = HeldKeys as unknown as new (held: readonly Entry[], keysOfDead: readonly Key[]) => HeldKeys;

/** @internal Gives one permit of each back, the last one first. */
export function giveAll(held: readonly Entry[]): void {
  for (let i = held.length; i > 0; i--) (held[i - 1] as Entry).give(1);
}
