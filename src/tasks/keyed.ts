/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Locks by key, for the tasks of one thread: what KeyedMutex and KeyedSemaphore share.
 *
 *     key ──► Entry    the permits of the key, and those who wait for them (permits.ts)
 *
 * A key is in use as long as permits of it are out. So nobody waits for a key that is not in use. The last new key has an
 * entry outside the Map, because to enter a key in a Map and to delete it takes as long as all the rest. If this key is
 * not in use any more when the next new key comes, the next key gets the entry. If it is in use, it goes into the Map.
 * A key of the Map is often wanted again soon. So the last 256 keys of the Map are kept, in use or not. Whoever makes a
 * key free that is not kept keeps it, in the place of the oldest, which is deleted if it is not in use. So nothing is left
 * of any other key, however many keys there have been.
 *
 * A call for several keys takes them one after the other, in one order for all calls: numbers before strings, and
 * ascending. So who waits for a key holds only lesser keys, and such calls cannot wait in a circle.
 */

import { checkInteger } from '../common/errors.js';
import { end } from '../common/guard.js';
import {
  checkKey,
  inOrder,
  type Key,
  type KeyedStats,
  type KeyStats,
  keyText,
  keyToInspect,
  MOST_KEYS,
} from '../common/keys.js';
import type { WaitOptions } from '../common/waits.js';
import { giveBack, Held, type Source } from './guards.js';
import { Permits } from './permits.js';
import { begin, checkOpen, close, count, isOver, state, TaskObject } from './task-object.js';

/** The most entries that are kept. */
const MOST_KEPT = 256;

/** @internal A key that is held or waited for, or was so lately. */
export class Entry extends Permits implements Source<number> {
  key: Key = 0;
  readonly #table: Keyed;
  /** Whether it is in the ring of the entries that are kept. */
  isKept = false;

  constructor(table: Keyed, kind: string, permits: number) {
    super(permits, (width) => {
      const which = permits === 1 ? '' : `${width} permit${width === 1 ? '' : 's'} of `;
      return `${which}${keyText(this.key)} of the ${kind} (${this.count} waiting)`;
    });
    this.#table = table;
  }

  /** @internal Permits of the key are free again. */
  [giveBack](permits: number): void {
    this.give(permits);
    this.#table[free](this);
  }
}

/** @internal */
export const entryOf = Symbol();
/** @internal */
export const free = Symbol();

export abstract class Keyed extends TaskObject {
  readonly #kind: string;
  readonly #permits: number;
  readonly #entries = new Map<Key, Entry>();
  /** The entry of the last new key. It is not in the Map. */
  #last: Entry | undefined;
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
  override get waiting(): number {
    return this[count];
  }

  /** @internal */
  protected get [count](): number {
    let waiting = 0;
    for (const entry of this.#all()) waiting += entry.count;
    return waiting;
  }

  /**
   * @internal Checks the arguments of a request. Returns the entry of the key. If nobody had permits of the key, the
   * caller must now take some.
   */
  protected [entryOf](method: string, key: Key, permits: number): Entry {
    checkKey(this.#kind, method, key);
    if (permits !== 1) checkInteger(`${this.#kind}.${method}: permits`, permits, 1, this.#permits, ' (its permits)');
    this[checkOpen]();
    return this.#entryOf(key);
  }

  #entryOf(key: Key): Entry {
    const entry = this.#find(key) ?? this.#enter(key);
    if (entry.balance === this.#permits) this.#used++;
    return entry;
  }

  #find(key: Key): Entry | undefined {
    return this.#last?.key === key ? this.#last : this.#entries.get(key);
  }

  #enter(key: Key): Entry {
    let last = this.#last;
    if (last && last.balance < this.#permits) {
      this.#entries.set(last.key, last);
      last = undefined;
    }
    last ??= new Entry(this, this.#kind, this.#permits);
    // -0 and 0 are one key.
    last.key = key === 0 ? 0 : key;
    this.#last = last;
    return last;
  }

  #all(): Entry[] {
    return [...this.#entries.values(), ...(this.#last ? [this.#last] : [])];
  }

  /** @internal Permits of a key have been given back. */
  [free](entry: Entry): void {
    if (entry.balance < this.#permits || this[isOver]) return;
    this.#used--;
    if (!entry.isKept && entry !== this.#last) this.#keep(entry);
  }

  #keep(entry: Entry): void {
    const oldest = this.#kept[this.#oldest];
    this.#kept[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % MOST_KEPT;
    entry.isKept = true;
    if (!oldest) return;
    oldest.isKept = false;
    if (oldest.balance < this.#permits) return;
    this.#timeouts += oldest.timeouts;
    this.#entries.delete(oldest.key);
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
    const sorted = inOrder(this.#kind, 'holdAllAsync', keys);
    const limits = this[begin]('holdAllAsync', options);
    const held: Entry[] = [];
    try {
      for (const key of sorted) {
        this[checkOpen]();
        const entry = this.#entryOf(key);
        await entry.acquire(1, limits);
        held.push(entry);
      }
    } catch (error) {
      for (const entry of held) entry[giveBack](1);
      throw error;
    }
    return new KeysGuard(held);
  }

  /**
   * Rejects all requests that wait now, for any key, with a CancelledError. Who holds a key goes on holding it, and
   * later requests are not touched. Never blocks, throws nothing.
   * @param reason the `cause` of the errors.
   * @example accounts.cancelAll(new Error('the server shuts down'));
   */
  cancelAll(reason?: unknown): void {
    for (const entry of this.#all()) entry.cancelAll(reason);
  }

  /**
   * Describes one key, or all keys that are held or waited for, by a plain object. Never blocks.
   * @throws {RangeError | TypeError} for a bad key.
   * @throws {DisposedError} if it has been disposed of.
   * @example console.log(accounts.inspect().keys, accounts.inspect('Ann').waiting);
   */
  inspect(): KeyedStats;
  inspect(key: Key): KeyStats;
  inspect(...given: [key?: Key]): KeyedStats | KeyStats {
    this[checkOpen]();
    const key = keyToInspect(this.#kind, given);
    if (key !== undefined) return this.#inspect(key);
    let timeouts = this.#timeouts;
    const keys: KeyStats[] = [];
    for (const entry of this.#all()) {
      timeouts += entry.timeouts;
      if (entry.balance < this.#permits && keys.length < MOST_KEYS) keys.push(this.#inspect(entry.key));
    }
    return { size: this.#used, waiting: this[count], timeouts, keys };
  }

  #inspect(key: Key): KeyStats {
    const { balance = this.#permits, width = 0, count: waiting = 0 } = this.#find(key) ?? {};
    return { key, out: this.#permits - balance - width, waiting };
  }

  /** @internal */
  protected get [state](): string {
    return `${this.#used} keys`;
  }

  /** @internal */
  protected [close](error: Error): void {
    for (const entry of this.#all()) entry.close(error);
    this.#entries.clear();
    this.#last = undefined;
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
 * @since 0.3.0
 */
export class HeldKeys extends Held {
  readonly #keys: readonly Key[];

  /** @internal */
  protected constructor(held: readonly Entry[]) {
    const source = {
      [giveBack]() {
        for (const entry of held) entry[giveBack](1);
      },
    };
    super(source, 0);
    this.#keys = held.map(({ key }) => key);
  }

  /** The keys, in the order in which they were taken. */
  get keys(): readonly Key[] {
    return this.#keys;
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

const KeysGuard = HeldKeys as unknown as new (held: readonly Entry[]) => HeldKeys;
