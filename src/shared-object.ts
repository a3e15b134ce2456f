/// <reference lib="esnext.disposable" preserve="true" />
/** The classes of shared objects extend this class. It keeps the reference and handles the end of the object. */

import type { Kind } from './border/kinds.js';
import { DisposedError } from './errors.js';
import { dispose, inspected } from './held-permits.js';
import type { Handle, Reference } from './reference.js';
import { ended, leaves } from './runtime/membership.js';
import { closed } from './runtime/promises.js';

// The hooks of the classes are symbols, so that a user's subclass cannot replace one by chance.
/** @internal */
export const reference = Symbol();
/** @internal */
export const close = Symbol();
/** @internal */
export const forget = Symbol();
/** @internal */
export const detach = Symbol();
/** @internal */
export const back = Symbol();
/** @internal */
export const disposedError = Symbol();

/**
 * A shared object as one library object of this thread sees it.
 *
 * A class keeps the address in a field of its own, and initializes each field once, where it is declared. Wherever the
 * object is a constant to V8, such a field is one too. V8 then compiles a call of the core through it without a load
 * before the call (docs/internals/what-was-tried.md).
 */
export abstract class SharedObject<K extends Kind> implements Disposable {
  readonly #kind: K;
  readonly #reference: Reference;
  readonly #thing: string;
  #hasLetGo = false;

  /**
   * @internal
   * @param thing the name of the object in a DisposedError.
   */
  protected constructor(kind: K, given: Reference, thing: string = kind) {
    this.#kind = kind;
    this.#reference = given;
    this.#thing = thing;
    given.hold(this);
  }

  /** Whether it has been disposed of, as far as this object has noticed. */
  get disposed(): boolean {
    // The end of a membership does not reach an object that has been evicted.
    return this.#hasLetGo || this.#reference.membership.isOver;
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {@link DisposedError} if the object has been disposed of.
   */
  get handle(): Handle<K> {
    if (this.disposed) throw this[disposedError]();
    return this[reference].handle(this.#kind);
  }

  /**
   * Closes the object in every thread: all present and later waiters get a DisposedError. Giving back what a thread
   * holds has no effect. All library objects of this thread release the shared object. Its memory is reused once every
   * other thread has, too: each does when it uses the object again, or attaches to others. A thread that is idle for
   * long meanwhile keeps a place of the `objects` of the arena for each. Never blocks, throws nothing.
   */
  dispose(): void {
    if (this.#hasLetGo) return;
    this[close]();
    this[closed]();
    const { membership, shared } = this.#reference;
    membership.letGo(shared);
  }

  /**
   * Ends a `using` scope: calls `dispose`, which ends the object in every thread. So `using` suits the thread that has
   * made the object and outlives all use of it, and none that has opened it by a name or a handle.
   */
  [dispose](): void {
    this.dispose();
  }

  /** The name of its class. */
  get [Symbol.toStringTag](): string {
    return this.#kind;
  }

  /** @internal Of a class that describes itself, the console shows that. */
  [inspected](): string {
    return this.toString();
  }

  /** @internal */
  protected get [reference](): Reference {
    this[back]();
    return this.#reference;
  }

  /**
   * @internal Gives the object a place if it has been evicted, and returns whether it was. Other calls find it closed.
   */
  protected [back](): boolean {
    const { shared } = this.#reference;
    if (!shared.away || this.disposed) return false;
    this[forget](this.#reference.enter(this));
    shared.away = undefined;
    return true;
  }

  /** @internal Closes the shared object for all threads, and wakes its waiters. */
  protected abstract [close](): void;

  /** @internal Sets the address, by default to CLOSED_OBJECT. Only an object that may be evicted is given another. */
  protected abstract [forget](address?: number): void;

  /** @internal */
  get [leaves](): boolean {
    return true;
  }

  /** @internal Is called when the thread ends. */
  [ended](): void {
    this.#hasLetGo = true;
    this[forget]();
  }

  /** @internal Releases the shared object, which is disposed of or cannot be used, or is evicted. */
  [closed](away?: Int32Array): void {
    if (this.#hasLetGo) return;
    this.#hasLetGo = !away;
    this[forget]();
    // An exception of node:vm comes at the beginning of a call, so the address and this change at once.
    this.#reference.shared.away = away;
    this[detach]();
  }

  /** @internal Releases the reference. */
  protected [detach](): void {
    this.#reference.detach(this);
  }

  /** @internal Releases the shared object, and returns the error that reports its end. */
  protected [disposedError](): DisposedError {
    this[closed]();
    return new DisposedError(`the ${this.#thing} has been disposed of`);
  }
}
