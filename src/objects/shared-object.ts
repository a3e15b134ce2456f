/// <reference lib="esnext.disposable" preserve="true" />
/** The classes of shared objects extend this class, which keeps the reference and handles the end of the object. */

import { host } from '#host';
import type { Kind } from '../border/kinds.js';
import { inspected, nameOf, shown } from '../common/shown.js';
import { dispose } from '../common/symbols.js';
import { type DisposedError, described, disposed, quoted } from '../runtime/errors.js';
import { leaves, threadEnded } from '../runtime/membership.js';
import { closed } from '../runtime/promises.js';
import type { Handle, Reference } from './reference.js';

// State is private, because users may freeze an object. The hooks of the classes are symbols, so that a user's subclass
// cannot replace one by chance. For the same reason a class asks itself by private names and by hooks, and not by names
// that users know, such as `disposed`. Only `using` calls `dispose`, and the console `toString`: a subclass may want both.
/** @internal */
export const reference = Symbol();
/** @internal */
export const isOver = Symbol();
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
/** @internal */
export const named = Symbol();

/**
 * A shared object as one library object of this thread sees it.
 *
 * A class keeps the address in a field of its own, and initializes each field once, where the field is declared. If V8
 * treats the object as a constant, it treats such a field as a constant too. V8 then compiles a call of the core
 * through this field without a load before the call (docs/internals/what-was-tried.md).
 */
export abstract class SharedObject<K extends Kind> implements Disposable {
  readonly #kind: K;
  readonly #reference: Reference;
  #hasLetGo = false;

  /** @internal */
  protected constructor(kind: K, given: Reference) {
    this.#kind = kind;
    this.#reference = given;
    given.attach(this);
  }

  /** Whether the shared object has been disposed of, as far as this object has noticed. */
  get disposed(): boolean {
    return this[isOver];
  }

  /** @internal Whether the shared object has been disposed of, as far as this object has noticed. */
  get [isOver](): boolean {
    // The end of a membership does not reach an object that has been evicted.
    return this.#hasLetGo || this.#reference.membership.isOver;
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {DisposedError} if the object has been disposed of.
   */
  get handle(): Handle<K> {
    if (this[isOver]) throw this[disposedError]();
    return this[reference].handle(this.#kind);
  }

  /**
   * Closes the object in every thread: all present and later waiters get a DisposedError. If a thread then gives back
   * what it holds, this has no effect. Never blocks, throws nothing.
   *
   * All library objects of this thread release the shared object. Its memory is reused once all other threads have
   * released it too. Another thread releases it when the thread uses the object again, or when the thread attaches to
   * other objects. Until then the object still takes one of the `objects` of the arena.
   * @example mutex.dispose();
   */
  dispose(): void {
    if (this.#hasLetGo) return;
    this[close]();
    this[closed]();
    const { membership, shared } = this.#reference;
    membership.letGo(shared);
  }

  /**
   * Ends a `using` scope: calls `dispose`, which ends the object in every thread. So `using` suits a thread that has
   * made the object and outlives all use of it. It does not suit a thread that has opened the object by a name or a
   * handle.
   */
  [dispose](): void {
    this.dispose();
  }

  /** The name of its class. */
  get [Symbol.toStringTag](): string {
    return #kind in this ? this.#kind : nameOf(this);
  }

  /** @internal What the console shows of a class that describes itself. */
  [inspected](): string {
    return shown(this);
  }

  /** @internal */
  protected get [reference](): Reference {
    this[back]();
    return this.#reference;
  }

  /**
   * @internal If the object has been evicted, gives it an address again. Returns whether it had been evicted. Until then
   * calls of the core find the object closed.
   */
  protected [back](): boolean {
    const { shared } = this.#reference;
    if (!shared.away || this[isOver]) return false;
    this[forget](this.#reference.enter(this));
    shared.away = undefined;
    return true;
  }

  /** @internal Closes the shared object for all threads, and wakes its waiters. */
  protected abstract [close](): void;

  /**
   * @internal Sets the address, by default to CLOSED_OBJECT. Only an object that may be evicted gets another address.
   */
  protected abstract [forget](address?: number): void;

  /** @internal */
  get [leaves](): boolean {
    return true;
  }

  /** @internal Is called when the thread ends. */
  [threadEnded](): void {
    this.#hasLetGo = true;
    this[forget]();
  }

  /** @internal Releases the shared object because it is disposed of, cannot be used, or is evicted. */
  [closed](away?: Int32Array): void {
    if (this.#hasLetGo) return;
    this.#hasLetGo = !away;
    this[forget]();
    // An exception of node:vm can only come at the beginning of a call. So the address and this field change together.
    this.#reference.shared.away = away;
    this[detach]();
  }

  /** @internal Releases the reference. */
  protected [detach](): void {
    this.#reference.detach(this);
  }

  /** @internal Releases the shared object, and returns the error that reports its end. */
  protected [disposedError](): DisposedError {
    // The name is there as long as the thread has the object.
    const error = disposed(this);
    this[closed]();
    return error;
  }

  /** @internal The object in the words of an error: `the Mutex "accounts"`, or `the Mutex` if its name is not known. */
  [described](): string {
    const name = this[named]('');
    return `the ${this.#kind}${name && ` ${name}`}`;
  }

  /** @internal The name of the object for a text, and what follows it; empty if the object has no name. See `Host`. */
  [named](after: string): string {
    const { membership, address, name } = this.#reference;
    if (name !== undefined) return quoted(name) + after;
    // Another object may have the memory of one that this thread has let go of.
    return this.#hasLetGo ? '' : (host.nameText?.(membership.memory, address, after) ?? '');
  }
}
