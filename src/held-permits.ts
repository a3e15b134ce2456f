/// <reference lib="esnext.disposable" preserve="true" />
/** HeldPermits is a guard of permits: it gives them back once. */

/** @internal The semaphore to which a guard gives its permits back. */
export interface Releasable {
  release(permits: number): void;
}

// Node 20 before 20.5.1 has no Symbol.dispose; TypeScript's helpers and its polyfills agree on this name.
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * Permits that `hold` or `holdAsync` has taken. They go back at the end of the `using` or `await using` scope, or by
 * `release`. Only the first time counts: a guard never gives back permits that are not its own.
 */
export class HeldPermits implements Disposable, AsyncDisposable {
  #source: Releasable | undefined;
  /** The number of permits that the guard was made with. */
  readonly permits: number;

  /**
   * Whether an owner of the robust semaphore has died with its permits and this thread is the first to acquire since.
   * The data that the permits guard may then be half-written.
   */
  readonly ownerDied: boolean;

  private constructor(source: Releasable, permits: number, ownerDied: boolean) {
    this.#source = source;
    this.permits = permits;
    this.ownerDied = ownerDied;
  }

  /** Whether the permits have not been given back yet. */
  get held(): boolean {
    return this.#source !== undefined;
  }

  /**
   * Gives the permits back. Does nothing the second time. Never blocks.
   * @throws {RangeError} if other releases were so many that the permits would exceed the `max` of the semaphore.
   */
  release(): void {
    const source = this.#source;
    this.#source = undefined;
    source?.release(this.permits);
  }

  /** Ends a `using` scope: calls `release`. */
  [dispose](): void {
    this.release();
  }

  /** Ends an `await using` scope: calls `release`. */
  async [asyncDispose](): Promise<void> {
    this.release();
  }
}

/** @internal The constructor, which only `hold` and `holdAsync` call. */
export const PermitsGuard = HeldPermits as unknown as new (
  source: Releasable,
  permits: number,
  ownerDied: boolean,
) => HeldPermits;
