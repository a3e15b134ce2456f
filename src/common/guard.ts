/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A guard is the answer of a call that holds something. It gives back once what it holds: at the end of a `using` or
 * `await using` scope, or by its own call, `release`, `unlock` or `done`.
 *
 * Only `using` calls `dispose`, and only the console calls `toString`. A guard asks itself by the symbols, since a
 * subclass of a user may replace what has a name.
 */
import { inspected, shown } from './shown.js';
import { asyncDispose, dispose } from './symbols.js';

/** @internal */
export const end: unique symbol = Symbol();
/** @internal */
export const isHeld: unique symbol = Symbol();

/** A guard. Each kind of guard has a call of its own that gives back what it holds. */
export abstract class Guard implements Disposable, AsyncDisposable {
  /** @internal */
  protected abstract get [isHeld](): boolean;

  /** @internal Gives everything back, the first time. */
  protected abstract [end](): void;

  /** Whether it still holds what it was made for. */
  get held(): boolean {
    return this[isHeld];
  }

  /** The name of its class. */
  abstract get [Symbol.toStringTag](): string;

  /** Returns, for example, `HeldLock(held)` or `HeldLock(unlocked)`. Never blocks, throws nothing. */
  toString(): string {
    return `${this[Symbol.toStringTag]}(${this[isHeld] ? 'held' : 'unlocked'})`;
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  /** Ends a `using` scope: gives back what it holds. */
  [dispose](): void {
    this[end]();
  }

  /** Ends an `await using` scope: gives back what it holds. */
  async [asyncDispose](): Promise<void> {
    this[end]();
  }
}
