/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A guard: permits that are held, and go back once.
 */

/** What a guard gives its permits back to. */
export interface Releasable {
  release(permits: number): void;
}

// Node 20 before 20.5.1 has no Symbol.dispose; TypeScript's helpers and its polyfills agree on this name.
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * Permits taken by `hold` or `holdAsync`. They go back when the `using` or `await using` scope ends, or by
 * `release`. Only the first time counts: a guard can never give back permits that are not its own.
 */
export class HeldPermits implements Disposable, AsyncDisposable {
  #source: Releasable | undefined;
  /** How many permits the guard was made with. */
  readonly permits: number;

  /**
   * Whether an owner of the robust semaphore died with its permits, and this is the first to acquire since: what
   * they guard may be half-written.
   */
  readonly ownerDied: boolean;

  /** @internal */
  constructor(source: Releasable, permits: number, ownerDied: boolean) {
    this.#source = source;
    this.permits = permits;
    this.ownerDied = ownerDied;
  }

  /** Whether the permits have not been given back yet. */
  get held(): boolean {
    return this.#source !== undefined;
  }

  /**
   * Gives the permits back; does nothing when that has been done. Never blocks.
   * @throws {RangeError} if somebody has released so much that they would exceed the semaphore's `max`.
   */
  release(): void {
    const source = this.#source;
    this.#source = undefined;
    source?.release(this.permits);
  }

  /** The end of a `using` scope: `release`. */
  [dispose](): void {
    this.release();
  }

  /** The end of an `await using` scope: `release`. */
  async [asyncDispose](): Promise<void> {
    this.release();
  }
}
