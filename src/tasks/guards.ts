/// <reference lib="esnext.disposable" preserve="true" />
/** The guards of tasks: of permits and of locks (common/guard.ts). */
import { checkInteger } from '../common/errors.js';
import { end, Guard, isHeld } from '../common/guard.js';

/** @internal */
export const giveBack: unique symbol = Symbol();
/** @internal */
export const source: unique symbol = Symbol();
/** @internal */
export const what: unique symbol = Symbol();

/** @internal The object that has given something to a guard, and takes it back. */
export interface Source<What> {
  [giveBack](what: What): void;
}

/** A guard of tasks: what it holds is of its source, which takes it back. */
export abstract class Held extends Guard {
  #source: Source<never> | undefined;
  #what: unknown;

  /** Only the methods that hold make guards. Throws nothing. */
  protected constructor(source: object, held: unknown) {
    super();
    this.#source = source as Source<never>;
    this.#what = held;
  }

  /** @internal What it holds is of this object, as long as it holds it. */
  get [source](): Source<never> | undefined {
    return this.#source;
  }

  /** @internal */
  set [source](to: Source<never> | undefined) {
    this.#source = to;
  }

  /** @internal */
  protected get [what](): unknown {
    return this.#what;
  }

  /** @internal */
  protected set [what](held: unknown) {
    this.#what = held;
  }

  /** @internal */
  protected get [isHeld](): boolean {
    return this.#source !== undefined;
  }

  /** @internal */
  protected [end](): void {
    const source = this.#source;
    this.#source = undefined;
    source?.[giveBack](this.#what as never);
  }
}

/**
 * Permits that `holdAsync` or `tryHold` has taken. They go back at the end of the `using` or `await using` scope.
 * `release` gives them back sooner, all at once or in parts. Each permit goes back once.
 *
 * @example
 * ```ts
 * import { Semaphore } from 'taketurns/tasks';
 *
 * const pool = new Semaphore(4);
 * {
 *   using held = await pool.holdAsync(3);
 *   held.release(1); // the others at the end of the scope
 * }
 * ```
 * @since 0.3.0
 */
export class HeldPermits extends Held {
  /** The number of permits that the guard still holds; 0 once all have been given back. */
  get permits(): number {
    return this.#permits;
  }

  get #permits(): number {
    return this[source] ? (this[what] as number) : 0;
  }

  /**
   * Gives permits back. Without a number it gives back all that the guard still holds, and does nothing the second
   * time. Never blocks.
   * @param permits 1 to the number that the guard still holds (the default).
   * @throws {RangeError | TypeError} for a bad number. Nothing has changed then.
   * @throws {RangeError} if more than the `max` of the semaphore would be available, because others have released or
   * added permits.
   * @example held.release(1);
   */
  release(permits?: number): void {
    const rest = this.#permits;
    if (permits !== undefined) checkInteger('HeldPermits.release: permits', permits, 1, rest, ' (what it holds)');
    if (permits === undefined || permits === rest) {
      this[end]();
      return;
    }
    this[source]?.[giveBack](permits as never);
    this[what] = rest - permits;
  }

  /** `HeldPermits`. */
  get [Symbol.toStringTag](): string {
    return 'HeldPermits';
  }

  /** Returns, for example, `HeldPermits(2)`: it still holds two permits. Never blocks, throws nothing. */
  override toString(): string {
    return `HeldPermits(${this.#permits})`;
  }
}

/**
 * A mutex, or a key of a `KeyedMutex`, that `holdAsync` or `tryHold` has locked. The end of the `using` or `await
 * using` scope, or `unlock`, unlocks it. Only the first of these calls has an effect.
 *
 * @example
 * ```ts
 * import { Mutex } from 'taketurns/tasks';
 *
 * const mutex = new Mutex();
 * {
 *   using held = await mutex.holdAsync(); // to the end of the scope
 * }
 * ```
 * @since 0.3.0
 */
export class HeldLock extends Held {
  /**
   * Unlocks. Does nothing the second time. Never blocks.
   * @throws {Error} if a call of `unlock` of the mutex has unlocked it before, and nobody is the owner.
   * @example held.unlock();
   */
  unlock(): void {
    this[end]();
  }

  /** `HeldLock`. */
  get [Symbol.toStringTag](): string {
    return 'HeldLock';
  }
}

/** @internal The constructors, which only the methods that hold call. */
export const PermitsGuard = HeldPermits as unknown as new (source: Source<number>, permits: number) => HeldPermits;
/** @internal */
export const LockGuard = HeldLock as unknown as new <What>(source: Source<What>, what: What) => HeldLock;
