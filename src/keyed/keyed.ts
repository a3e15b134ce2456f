/**
 * Locks by key, which threads share: what KeyedMutex and KeyedSemaphore have in common.
 *
 *     table of the arena  ◄── the name of each key's object says which table it belongs to (src/look/key-reading.ts)
 *         ▲
 *     Table, in each thread: a Map from key to Entry, which is attached to the object of its key
 *                                                    (entry.ts: take, give; key-cache.ts: how long it stays attached)
 *
 * A key needs no set-up, and leaves nothing behind. Its object is a robust semaphore under the name of the key. The
 * first thread that wants the key makes the object, and the last thread that detaches takes it away: the rule of names
 * (core/arena/names.ts), with its models. So an unlock beside a first lock is a close beside an open there, and the
 * thread gets the old object while that lives, or a new one, but no two threads get two objects. A thread is attached
 * while it has permits of the key or waits for them. If it has used the key twice within a short time, it stays attached
 * for a while. So what a hot key costs is a look into a Map, and a pair of calls of the core. A key that is used once
 * leaves its object, without a name, to the next new key (key-cache.ts): to make an object costs more than all the rest.
 *
 * If a thread dies, its reaper gives back what it held, as of any semaphore, and detaches it. The next owner of the key
 * must learn of the death, and perhaps nobody has the key at hand then. So the core keeps the object until the next
 * owner has learnt of it (keepUntilTold in core/arena/objects.ts).
 *
 * `dispose` closes the table, and then every key that it finds. A thread that enters a key looks at the table after it
 * has attached. So either the disposer finds the key, or the thread finds the table closed. If the disposer dies, the
 * next thread that finds the table closed goes on in its place: who enters a key, or has to wait for one, looks.
 *
 * A call for several keys takes them one after the other, in one order for all calls: numbers before strings, and
 * ascending. So who waits for a key holds only lesser keys, and such calls cannot wait in a circle.
 */

import { CLOSED_OBJECT, K_ENDED, O_TIMEOUTS } from '../border/numbers.js';
import { timedOut } from '../common/errors.js';
import {
  checkKey,
  checkRun,
  inOrder,
  type Key,
  type KeyedStats,
  type KeyStats,
  keyText,
  keyToInspect,
  MOST_KEYS,
} from '../common/keys.js';
import { dispose } from '../common/symbols.js';
import { keysOf } from '../look/key-reading.js';
import { checkWaitOptions, type Signal, type WaitOptions } from '../objects/options.js';
import type { Reference } from '../objects/reference.js';
import { callHolding } from '../objects/running.js';
import { close, disposedError, forget, isOver, named, reference, SharedObject } from '../objects/shared-object.js';
import { isTimeout } from '../runtime/cancellation.js';
import {
  ArenaFullError,
  checkInteger,
  DisposedError,
  described,
  mayNotBlock,
  selfDeadlock,
  type TimeoutError,
} from '../runtime/errors.js';
import { countdown } from '../runtime/parking.js';
import { DONE } from '../runtime/promises.js';
import { askAllOf, countsOf } from './all-keys.js';
import type { Entry } from './entry.js';
import { giveAll, type HeldKeys, KeysGuard } from './held-keys.js';
import { disposeOf } from './key-cache.js';
import { type Table, tableOf } from './table.js';

/** The kinds of tables. */
export type KeyedKind = 'KeyedMutex' | 'KeyedSemaphore';

/** @internal */
export const entryOf = Symbol();
/** @internal */
export const checkPermits = Symbol();
/** @internal */
export const limitsOf = Symbol();
/** @internal */
export const take = Symbol();
/** @internal */
export const takeAsync = Symbol();
/** @internal */
export const tryTake = Symbol();
/** @internal */
export const running = Symbol();

/** @internal How long a request may take: options that have been checked. */
export interface Limits {
  readonly timeout: number;
  readonly signal?: Signal;
}

const FOR_EVER: Limits = { timeout: Infinity };

/** What a call of `runExclusive` holds. An object with a computed name would cost as much as all the rest of the call. */
class Holding implements Disposable {
  readonly #entry: Entry;
  readonly #permits: number;

  constructor(entry: Entry, permits: number) {
    this.#entry = entry;
    this.#permits = permits;
  }

  [dispose](): void {
    this.#entry.give(this.#permits);
  }
}

/**
 * Closes all keys of a closed table, unless another thread has come to the end of this. If there is no room for that, the
 * next thread that notices tries again.
 */
function endKeys(table: Table): void {
  const { names, membership, address } = table;
  const ended = (address + K_ENDED) >> 2;
  if (Atomics.load(names.words, ended) !== 0) return;
  const isGone = ({ address, generation }: { readonly address: number; readonly generation: number }): boolean =>
    disposeOf(membership, address, generation);
  let left = [...keysOf(names, table)].filter((key) => !isGone(key));
  if (left.length > 0) {
    membership.sweep();
    left = left.filter((key) => !isGone(key));
  }
  if (left.length === 0) Atomics.store(names.words, ended, 1);
}

export abstract class Keyed<K extends KeyedKind> extends SharedObject<K> {
  readonly #kind: K;
  readonly #core = this[reference].membership.core;
  readonly #permits = this.#core.initial(this[reference].address);
  readonly #table: Table;
  readonly #entries: Map<Key, Entry>;

  /**
   * A callback for a thread that has just got a key, if owners of the key have died. The library calls it before `hold`
   * returns. It gets the number of owners that have died and of whose death no owner has been told yet, and the key.
   * (`ownerDied` of a guard tells the same.) The data that the key guards may then be half-written. If the
   * callback throws, the key goes back, `hold` throws (`holdAsync` rejects with) the same error, and the next owner is
   * told again.
   */
  onOwnerDied: ((deaths: number, key: Key) => void) | undefined;

  /** @internal */
  protected constructor(kind: K, given: Reference) {
    super(kind, given);
    this.#kind = kind;
    const { membership, shared } = this[reference];
    this.#table = tableOf(membership, shared, this.#permits);
    this.#entries = this.#table.entries;
  }

  /** The number of keys that are held or waited for, in all threads. It looks at every object of the arena. */
  get size(): number {
    return this[isOver] ? 0 : countsOf(this.#table).length;
  }

  /**
   * The number of requests that wait, for all keys together: blocked threads and promises alike. It looks at every
   * object and every waiter of the arena.
   */
  get waiting(): number {
    return this[isOver] ? 0 : countsOf(this.#table).reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** @internal */
  protected [checkPermits](method: string, permits: number): void {
    if (permits !== 1) checkInteger(`${this.#kind}.${method}: permits`, permits, 1, this.#permits, ' (its permits)');
  }

  /** @internal Returns the entry of a key, to which this thread is attached then. */
  protected [entryOf](method: string, key: Key): Entry {
    const entry = this.#entries.get(key);
    if (!entry) return this.#enter(method, key);
    entry.isRecent = true;
    return entry;
  }

  #enter(method: string, key: Key): Entry {
    checkKey(this.#kind, method, key);
    const entry = this[isOver] ? undefined : this.#table.enter(key, this);
    if (!entry) throw this[disposedError]();
    return entry;
  }

  /** @internal Takes permits of a key if they are free and nobody waits. Returns undefined if it has not. */
  protected [tryTake](entry: Entry, permits: number): boolean | undefined {
    const isTaken = entry.take(permits);
    if (isTaken === undefined) throw this[disposedError]();
    return isTaken ? this.#tell(entry, permits) : undefined;
  }

  /**
   * @internal Checks the options of a request, before the entry of its key is looked up: code of the user may run here,
   * which may use so many keys that an entry goes.
   */
  protected [limitsOf](method: string, options: WaitOptions | undefined): Limits {
    const timeout = options === undefined ? Infinity : checkWaitOptions(`${this.#kind}.${method}`, options);
    if (this[isOver]) throw this[disposedError]();
    if (options === undefined) return FOR_EVER;
    const { signal } = options;
    return signal ? { timeout, signal } : { timeout };
  }

  /** @internal Takes permits of a key, and blocks the thread until then. Returns whether it has learnt of a death. */
  protected [take](method: string, entry: Entry, permits: number, { timeout }: Limits): boolean {
    return this[tryTake](entry, permits) ?? this.#wait(method, entry, permits, timeout);
  }

  /** @param whole the time-out of the whole call, if this is one of several waits. */
  #wait(method: string, entry: Entry, permits: number, timeout: number, whole = timeout): boolean {
    if (timeout === 0) throw this.#late(entry, permits, whole);
    this.#checkOpen();
    const { mayBlock } = this[reference].membership;
    if (!mayBlock) throw mayNotBlock(`${method}Async or tryHold`);
    // What this thread has or waits for by promises, it cannot give back while it blocks.
    if (entry.used + permits > this.#permits)
      throw selfDeadlock(
        `${this.#kind}.${method}`,
        `this thread or a promise of it has ${this.#keyOf(entry)} or waits for it`,
        'code that has the key must give it back first, or not hold it again',
        `${method}Async`,
      );
    entry.used += permits;
    try {
      entry.semaphore.acquire(permits, { timeout });
    } catch (error) {
      const refusal = this.#refused(entry, permits, error, whole);
      entry.left(permits);
      throw refusal;
    }
    return this.#tell(entry, permits);
  }

  /** Throws if another thread has disposed of the table, and perhaps has not come to this key. */
  #checkOpen(): void {
    if (this.#core.isDisposed(this.#table.address)) throw this[disposedError]();
  }

  /**
   * @internal As `take`, without blocking.
   * @param whole the time-out of the whole call, if this is one of several waits.
   */
  protected async [takeAsync](entry: Entry, permits: number, limits: Limits, whole = limits.timeout): Promise<boolean> {
    const isTaken = this[tryTake](entry, permits);
    if (isTaken !== undefined) return isTaken;
    if (limits.timeout === 0) throw this.#late(entry, permits, whole);
    this.#checkOpen();
    entry.used += permits;
    try {
      await entry.semaphore.acquireAsync(permits, limits === FOR_EVER ? undefined : limits);
    } catch (error) {
      const refusal = this.#refused(entry, permits, error, whole, limits.signal);
      entry.left(permits);
      throw refusal;
    }
    return this.#tell(entry, permits);
  }

  /** @internal Takes permits of a key, calls a function, and gives the permits back when its result is settled. */
  protected [running]<T>(
    key: Key,
    permits: number,
    run: () => T | PromiseLike<T>,
    options: WaitOptions | undefined,
  ): Promise<T> {
    const method = 'runExclusive';
    try {
      checkRun(this.#kind, key, run);
      const limits = this[limitsOf](method, options);
      this[checkPermits](method, permits);
      const entry = this[entryOf](method, key);
      const isTaken = this[tryTake](entry, permits) !== undefined;
      const taken = isTaken ? DONE : this[takeAsync](entry, permits, limits);
      return taken.then(() => callHolding(new Holding(entry, permits), run));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Returns the error of a request that the semaphore of its key has refused: an error of this object, not of the
   * key's.
   */
  #refused(entry: Entry, permits: number, error: unknown, whole: number, signal?: Signal): unknown {
    if (isTimeout(error, signal)) return this.#late(entry, permits, whole);
    const isReason = signal?.aborted && error === signal.reason;
    if (error instanceof DisposedError && !isReason)
      return this[reference].membership.isOver ? error : this[disposedError]();
    // What was refused because the arena is full counts nowhere as a time-out.
    if (isReason || !(error instanceof ArenaFullError)) this.#count(entry);
    return error;
  }

  /** Returns the error of a request whose time has passed: the time-out of the whole call. */
  #late(entry: Entry, permits: number, whole: number): TimeoutError {
    this.#count(entry);
    const which = this.#permits === 1 ? '' : `${permits} permit${permits === 1 ? '' : 's'} of `;
    // If the arena has had more waiters at a time, the error does not count the waiters: thousands may be thrown at once.
    const MANY = 1024;
    const waiting = this.#core.usedElements() > MANY ? '' : ` (${this.#core.waiting(entry.at)} waiting)`;
    return timedOut(`${which}${this.#keyOf(entry)}${waiting}`, whole);
  }

  /** Counts a request that ends without permits. */
  #count(entry: Entry): void {
    // The word is that of the table, which this thread has as long as it has the entry.
    if (entry.at !== CLOSED_OBJECT) Atomics.add(this.#table.names.words, (this.#table.address + O_TIMEOUTS) >> 2, 1);
  }

  #keyOf(entry: Entry): string {
    return `${keyText(entry.key)} of ${this[described]()}`;
  }

  /** This thread has just taken permits. Reports the deaths of owners, and returns whether there were any. */
  #tell(entry: Entry, permits: number): boolean {
    if (!entry.hasNews) return false;
    const deaths = this.#core.ownersDied(entry.at);
    if (deaths === 0) return false;
    entry.deaths = deaths;
    try {
      this.onOwnerDied?.(deaths, entry.key);
    } catch (error) {
      if (entry.at !== CLOSED_OBJECT) this.#core.restoreOwnerDeaths(entry.at, deaths);
      entry.give(permits);
      throw error;
    }
    return true;
  }

  /** Gives all keys back, because a later key could not be had. If no callback was told of deaths, the next owner is. */
  #giveAll(held: readonly Entry[], ofDead: readonly Key[]): void {
    for (const { at, key, deaths } of this.onOwnerDied === undefined ? held : [])
      if (at !== CLOSED_OBJECT && ofDead.includes(key)) this.#core.restoreOwnerDeaths(at, deaths);
    giveAll(held);
  }

  /**
   * Holds several keys, one permit of each, and blocks the thread until it has them all. It takes them one after the
   * other, in one order for all calls, so calls of `holdAll` and `holdAllAsync` do not deadlock with one another, in
   * whatever threads. A key that occurs twice is taken once. Do not call it while you hold another key of the same
   * object: a deadlock is possible then.
   *
   *     using held = accounts.holdAll([from, to], { timeout: 1000 });
   * @param keys strings and integers.
   * @param options a time-out for all keys together, and a signal.
   * @throws what `hold` throws, for the first key that it does not get. It holds nothing then.
   * @throws {SelfDeadlockError} if this thread or a promise of it has one of the keys already: it would wait for
   * itself.
   */
  holdAll(keys: readonly Key[], options?: WaitOptions): HeldKeys {
    const sorted = inOrder(this.#kind, 'holdAll', keys);
    const limits = this[limitsOf]('holdAll', options);
    const { timeout } = limits;
    const left = countdown(timeout);
    const held: Entry[] = [];
    const ofDead: Key[] = [];
    try {
      for (const key of sorted) {
        const entry = this[entryOf]('holdAll', key);
        if (this[tryTake](entry, 1) ?? this.#wait('holdAll', entry, 1, Math.max(left(), 0), timeout)) ofDead.push(key);
        held.push(entry);
      }
    } catch (error) {
      this.#giveAll(held, ofDead);
      throw error;
    }
    return new KeysGuard(held, ofDead);
  }

  /**
   * As `holdAll`, without blocking the thread: the promise is fulfilled when it has all keys. If another task of this
   * thread has a key, the promise waits for it. So do not call it while you hold one of these keys yourself: the call
   * waits for itself then. Give a time-out: its error names the key that was held.
   *
   *     using held = await accounts.holdAllAsync([from, to], { timeout: 1000 });
   * @param keys strings and integers.
   * @param options a time-out for all keys together, and a signal.
   * @returns a promise of a guard. It rejects as that of `holdAsync` does, and holds nothing then.
   */
  async holdAllAsync(keys: readonly Key[], options?: WaitOptions): Promise<HeldKeys> {
    const method = 'holdAllAsync';
    const sorted = inOrder(this.#kind, method, keys);
    const limits = this[limitsOf](method, options);
    const left = countdown(limits.timeout);
    const held: Entry[] = [];
    const ofDead: Key[] = [];
    try {
      for (const key of sorted) {
        const entry = this[entryOf](method, key);
        const rest = limits === FOR_EVER ? limits : { ...limits, timeout: Math.max(left(), 0) };
        if (await this[takeAsync](entry, 1, rest, limits.timeout)) ofDead.push(key);
        held.push(entry);
      }
    } catch (error) {
      this.#giveAll(held, ofDead);
      throw error;
    }
    return new KeysGuard(held, ofDead);
  }

  /**
   * Asks all requests that wait now, for any key and in every thread, to leave. They end with a CancelledError. Who
   * holds a key goes on holding it, and later requests are not touched. A request that gets its key before it has left
   * keeps the key. It looks at every object of the arena. Never blocks, throws nothing.
   * @param reason the `cause` of the errors in this thread. The errors in other threads have none.
   * @example accounts.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    if (this[isOver]) return;
    const table = this.#table;
    for (const key of keysOf(table.names, table)) {
      const semaphore = table.find(key.key)?.waits;
      if (semaphore) semaphore.cancelAll(reason);
      else askAllOf(table, key);
    }
  }

  /**
   * Describes one key, or all keys that are held or waited for in any thread, by a plain object. It looks at every
   * object and every waiter of the arena and is racy, so it is meant for diagnostics. Never blocks.
   * @throws {RangeError | TypeError} for a bad key.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(accounts.inspect().keys, accounts.inspect('Ann').waiting);
   */
  inspect(): KeyedStats;
  inspect(key: Key): KeyStats;
  inspect(...given: [key?: Key]): KeyedStats | KeyStats {
    if (this[isOver]) throw this[disposedError]();
    const key = keyToInspect(this.#kind, given);
    const counts = countsOf(this.#table);
    if (key !== undefined) return counts.find((counted) => counted.key === key) ?? { key, out: 0, waiting: 0 };
    return {
      size: counts.length,
      waiting: counts.reduce((sum, { waiting }) => sum + waiting, 0),
      timeouts: this.#core.timeouts(this.#table.address),
      keys: counts.slice(0, MOST_KEYS),
    };
  }

  /**
   * Returns, for example, `KeyedMutex("accounts", 2 keys)`. It looks at every object of the arena and is racy, so it is
   * meant for diagnostics. Never blocks, throws nothing.
   */
  override toString(): string {
    return `${this.#kind}(${this[named](', ')}${this[isOver] ? 'disposed' : `${countsOf(this.#table).length} keys`})`;
  }

  /** @internal */
  protected override [close](): void {
    this.#core.dispose(this.#table.address);
    endKeys(this.#table);
  }

  /** @internal */
  protected override [forget](): void {
    const table = this.#table;
    // When the thread ends, or has been declared dead, it must not touch the arena any more.
    if (this[reference].membership.isOver) table.cutOff();
    else {
      if (this.#core.isDisposed(table.address)) endKeys(table);
      table.end();
    }
  }
}
