/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Locks by key, for the tasks of one thread: what KeyedMutex and KeyedSemaphore share.
 *
 *     key ──► Entry    out     how many of its permits are out, 0 to `permits`
 *                      queue    those who wait for it, in the order of their calls
 *
 * Invariant: the first of a queue asks for more permits than are free. So nobody waits for a key of which no permit is
 * out. A key is in use as long as permits of it are out. A key is often wanted again soon, and to delete it and enter it
 * again takes as long as all the rest. So the entries of the last 256 keys are kept, in use or not. Whoever makes a key
 * free that is not kept keeps it, in the place of the oldest, which is deleted if it is not in use. So nothing is left of
 * any other key, however many keys there have been.
 *
 * A call for several keys takes them one after the other, in one order for all calls: numbers before strings, and
 * ascending. So who waits for a key holds only lesser keys, and such calls cannot wait in a circle.
 */
import { bad, badType, CancelledError, checkInteger } from '../common-errors.js';
import type { WaitOptions } from '../options.js';
import { end, giveBack, Held, type Source } from './guards.js';
import { type Limits, limitsOf } from './limits.js';
import { Queue } from './queue.js';
import { checkOpen, close, DONE, state, TaskObject } from './task-object.js';

/** A key: a string, or an integer from -9,007,199,254,740,991 to 9,007,199,254,740,991. `1` and `'1'` are two keys. */
export type Key = string | number;

/** What `inspect` tells about one key. */
export interface KeyStats {
  /** The key. */
  readonly key: Key;
  /** The number of permits of the key that are out. Of a mutex 1 if it is locked, else 0. */
  readonly out: number;
  /** The number of promises that wait for the key. */
  readonly waiting: number;
}

/** What `inspect` tells about all keys. */
export interface KeyedStats {
  /** The number of keys that are held or waited for. */
  readonly size: number;
  /** The number of promises that wait, for all keys together. */
  readonly waiting: number;
  /** The number of waits that ended by a time-out, a signal or `cancelAll`. */
  readonly timeouts: number;
  /** The keys that are held or waited for: the first 100. */
  readonly keys: readonly KeyStats[];
}

/** The most entries that are kept. */
const MOST_KEPT = 256;

/** @internal A key that is held or waited for, or was so lately. */
export interface Entry {
  readonly key: Key;
  /** How many of its permits are out. */
  out: number;
  /** Those who wait for it. Undefined if nobody has waited for it yet. */
  queue: Queue | undefined;
  /** Whether it is in the ring of the entries that are kept. */
  isKept: boolean;
}

/** @internal */
export const entryOf = Symbol();
/** @internal */
export const take = Symbol();
/** @internal */
export const acquire = Symbol();
/** @internal */
export const give = Symbol();

export abstract class Keyed extends TaskObject {
  readonly #kind: string;
  readonly #permits: number;
  readonly #entries = new Map<Key, Entry>();
  /** How many entries are in use. */
  #used = 0;
  /** A ring of entries that are kept. The next one that is kept takes the place of the oldest. */
  #kept: Entry[] = [];
  #oldest = 0;
  #timeouts = 0;

  /** @internal */
  protected constructor(kind: string, permits: number) {
    super(kind);
    this.#kind = kind;
    this.#permits = permits;
  }

  /** The number of keys that are held or waited for. */
  get size(): number {
    return this.#used;
  }

  /** The number of promises that wait, for all keys together. It looks at every key. */
  get waiting(): number {
    let waiting = 0;
    for (const { queue } of this.#entries.values()) if (queue) waiting += queue.count;
    return waiting;
  }

  /**
   * @internal Checks the arguments of a request. Returns the entry of the key: the caller must then take permits of
   * it.
   */
  protected [entryOf](method: string, key: Key, permits: number): Entry {
    this.#check(method, key);
    if (permits !== 1) checkInteger(`${this.#kind}.${method}: permits`, permits, 1, this.#permits);
    this[checkOpen]();
    return this.#entryOf(key);
  }

  #check(method: string, key: Key): void {
    if (typeof key === 'string' || Number.isSafeInteger(key)) return;
    throw bad('number', `${this.#kind}.${method}: key`, 'a string or a safe integer', key);
  }

  #entryOf(key: Key): Entry {
    let entry = this.#entries.get(key);
    if (!entry) {
      // -0 and 0 are one key.
      entry = { key: key === 0 ? 0 : key, out: 0, queue: undefined, isKept: false };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  /** @internal Takes permits of a key if they are free and nobody waits for it. */
  protected [take](entry: Entry, permits: number): boolean {
    const isFree = entry.out + permits <= this.#permits && !entry.queue?.first;
    if (isFree) {
      if (entry.out === 0) this.#used++;
      entry.out += permits;
    }
    return isFree;
  }

  /** @internal Takes permits of a key: the promise is fulfilled when it is its turn. */
  protected [acquire](entry: Entry, permits: number, limits: Limits | undefined): Promise<void> {
    if (this[take](entry, permits)) return DONE;
    entry.queue ??= this.#queueOf(entry);
    if (limits?.timeout === 0) throw entry.queue.timedOut(permits, 0);
    return entry.queue.wait(permits, limits);
  }

  #queueOf(entry: Entry): Queue {
    return new Queue(
      (_, count) => {
        this.#timeouts += count;
        this[give](entry, 0);
      },
      () => `the key ${JSON.stringify(entry.key)} (${entry.queue?.count} waiting)`,
    );
  }

  /** @internal Permits of a key are free again. */
  protected [give](entry: Entry, permits: number): void {
    entry.out -= permits;
    const { queue } = entry;
    if (queue) {
      for (let { first } = queue; first && entry.out + first.width <= this.#permits; first = queue.first) {
        entry.out += first.width;
        queue.settle();
      }
    }
    // Nobody waits, since the first of the queue would have got permits.
    if (entry.out > 0 || this.disposed) return;
    this.#used--;
    if (!entry.isKept) this.#keep(entry);
  }

  #keep(entry: Entry): void {
    const oldest = this.#kept[this.#oldest];
    this.#kept[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % MOST_KEPT;
    entry.isKept = true;
    if (!oldest) return;
    oldest.isKept = false;
    if (oldest.out === 0) this.#entries.delete(oldest.key);
  }

  /** @internal */
  [giveBack](entry: Entry): void {
    this[give](entry, 1);
  }

  /**
   * Holds several keys, one permit of each: the promise is fulfilled when it has them all. It takes them one after the
   * other, in one order for all calls, so calls of `holdAllAsync` do not deadlock with one another. A key that occurs
   * twice is taken once. Do not call it while you hold a key of the same object: a deadlock is possible then, and if it
   * is one of these keys, the call waits for itself. Give a time-out: its error names the key that was held. Never
   * blocks.
   *
   *     using held = await accounts.holdAllAsync([from, to], { timeout: 1000 });
   * @param keys strings and integers.
   * @param options a time-out for all keys together, and a signal.
   * @returns a promise of a guard. It rejects as that of `holdAsync` does, and holds nothing then.
   */
  async holdAllAsync(keys: readonly Key[], options?: WaitOptions): Promise<HeldKeys> {
    const what = `${this.#kind}.holdAllAsync`;
    if (!Array.isArray(keys)) throw badType(`${what}: keys`, 'an array', keys);
    const limits = limitsOf(what, options);
    const sorted = [...new Set(keys)];
    for (const key of sorted) this.#check('holdAllAsync', key);
    sorted.sort((a, b) => (typeof a === typeof b ? (a < b ? -1 : 1) : typeof a === 'number' ? -1 : 1));
    const held: Entry[] = [];
    try {
      for (const key of sorted) {
        const entry = this[entryOf]('holdAllAsync', key, 1);
        await this[acquire](entry, 1, limits);
        held.push(entry);
      }
    } catch (error) {
      for (const entry of held) this[give](entry, 1);
      throw error;
    }
    return new KeysGuard(this, held);
  }

  /**
   * Rejects all requests that wait now, for any key, with a CancelledError. Who holds a key goes on holding it, and
   * later requests are not touched. Never blocks, throws nothing.
   * @param reason the `cause` of the errors.
   * @example accounts.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    for (const { queue } of [...this.#entries.values()]) queue?.cancelAll(new CancelledError(reason));
  }

  /**
   * Describes one key, or all keys that are held or waited for, by a plain object. Never blocks.
   * @throws {RangeError | TypeError} for a bad key.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(accounts.inspect().keys, accounts.inspect('Ann').waiting);
   */
  inspect(): KeyedStats;
  inspect(key: Key): KeyStats;
  inspect(key?: Key): KeyedStats | KeyStats {
    this[checkOpen]();
    const MOST_LISTED = 100;
    if (key !== undefined) {
      this.#check('inspect', key);
      return this.#inspect(key);
    }
    const keys: KeyStats[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.out > 0 && keys.length < MOST_LISTED) keys.push(this.#inspect(entry.key));
    }
    return { size: this.size, waiting: this.waiting, timeouts: this.#timeouts, keys };
  }

  #inspect(key: Key): KeyStats {
    const { out = 0, queue } = this.#entries.get(key) ?? {};
    return { key, out, waiting: queue?.count ?? 0 };
  }

  /** @internal */
  protected get [state](): string {
    return `${this.size} keys`;
  }

  /** @internal */
  protected [close](error: Error): void {
    for (const { queue } of this.#entries.values()) queue?.close(error);
    this.#entries.clear();
    this.#kept = [];
    this.#used = 0;
  }
}

/**
 * Several keys that `holdAllAsync` holds. They go back at the end of the `using` or `await using` scope, or by
 * `unlock`.
 *
 * @example
 * ```ts
 * import { KeyedMutex } from 'taketurns/tasks';
 *
 * const accounts = new KeyedMutex();
 * {
 *   using held = await accounts.holdAllAsync(['Ann', 'Bob']);
 *   console.log(held.keys);
 * }
 * ```
 */
export class HeldKeys extends Held {
  /** The keys, in the order in which they were taken. */
  readonly keys: readonly Key[];

  /** @internal */
  protected constructor(table: Source<Entry>, held: readonly Entry[]) {
    const source = {
      [giveBack](all: readonly Entry[]) {
        for (const entry of all) table[giveBack](entry);
      },
    };
    super(source, held);
    this.keys = held.map(({ key }) => key);
  }

  /**
   * Gives all keys back. Does nothing the second time. Never blocks, throws nothing.
   * @example held.unlock();
   */
  unlock(): void {
    this[end]();
  }

  /** `HeldKeys`. */
  get [Symbol.toStringTag](): string {
    return 'HeldKeys';
  }
}

const KeysGuard = HeldKeys as unknown as new (table: Source<Entry>, held: readonly Entry[]) => HeldKeys;
