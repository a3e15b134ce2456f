/**
 * AtomicSemaphore: an object with a place of its own, at which threads wait until words of shared memory change.
 *
 * words.ts has the waiting, and core/papers/places.ts has the words of the place. This file adds the life of the
 * object: its handle, and `dispose`. After `dispose` every waiter finds the place closed and throws a DisposedError.
 * The shared object is released only when no promise of this thread waits at the place any more, because a promise
 * that wakes up still looks at the place.
 */
import type { Arena } from '../../arena/arena.js';
import { CLOSED_OBJECT, KIND_ATOMIC_SEMAPHORE, LIMIT, O_PLACE } from '../../border/numbers.js';
import type { Properties } from '../../objects/options.js';
import { type Definition, find, type Handle, make, type Reference } from '../../objects/reference.js';
import { checkOptions, DisposedError } from '../../runtime/errors.js';
import { leaves, threadEnded } from '../../runtime/membership.js';
import { closed } from '../../runtime/promises.js';
import { checkDuration } from './deadline.js';
import { Notify, notifyNumber } from './notify.js';
import { keyOf, Places, type ValueOf, type WaitableArray, Word, waitUntil, waitUntilAsync } from './words.js';

/** A plain, structured-cloneable value to send to another thread, for `AtomicSemaphore.from` there. */
export type AtomicSemaphoreHandle = Handle<'AtomicSemaphore'>;

/** The options of a new `AtomicSemaphore`. */
export interface AtomicSemaphoreOptions {
  /** The arena of the object. Default: `Arena.default`. */
  readonly arena?: Arena;
}

const KIND = 'AtomicSemaphore';

const DEFINITION: Definition<typeof KIND, [AtomicSemaphoreOptions]> = {
  kind: KIND,
  number: KIND_ATOMIC_SEMAPHORE,
  properties,
};

/** The place of an AtomicSemaphore: all words have the same place. */
class OwnPlace extends Places {
  readonly #reference: Reference;
  /** Whether the semaphore has been disposed of, as far as this thread has noticed. */
  closed = false;

  constructor(reference: Reference) {
    super(reference.membership);
    this.#reference = reference;
  }

  placeOf(): number {
    if (this.closed) throw new DisposedError(`the ${KIND} has been disposed of`);
    return this.#reference.address + O_PLACE;
  }

  checkOpen(): void {
    const { membership, address } = this.#reference;
    if (membership.core.isDisposed(address)) throw new DisposedError(`the ${KIND} has been disposed of`);
  }

  close(): void {
    this.algorithms.closePlace(this.#reference.address);
  }
}

function properties(what: string, options: AtomicSemaphoreOptions): Properties {
  checkOptions(what, options, ['arena']);
  return { permits: 0, max: LIMIT, spin: 0 };
}

/**
 * P0514R1's `atomic_semaphore`: a place where threads wait until a word changes, apart from the threads that wait
 * elsewhere. It is a semaphore only in name: it has no count, and the state is in the word. One atomic semaphore serves
 * as many words as you like. A signal for one of these words also wakes the waiters for the other words, which look at
 * their word and sleep again. With an array of atomic semaphores you can spread your words over several places.
 *
 * Source: Giroux, P0514R1, 32.10. C++20 has nothing like it.
 *
 * @example
 * ```ts
 * import { AtomicSemaphore } from 'taketurns/p0514';
 *
 * const place = new AtomicSemaphore(); // threads share it by place.handle, and the words by a message
 * const words = new Int32Array(new SharedArrayBuffer(4));
 * Atomics.store(words, 0, 1);
 * place.signal(words, 0); // those who wait look again
 * place.wait(words, 0, 0); // returns at once, because the word is 1 and not 0
 * ```
 */
export class AtomicSemaphore {
  readonly #reference: Reference;
  readonly #places: OwnPlace;
  #waiting = 0;
  #at: number;

  /**
   * @throws {RangeError | TypeError} for an argument out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options: AtomicSemaphoreOptions = {}) {
    const reference = make(DEFINITION, options);
    reference.attach(this);
    this.#reference = reference;
    this.#at = reference.address;
    this.#places = new OwnPlace(reference);
  }

  /**
   * Attaches to the semaphore of a handle, in any thread. Never blocks.
   * @throws {TypeError} if the value is not the handle of an AtomicSemaphore.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread or another attachment.
   * @example const semaphore = AtomicSemaphore.from(workerData.semaphore); // its `handle`, sent by the other thread
   */
  static from(handle: AtomicSemaphoreHandle): AtomicSemaphore {
    return new AtomicSemaphore(find(DEFINITION, handle));
  }

  /**
   * The value to send to another thread, for `from` there.
   * @throws {DisposedError} if the semaphore has been disposed of.
   */
  get handle(): AtomicSemaphoreHandle {
    if (this.#places.closed) throw new DisposedError(`the ${KIND} has been disposed of`);
    return this.#reference.handle(KIND);
  }

  /**
   * Does what `atomicSignal` does, for the waiters at this semaphore: `all` (the default) and `one` both wake all of
   * them, and `none` wakes nobody. Does nothing if the semaphore has been disposed of. Never blocks.
   * @throws {RangeError | TypeError} for a bad argument, or memory that is not shared.
   * @example semaphore.signal(words, 0); // after the change of the word
   */
  signal(array: WaitableArray, index: number, notify: Notify = Notify.all): void {
    notifyNumber(`${KIND}.signal`, notify);
    const key = keyOf(`${KIND}.signal`, array, index);
    if (notify !== Notify.none && !this.#places.closed) this.#places.signal(key);
  }

  /**
   * Does what `atomicWait` does, at this semaphore. Blocks the thread until the word differs from `old`.
   * @throws {RangeError | TypeError} as `atomicWait`.
   * @throws {DisposedError} if the semaphore has been or is being disposed of.
   * @example semaphore.wait(words, 0, 0); // while words[0] is 0
   */
  wait<A extends WaitableArray>(array: A, index: number, old: ValueOf<A>): void {
    const word = new Word(`${KIND}.wait`, array, index, old);
    this.#watch(() => this.#places.wait(word));
  }

  /**
   * Does what `atomicTryWait` does: returns whether the word differs from `old`. Never blocks. Throws what
   * `atomicTryWait` throws.
   * @example if (semaphore.tryWait(words, 0, 0)) console.log('words[0] is not 0');
   */
  tryWait<A extends WaitableArray>(array: A, index: number, old: ValueOf<A>): boolean {
    return new Word(`${KIND}.tryWait`, array, index, old).changed;
  }

  /**
   * Does what `atomicTryWaitFor` does, at this semaphore. Blocks the thread for `ms` milliseconds at most.
   * @throws {DisposedError} as `wait`.
   * @example const differs = semaphore.tryWaitFor(words, 0, 0, 50);
   */
  tryWaitFor<A extends WaitableArray>(array: A, index: number, old: ValueOf<A>, ms: number): boolean {
    const what = `${KIND}.tryWaitFor`;
    const word = new Word(what, array, index, old);
    const time = checkDuration(what, ms);
    return this.#watch(() => this.#places.wait(word, time));
  }

  /**
   * Does what `atomicTryWaitUntil` does, at this semaphore. Blocks the thread until that point at most.
   * @throws {DisposedError} as `wait`.
   * @example const differs = semaphore.tryWaitUntil(words, 0, 0, Date.now() + 50);
   */
  tryWaitUntil<A extends WaitableArray>(array: A, index: number, old: ValueOf<A>, epochMs: number): boolean {
    const what = `${KIND}.tryWaitUntil`;
    const word = new Word(what, array, index, old);
    return this.#watch(() => waitUntil(this.#places, what, word, epochMs));
  }

  /**
   * Does what `atomicWaitAsync` does, at this semaphore. Never blocks the thread.
   * @returns a promise. It rejects with a DisposedError when `wait` would throw one.
   * @example await semaphore.waitAsync(words, 0, 0); // while words[0] is 0
   */
  async waitAsync<A extends WaitableArray>(array: A, index: number, old: ValueOf<A>): Promise<void> {
    const word = new Word(`${KIND}.waitAsync`, array, index, old);
    await this.#watchAsync(() => this.#places.waitAsync(word));
  }

  /**
   * Does what `atomicTryWaitForAsync` does, at this semaphore. Never blocks the thread.
   * @returns a promise. It rejects with a DisposedError when `wait` would throw one.
   * @example const differs = await semaphore.tryWaitForAsync(words, 0, 0, 50);
   */
  async tryWaitForAsync<A extends WaitableArray>(
    array: A,
    index: number,
    old: ValueOf<A>,
    ms: number,
  ): Promise<boolean> {
    const what = `${KIND}.tryWaitForAsync`;
    const word = new Word(what, array, index, old);
    const time = checkDuration(what, ms);
    return this.#watchAsync(() => this.#places.waitAsync(word, time));
  }

  /**
   * Does what `atomicTryWaitUntilAsync` does, at this semaphore. Never blocks the thread.
   * @returns a promise. It rejects with a DisposedError when `wait` would throw one.
   * @example const differs = await semaphore.tryWaitUntilAsync(words, 0, 0, Date.now() + 50);
   */
  async tryWaitUntilAsync<A extends WaitableArray>(
    array: A,
    index: number,
    old: ValueOf<A>,
    epochMs: number,
  ): Promise<boolean> {
    const what = `${KIND}.tryWaitUntilAsync`;
    const word = new Word(what, array, index, old);
    return this.#watchAsync(() => waitUntilAsync(this.#places, what, word, epochMs));
  }

  /**
   * Closes the semaphore in every thread: all present and later waiters get a DisposedError. But a waiter that finds
   * its word changed may return without an error. Never blocks, throws nothing.
   * @example semaphore.dispose();
   */
  dispose(): void {
    if (this.#places.closed) return;
    this.#places.close();
    this[closed]();
    const { membership, shared } = this.#reference;
    membership.letGo(shared);
  }

  #watch<T>(wait: () => T): T {
    try {
      return wait();
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  async #watchAsync<T>(wait: () => Promise<T>): Promise<T> {
    this.#waiting++;
    try {
      return await wait();
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      this.#waiting--;
      if (this.#places.closed) this.#detach();
    }
  }

  #failed(error: unknown): void {
    if (error instanceof DisposedError) this[closed]();
  }

  /** @internal Called when this thread knows that the semaphore has been disposed of. Releases the shared object. */
  [closed](): void {
    this.#places.closed = true;
    this.#detach();
  }

  /** @internal */
  get [leaves](): boolean {
    return true;
  }

  /** @internal Called when the thread ends or leaves the arena. The memory may become that of another object. */
  [threadEnded](): void {
    this.#places.closed = true;
    this.#at = CLOSED_OBJECT;
  }

  /** Releases the shared object when no promise of this thread waits there any more. */
  #detach(): void {
    if (this.#waiting > 0 || this.#at === CLOSED_OBJECT) return;
    this.#at = CLOSED_OBJECT;
    this.#reference.detach(this);
  }
}
