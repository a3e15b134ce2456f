/**
 * Mutex: the public face of core/mutex.ts, where the algorithm, its bound and its proof are.
 *
 * This file checks arguments, turns answers into errors and promises, and keeps the reference to the shared object.
 * `lock` and `unlock` hand the rare cases to private methods, so that the common case stays small enough for the
 * engine to inline into its caller; there they compare with a literal 0, which is ADMITTED.
 */
import type { Arena } from './arena.js';
import { ended, type Shared } from './engine/attachment.js';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  CLOSED_OBJECT,
  type Core,
  ELDEST,
  QUEUED,
  REFUSED,
  TIMED_OUT,
} from './engine/core.js';
import { closed, type Doorbell, type Promises } from './engine/doorbell.js';
import { budget, type ParkingOptions } from './engine/policy.js';
import { find, type Handle, make, open, type Properties, Reference } from './engine/shared-object.js';
import { canWaitAsync, NO_WAIT_ASYNC } from './engine/wait-async.js';
import { ArenaFullError, badType, checkInteger, DisposedError, TimeoutError } from './errors.js';
import { HeldLock } from './held-lock.js';
import { checkPatience, type Patience, watch } from './patience.js';

/** What may be said of a new `Mutex`. */
export interface MutexOptions extends ParkingOptions {
  /**
   * How often a waiter may be overtaken at most, 0 (first come, first served) to 134,217,728. Default 262,144. A thread
   * keeps its turn for up to a 128th of it, while others wait; the shorter the turns, the more of the time goes into
   * changing them.
   */
  readonly bypass?: number;
  /** Where it lives. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** What to send to another thread, for `Mutex.from` there: plain and structured-cloneable. */
export type MutexHandle = Handle<'Mutex'>;

const KIND = 'Mutex';
const DISPOSED = 'the mutex has been disposed of';
const DEFAULT_BYPASS = 2 ** 18;
const MOST_BYPASS = 2 ** 27;
const DEFAULT_SPIN = 200;
/** What lockAsync answers when there was nothing to wait for. */
const DONE = Promise.resolve(false);

function properties(options: MutexOptions): Properties {
  if (typeof options !== 'object' || options === null)
    throw badType(`${KIND}: options`, 'an object', options);
  return {
    permits: 1,
    max: checkInteger(`${KIND}: bypass`, options.bypass ?? DEFAULT_BYPASS, 0, MOST_BYPASS),
    spin: budget(KIND, options, DEFAULT_SPIN, true),
    threshold: 0,
    robust: true,
    firstTicket: 0n,
  };
}

/**
 * A lock shared by threads, of which one at a time is the owner.
 *
 * Whoever comes by takes a free lock, though others wait, since that costs a fraction of waking them; but no waiter is
 * overtaken more than `bypass` times, by however many, and waiters get their turns in the order in which they came,
 * blocked threads and promises in one queue. The owner is a thread: it alone may unlock, and cannot lock again. When a
 * thread dies as the owner (`Arena.watch`), or ends, whoever locks next learns of it.
 *
 * The algorithm is this library's own; how waiters sleep in line is that of its semaphore.
 */
export class Mutex {
  // Numbers start as numbers, not as undefined: the engine then keeps these fields untagged.
  /** Address of the shared object; of the closed one, once this has let go. */
  #at = 0;
  /** What the last lock has learnt. */
  #ownerDied = false;
  readonly #core: Core;
  // The core's two functions as fields: one load less before the locked instruction, which waits for them.
  readonly #lock: Core['lock'];
  readonly #unlock: Core['unlock'];
  readonly #reference: Reference;
  readonly #shared: Shared;
  /** This thread's promises that wait to be the eldest. */
  readonly #promises: Promises;

  /**
   * Called in a thread that has locked, before it goes on, when an owner has died since somebody last learnt of that:
   * what the mutex guards may be half-written. If it throws, the mutex is unlocked, and `lock` throws (`lockAsync`
   * rejects with) what it threw.
   */
  onOwnerDied: ((deaths: number) => void) | undefined;

  /**
   * @throws {RangeError | TypeError} for an option out of its range.
   * @throws {ArenaFullError} if the arena has no room for another object.
   */
  constructor(options?: MutexOptions);
  constructor(options: MutexOptions | Reference = {}) {
    const reference = options instanceof Reference ? options : make(KIND, properties(options), options.arena);
    const shared = reference.hold(this);
    const { core } = reference.attachment;
    this.#shared = shared;
    this.#promises = shared.promises;
    this.#reference = reference;
    this.#core = core;
    this.#at = reference.address;
    this.#lock = core.lock;
    this.#unlock = core.unlock;
  }

  /**
   * Attaches to the mutex of a handle, in any thread. Never blocks.
   * @throws {TypeError} if it is no handle of a Mutex.
   * @throws {DisposedError} if the mutex has been disposed of.
   * @throws {ArenaFullError} if the arena has no room for another thread, or for another attachment of one.
   */
  static from(handle: MutexHandle): Mutex {
    return new Mutex(find(KIND, handle) as never);
  }

  /**
   * The mutex of this name in the arena: attaches to it, or creates it if there is none or it has been disposed of.
   * However many threads open a name at once, they get one mutex. Never blocks.
   * @param name 1 to 108 bytes of UTF-8.
   * @throws {RangeError | TypeError} for a bad name or option, if it exists with another `bypass`, or if the name is
   * that of something else.
   * @throws {ArenaFullError} if the arena has no room for another object, name or attachment.
   */
  static open(name: string, options: MutexOptions = {}): Mutex {
    return new Mutex(open(KIND, name, properties(options), options.arena) as never);
  }

  /**
   * What to send to another thread, for `Mutex.from` there.
   * @throws {DisposedError} if the mutex has been disposed of.
   */
  get handle(): MutexHandle {
    if (this.disposed) throw new DisposedError(DISPOSED);
    return this.#reference.handle(KIND);
  }

  /** How often a waiter may be overtaken at most. */
  get bypass(): number {
    return this.#core.maxOf(this.#reference.address);
  }

  /** Whether this thread is the owner. */
  get held(): boolean {
    return !this.disposed && this.#core.held(this.#shared.number) !== 0;
  }

  /** Whether any thread is the owner. Racy by nature: for diagnostics. */
  get locked(): boolean {
    return this.#core.ownerOf(this.#at) !== 0;
  }

  /** Those who wait now, blocked threads and promises alike. Racy by nature: for diagnostics. */
  get waiting(): number {
    return this.#core.waitersOf(this.#at);
  }

  /** Whether it has been disposed of, as far as this object has noticed. */
  get disposed(): boolean {
    return this.#at === CLOSED_OBJECT;
  }

  /**
   * Makes this thread the owner, blocking it until then.
   * @param patience how long it may take; for ever by default.
   * @throws {TimeoutError} when the time-out comes first: the thread is not the owner, and has left the queue.
   * @throws the reason of a signal that is aborted already.
   * @throws {Error} if this thread is the owner already: it would wait for itself.
   * @throws {TypeError} on a thread that may not block, such as a browser's main thread, if it would have to.
   * @throws {DisposedError} if the mutex has been or is being disposed of.
   */
  lock(patience?: Patience): void {
    if (patience !== undefined) this.#lockFor(checkPatience('Mutex.lock', patience));
    else if (this.#lock(this.#at) !== 0) this.#wait(Infinity);
  }

  #lockFor(timeout: number): void {
    if (this.#lock(this.#at) === ADMITTED) return;
    if (timeout > 0) this.#wait(timeout);
    else if (this.#try() !== ADMITTED) throw timedOut(timeout);
  }

  #wait(timeout: number): void {
    const core = this.#core;
    const at = this.#at;
    const { number } = this.#shared;
    const { mayBlock } = this.#reference.attachment;
    let answer = mayBlock ? core.queue(at, number) : core.tryLock(at);
    if (!mayBlock && answer === REFUSED) throw new TypeError(MAY_NOT_BLOCK);
    const begun = timeout === Infinity ? 0 : performance.now();
    const left = (): number => (timeout === Infinity ? Infinity : timeout - (performance.now() - begun));
    if (answer === QUEUED) {
      const now = Date.now() | 0;
      let rest = left();
      do {
        answer = rest === Infinity ? core.park(now, number) : core.parkFor(nanoseconds(rest), now, number);
        rest = left();
      } while (answer === TIMED_OUT && rest > 0);
      if (answer === TIMED_OUT) answer = core.giveUp(at, number);
      if (answer === REFUSED) throw timedOut(timeout);
      // The arena has no element to leave behind, so there is nothing for it but to wait.
      if (answer === ANSWER_FULL) answer = core.park(now, number);
      if (answer === ADMITTED) answer = ELDEST;
    }
    if (answer === ELDEST) {
      let rest = left();
      do {
        answer = core.compete(at, rest === Infinity ? -1n : nanoseconds(Math.max(rest, 0)), number);
        rest = left();
      } while (answer === TIMED_OUT && rest > 0);
      if (answer === TIMED_OUT) core.forgo(at, number);
      // Promises of this very thread are not rung for by who makes one of them the eldest.
      if (this.#promises.first !== 0) this.#promises.settle();
      if (answer === TIMED_OUT) throw timedOut(timeout);
    }
    if (answer === ANSWER_HELD) throw new Error(OWNED);
    if (answer !== ADMITTED) throw answer === ANSWER_CLOSED ? this.#closed() : noRoom();
    this.#locked();
  }

  /** Whether owners have died since somebody last learnt of it. The thread has just locked, not by the fast way. */
  #locked(): boolean {
    const deaths = this.#core.ownersDied(this.#at);
    this.#ownerDied = deaths > 0;
    if (deaths === 0) return false;
    try {
      this.onOwnerDied?.(deaths);
    } catch (error) {
      this.unlock();
      throw error;
    }
    return true;
  }

  /**
   * Makes this thread the owner if the lock is free and may be had: the bound of those who wait holds for this too.
   * Never blocks.
   * @returns whether it has become the owner. Not, if it is the owner already.
   * @throws {DisposedError} if the mutex has been disposed of.
   */
  tryLock(): boolean {
    return this.#try() === ADMITTED;
  }

  #try(): number {
    const answer = this.#core.tryLock(this.#at);
    if (answer === ADMITTED) this.#locked();
    else if (answer === ANSWER_CLOSED) throw this.#closed();
    else if (answer === ANSWER_FULL) throw noRoom();
    return answer;
  }

  /**
   * Gives the lock back, and wakes whoever must be woken. Never blocks. Once this object has noticed that the mutex has
   * been disposed of, it does nothing.
   * @throws {Error} if this thread is not the owner.
   */
  unlock(): void {
    const answer = this.#unlock(this.#at);
    if (answer !== 0) this.#finishUnlock(answer);
  }

  #finishUnlock(answer: number): void {
    if (answer !== ANSWER_NOT_HELD) this.#core.wakeEldest(this.#at);
    else if (!this.disposed) throw new Error(this.#notHeld());
  }

  #notHeld(): string {
    const owner = this.#core.ownerOf(this.#at);
    const who = owner === 0 ? 'nobody is' : `thread ${owner} of the arena is`;
    return `Mutex.unlock: this thread is not the owner, ${who}. A mutex is unlocked by the thread that locked it`;
  }

  /**
   * Makes this thread the owner without blocking it: the promise is fulfilled then. The process stays alive until
   * then. In line with blocked threads. Tasks of one thread exclude one another like threads, but must not block
   * the thread meanwhile: `lock` throws while a promise of the same thread has the lock.
   * @returns a promise; it rejects with TimeoutError or the signal's reason when that comes first, with RangeError
   * or TypeError for a bad time-out, with DisposedError if the mutex has been or is being disposed of, and with
   * ArenaFullError if the arena has no room for another waiter.
   */
  lockAsync(patience?: Patience): Promise<void> {
    return this.#lockAsync(patience) as Promise<unknown> as Promise<void>;
  }

  #lockAsync(patience: Patience | undefined): Promise<boolean> {
    try {
      const timeout = patience === undefined ? Infinity : checkPatience('Mutex.lockAsync', patience);
      if (this.#lock(this.#at) === ADMITTED) return DONE;
      if (!canWaitAsync) throw new Error(NO_WAIT_ASYNC);
      const answer = this.#core.tryLock(this.#at);
      if (answer === ADMITTED) return Promise.resolve(this.#locked());
      if (answer === ANSWER_CLOSED) throw this.#closed();
      if (answer === ANSWER_FULL) throw noRoom();
      if (timeout === 0) throw timedOut(timeout);
      return this.#waitAsync(timeout, patience?.signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #waitAsync(timeout: number, signal: AbortSignal | undefined): Promise<boolean> {
    const begun = timeout === Infinity ? 0 : performance.now();
    const impatient = timeout !== Infinity || signal !== undefined;
    const promises = this.#promises;
    const { number } = this.#shared;
    const answer = this.#core.arrive(this.#at, 1, impatient ? 0 : promises.last, number);
    if (answer > 0) {
      try {
        await (impatient
          ? promises.waitAlone(this, answer, (giveUp) =>
              watch(timeout, signal, giveUp, () => timedOut(timeout)),
            )
          : promises.wait(this, answer));
      } catch (error) {
        throw error instanceof DisposedError ? this.#closed() : error;
      }
    } else if (answer === ANSWER_CLOSED) throw this.#closed();
    else if (answer !== ADMITTED) throw noRoom();
    const left = timeout === Infinity ? Infinity : Math.max(timeout - (performance.now() - begun), 0);
    await new Promise<void>((resolve) => {
      let unwatch = (): void => {};
      const { doorbell } = this.#reference.attachment;
      const eldest = new Eldest(this.#core, doorbell, this.#at, this.#shared, this, (value) => {
        unwatch();
        resolve(value);
      });
      if (!eldest.try() && impatient) {
        if (signal?.aborted) eldest.giveUp(signal.reason);
        else
          unwatch = watch(
            left,
            signal,
            (reason) => eldest.giveUp(reason),
            () => timedOut(timeout),
          );
      }
    });
    return this.#locked();
  }

  /** As `lock`, with a guard that unlocks: `using held = mutex.hold()`. */
  hold(patience?: Patience): HeldLock {
    this.#ownerDied = false;
    this.lock(patience);
    return new HeldLock(this, this.#ownerDied);
  }

  /** As `lockAsync`, with a guard: `await using held = await mutex.holdAsync()`. */
  async holdAsync(patience?: Patience): Promise<HeldLock> {
    const ownerDied = await this.#lockAsync(patience);
    return new HeldLock(this, ownerDied);
  }

  /**
   * Calls a function while this thread is the owner, by `lockAsync`, and unlocks when what it returns is settled. Never
   * blocks the thread.
   * @returns what the function returns, as a promise; it rejects with what it throws, or what `lockAsync` rejects with.
   */
  async runExclusive<T>(run: () => T | PromiseLike<T>, patience?: Patience): Promise<T> {
    if (typeof run !== 'function') throw badType('Mutex.runExclusive: run', 'a function', run);
    const held = await this.holdAsync(patience);
    try {
      return await run();
    } finally {
      held.unlock();
    }
  }

  /**
   * Closes the mutex in every thread: whoever waits, now or later, gets a DisposedError. The owner may unlock, to no
   * effect. Its memory is used again once every thread has let go of it. Never blocks, throws nothing.
   */
  dispose(): void {
    if (this.disposed) return;
    this.#core.mutexDispose(this.#at);
    this.#letGo();
  }

  /** @internal The thread ends. */
  [ended](): void {
    this.#at = CLOSED_OBJECT;
  }

  #letGo(): void {
    if (this.disposed) return;
    this.#at = CLOSED_OBJECT;
    this.#promises.settle();
    this.#reference.letGo(this);
  }

  /** @internal A promise of this object has been told. */
  [closed](): void {
    this.#letGo();
  }

  #closed(): DisposedError {
    this.#letGo();
    return new DisposedError(DISPOSED);
  }
}

/** A promise of this thread that is the eldest waiter of a mutex, until it has the lock. */
class Eldest {
  readonly #core: Core;
  readonly #doorbell: Doorbell;
  readonly #at: number;
  readonly #shared: Shared;
  readonly #mutex: { [closed](): void };
  #resolve: ((value?: Promise<never>) => void) | undefined;
  #waits = false;

  constructor(
    core: Core,
    doorbell: Doorbell,
    at: number,
    shared: Shared,
    mutex: { [closed](): void },
    resolve: (value?: Promise<never>) => void,
  ) {
    this.#core = core;
    this.#doorbell = doorbell;
    this.#at = at;
    this.#shared = shared;
    this.#mutex = mutex;
    this.#resolve = resolve;
  }

  /** Whether it waits no more. */
  try(): boolean {
    const answer = this.#core.reserveLock(this.#at, this.#shared.number);
    if (answer === ADMITTED) this.#end();
    else if (answer === ANSWER_CLOSED) {
      this.#end(Promise.reject(new DisposedError(DISPOSED)));
      this.#mutex[closed]();
    } else if (!this.#waits) {
      this.#waits = true;
      this.#doorbell.waitFor(this);
    }
    return answer !== REFUSED;
  }

  /** @internal The doorbell has rung. */
  rest(): void {
    this.try();
  }

  giveUp(reason: unknown): void {
    if (this.#resolve === undefined) return;
    this.#core.forgo(this.#at, this.#shared.number);
    this.#end(Promise.reject(reason));
  }

  #end(value?: Promise<never>): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    if (this.#waits) this.#doorbell.done(this);
    // Who is next may be a promise of this very thread, for which nobody rings.
    if (this.#shared.promises.first !== 0) this.#shared.promises.settle();
    resolve?.(value);
  }
}

const MAY_NOT_BLOCK =
  'this thread may not block (a browser forbids it on the main thread): use lockAsync, holdAsync or tryLock';
const OWNED =
  'Mutex.lock: this thread is the owner already, and would wait for itself; if a promise of it has the lock, use lockAsync';

function nanoseconds(milliseconds: number): bigint {
  return BigInt(Math.ceil(milliseconds * 1e6));
}

function timedOut(timeout: number): TimeoutError {
  return new TimeoutError(`the lock was not to be had within ${timeout} ms`);
}

function noRoom(): ArenaFullError {
  return new ArenaFullError('the arena has no room for another waiter: make it with more `waiters`');
}
