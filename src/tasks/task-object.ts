/// <reference lib="esnext.disposable" preserve="true" />
/** The classes of this folder extend this class, which has the end of an object, and its description. */

import { checkOptions, DisposedError } from '../common/errors.js';
import { inspected, nameOf, shown } from '../common/shown.js';
import { dispose } from '../common/symbols.js';
import type { WaitOptions } from '../common/waits.js';
import { type Limits, limitsOf } from './limits.js';
import type { Queue } from './queue.js';

// State is private, because users may freeze an object. The hooks of the classes are symbols, so that a user's subclass
// cannot replace one by chance. For the same reason a class asks itself by private names and by hooks, and not by names
// that users know, such as `disposed`. Only `using` calls `dispose`, and the console `toString`: a subclass may want both.
/** @internal */
export const queue = Symbol();
/** @internal */
export const close = Symbol();
/** @internal */
export const state = Symbol();
/** @internal */
export const isOver = Symbol();
/** @internal */
export const count = Symbol();
/** @internal */
export const checkOpen = Symbol();
/** @internal */
export const begin = Symbol();

/** The answer of a call that has nothing to wait for. */
export const DONE: Promise<void> = Promise.resolve();

/**
 * @internal Refuses arguments of a class that takes none, such as a name, or an option that the class for threads has.
 */
export function refuseOptions(kind: string, [options = {}]: readonly unknown[]): void {
  checkOptions(kind, options, []);
}

/** What the tasks of one thread share: an object of this module. */
export abstract class TaskObject implements Disposable {
  readonly #kind: string;
  #disposed = false;

  /** @internal */
  protected constructor(kind: string) {
    this.#kind = kind;
  }

  /** @internal What `toString` says besides the class and the number of waiting promises. */
  protected abstract get [state](): string;

  /** Whether it has been disposed of. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** @internal Whether it has been disposed of. */
  get [isOver](): boolean {
    return this.#disposed;
  }

  /** @internal The number of promises that wait. */
  protected abstract get [count](): number;

  /** The number of promises that wait. */
  get waiting(): number {
    return this[count];
  }

  /**
   * Ends the object: all present and later waits are rejected with a `DisposedError`. To give back what a task still
   * holds has no effect then. Never blocks, throws nothing.
   * @example lock.dispose();
   */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this[close](this.#end());
  }

  /** @internal Refuses all that wait. */
  protected abstract [close](error: Error): unknown;

  #end(): DisposedError {
    return new DisposedError(`the ${this.#kind} has been disposed of`);
  }

  /** @internal Throws if the object has been disposed of. */
  [checkOpen](): void {
    if (this.#disposed) throw this.#end();
  }

  /** @internal Checks the options of a call, if it has any, and that the object is open. */
  [begin](method: string, options: WaitOptions | undefined, names?: string[]): Limits | undefined {
    const limits = options === undefined ? options : limitsOf(`${this.#kind}.${method}`, options, names);
    this[checkOpen]();
    return limits;
  }

  /** Returns the class and the state, for example `Semaphore(2 available, 0 waiting)`. Never blocks, throws nothing. */
  toString(): string {
    return `${this.#kind}(${this.#disposed ? 'disposed' : `${this[state]}, ${this[count]} waiting`})`;
  }

  /** The name of its class. */
  get [Symbol.toStringTag](): string {
    return #kind in this ? this.#kind : nameOf(this);
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  /** Ends a `using` scope: calls `dispose`. */
  [dispose](): void {
    this.dispose();
  }
}

/** An object whose promises wait in one queue. */
export abstract class QueueObject extends TaskObject {
  /** @internal The promises that wait. */
  protected abstract readonly [queue]: Queue;

  /** @internal */
  protected get [count](): number {
    return this[queue].count;
  }

  /** @internal */
  protected [close](error: Error): unknown {
    return this[queue].close(error);
  }
}
