/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A guard: a lock that is held, and goes back once.
 */
import { asyncDispose, dispose } from './held-permits.js';

/**
 * A mutex locked by `hold` or `holdAsync`. It is unlocked when the `using` or `await using` scope ends, or by
 * `unlock`. Only the first time counts.
 */
export class HeldLock implements Disposable, AsyncDisposable {
  #mutex: { unlock(): void } | undefined;

  /**
   * Whether an owner of the mutex died, and this is the first to lock since: what it guards may be half-written.
   */
  readonly ownerDied: boolean;

  /** @internal */
  constructor(mutex: { unlock(): void }, ownerDied: boolean) {
    this.#mutex = mutex;
    this.ownerDied = ownerDied;
  }

  /** Whether it has not been unlocked yet. */
  get held(): boolean {
    return this.#mutex !== undefined;
  }

  /**
   * Unlocks the mutex; does nothing when that has been done. Never blocks.
   * @throws {Error} in a thread that is not the owner.
   */
  unlock(): void {
    const mutex = this.#mutex;
    this.#mutex = undefined;
    mutex?.unlock();
  }

  /** The end of a `using` scope: `unlock`. */
  [dispose](): void {
    this.unlock();
  }

  /** The end of an `await using` scope: `unlock`. */
  async [asyncDispose](): Promise<void> {
    this.unlock();
  }
}
