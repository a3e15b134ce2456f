/// <reference lib="esnext.disposable" preserve="true" />
/** HeldPermits is a guard of permits: it gives them back once. */

import { end, Guard, isHeld } from '../common/guard.js';
import { dispose } from '../common/symbols.js';
import { checkInteger } from '../runtime/errors.js';

/** @internal A key of a keyed lock may be held for another copy of the library, so all copies have one symbol. */
export const giveBack: unique symbol = Symbol.for('taketurns:giveBack');

/** @internal The semaphore to which a guard gives its permits back. */
export interface Releasable {
  /** Gives back permits that a guard holds; see owner-deaths.ts. */
  [giveBack](permits: number): void;
}

/**
 * The result of a call that takes something and returns no guard. TypeScript refuses `using p = semaphore.acquire()`.
 * In JavaScript `using` would accept undefined, as a value with nothing to give back.
 */
const noGuard = (call: string, instead: string): void =>
  ({
    get [dispose](): never {
      throw new TypeError(`${call} returns no guard, and what it took stays taken: use ${instead}`);
    },
  }) as unknown as undefined;
/** @internal */
export const NO_PERMITS = noGuard('Semaphore.acquire', 'hold');
/** @internal */
export const NO_LOCK = noGuard('Mutex.lock', 'hold');
/** @internal */
export const NO_READING = noGuard('RwLock.lockRead', 'read');
/** @internal */
export const NO_WRITING = noGuard('RwLock.lockWrite', 'write');

/**
 * Permits that `hold`, `holdAsync` or `tryHold` has taken. They go back at the end of the `using` or `await using`
 * scope. `release` gives them back sooner, all at once or in parts. Each permit goes back once: a guard never gives
 * back permits that are not its own.
 *
 * @example
 * ```ts
 * import { Semaphore } from 'taketurns';
 *
 * const pool = new Semaphore(4);
 * {
 *   using held = pool.hold(3);
 *   held.release(1); // the others at the end of the scope
 * }
 * ```
 */
export class HeldPermits extends Guard {
  #source: Releasable | undefined;
  #permits: number;

  /**
   * Whether an owner of permits of the robust semaphore has died, and this thread is the first that has acquired
   * permits since that death. The data that the permits guard may then be half-written.
   */
  readonly ownerDied: boolean;

  private constructor(source: Releasable, permits: number, ownerDied: boolean) {
    super();
    this.#source = source;
    this.#permits = permits;
    this.ownerDied = ownerDied;
  }

  /** The number of permits that the guard still holds; 0 once all have been given back. */
  get permits(): number {
    return this.#permits;
  }

  /** @internal */
  protected get [isHeld](): boolean {
    return this.#source !== undefined;
  }

  /**
   * Gives permits back. Without a number it gives back all that the guard still holds, and does nothing the second
   * time. Never blocks.
   *
   *     const held = semaphore.hold(3);
   *     held.release(2); // it holds 1 still
   *     held.release();
   * @param permits 1 to the number that the guard still holds (the default).
   * @throws {RangeError | TypeError} for a bad number, such as more than the guard still holds. Nothing has changed
   * then.
   * @throws {RangeError} if more than the `max` of the semaphore would be available, because others have released or
   * added permits.
   */
  release(permits?: number): void {
    const rest = this.#permits;
    if (permits !== undefined) checkInteger('HeldPermits.release: permits', permits, 1, rest, ' (what it holds)');
    if (permits !== undefined && permits < rest) {
      this.#source?.[giveBack](permits);
      this.#permits = rest - permits;
    } else {
      this[end]();
    }
  }

  /** @internal */
  protected [end](): void {
    const source = this.#source;
    const rest = this.#permits;
    this.#source = undefined;
    this.#permits = 0;
    source?.[giveBack](rest);
  }

  /** Returns, for example, `HeldPermits(2)`, if it still holds two permits. Never blocks, throws nothing. */
  override toString(): string {
    return `HeldPermits(${this.#permits})`;
  }

  /** `HeldPermits`. */
  get [Symbol.toStringTag](): string {
    return 'HeldPermits';
  }
}

/** @internal The constructor, which only the methods that hold call. */
export const PermitsGuard = HeldPermits as unknown as new (
  source: Releasable,
  permits: number,
  ownerDied: boolean,
) => HeldPermits;

/**
 * @internal Notes in a guard that was made before its call took anything whether an owner has died. If the guard were
 * made afterwards, an exhausted stack could leave what was taken to nobody.
 */
export function noted<G extends { readonly ownerDied: boolean }>(guard: G, ownerDied: boolean): G {
  if (ownerDied) (guard as { ownerDied: boolean }).ownerDied = true;
  return guard;
}
