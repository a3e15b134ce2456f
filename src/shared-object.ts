/**
 * The classes of shared objects extend the class in this file, which keeps the reference and handles the end of the
 * object.
 */
import { DisposedError } from './errors.js';
import type { Handle, Reference } from './reference.js';
import { ended, type Owner } from './runtime/attachment.js';
import type { Kind } from './runtime/kinds.js';
import { closed } from './runtime/promises.js';

/**
 * A shared object as one library object of this thread knows it.
 *
 * A class keeps the address in a field of its own, and initializes each field once, where it is declared. Such a field is a
 * constant to the engine wherever the object is one, and the engine compiles in a call of the core by way of it with no load
 * before it (docs/internals/what-was-tried.md).
 */
export abstract class SharedObject<K extends Kind> implements Owner {
  readonly #kind: K;
  readonly #reference: Reference;
  readonly #thing: string;
  #hasLetGo = false;

  /**
   * @internal
   * @param thing what a DisposedError calls it.
   */
  protected constructor(kind: K, reference: Reference, thing: string = kind) {
    this.#kind = kind;
    this.#reference = reference;
    this.#thing = thing;
    reference.hold(this);
  }

  /**
   * What to send to another thread, for `from` there.
   * @throws {DisposedError} if it has been disposed of.
   */
  get handle(): Handle<K> {
    if (this.#hasLetGo) throw this.closed();
    return this.#reference.handle(this.#kind);
  }

  /**
   * Closes it in every thread: whoever waits, now or later, gets a DisposedError. What is still held may be given
   * back, to no effect. Its memory is used again once every thread has let go of it. Never blocks, throws nothing.
   */
  dispose(): void {
    if (this.#hasLetGo) return;
    this.close();
    this[closed]();
  }

  /** @internal */
  protected get reference(): Reference {
    return this.#reference;
  }

  /** @internal Closes the shared object for all threads, and wakes those who wait. */
  protected abstract close(): void;

  /** @internal The address is CLOSED_OBJECT from now on. */
  protected abstract forget(): void;

  /** @internal The thread ends. */
  [ended](): void {
    this.#hasLetGo = true;
    this.forget();
  }

  /** @internal Lets go of the shared object, which has been found disposed of, or cannot be used. */
  [closed](): void {
    if (this.#hasLetGo) return;
    this.#hasLetGo = true;
    this.forget();
    this.letGo();
  }

  /** @internal Gives the reference back. */
  protected letGo(): void {
    this.#reference.letGo(this);
  }

  /** @internal The error that says so, once this has let go. */
  protected closed(): DisposedError {
    this[closed]();
    return new DisposedError(`the ${this.#thing} has been disposed of`);
  }
}
