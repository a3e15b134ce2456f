/**
 * The keys of one table that this thread has at hand. All library objects of the table in this thread share them.
 *
 *     entries    a Map: the keys in use, and those that stay at hand for a while (the ring of key-cache.ts)
 *     #latest    the key that came last, until it is free again or the next one comes: most keys are used once, and so
 *                never enter the Map
 *     spare      the entry of a key that has let go, for the next key
 *     unnamed    the object of a key that has let go, for the next key
 *
 * Without `#latest`, `spare` and the table of key-cache.ts that says which keys were used lately, a key that is used
 * once takes twice the time (docs/internals/what-was-tried.md).
 */
import { ANSWER_FULL, GOES, O_UNREPORTED_DEATHS } from '../border/numbers.js';
import type { Key } from '../common/keys.js';
import { type Found, keysOf } from '../look/key-reading.js';
import type { Parent } from '../objects/name-draft.js';
import { common } from '../runtime/common.js';
import { arenaFull, noRoom } from '../runtime/errors.js';
import type { Membership, Shared } from '../runtime/membership.js';
import { Entry, type Home } from './entry.js';
import { KeyCache } from './key-cache.js';
import { isFull, KeyNames } from './key-names.js';

/** What a thread has for all tables of an arena. */
interface OfThread {
  readonly names: KeyNames;
  readonly cache: KeyCache;
  /**
   * The library objects of the tables that have keys at hand. So a table is not collected, and does not go, while a key
   * of it is.
   */
  readonly owners: Map<Table, object>;
}

// Copies of this package in one thread share these, as they share the memberships.
const { threads, tables } = common('keyed', () => ({
  threads: new WeakMap<Membership, OfThread>(),
  tables: new WeakMap<Shared, Table>(),
}));

function ofThread(membership: Membership): OfThread {
  let known = threads.get(membership);
  if (!known) {
    const names = new KeyNames(membership);
    const owners = new Map<Table, object>();
    known = { names, cache: new KeyCache(membership, names, owners), owners };
    threads.set(membership, known);
  }
  return known;
}

/** Returns the table of a shared object, as this thread has it. */
export function tableOf(membership: Membership, shared: Shared, permits: number): Table {
  const known = tables.get(shared);
  if (known) return known;
  const table = new Table(membership, shared.address, permits);
  tables.set(shared, table);
  // The next owner of a key must learn of a death, and a new table of this name would not know of it.
  shared.stays = () => table.hasNews();
  return table;
}

export class Table implements Home, Parent {
  readonly membership: Membership;
  readonly address: number;
  readonly generation: number;
  readonly names: KeyNames;
  readonly #cache: KeyCache;
  /** The keys at hand, but for one. */
  readonly entries = new Map<Key, Entry>();
  /**
   * The entry of the latest key, as long as it is in use and was not used lately. It is not in the Map, because
   * to enter a key in a Map and to delete it takes a quarter of the time that a new key takes.
   */
  #latest: Entry | undefined;
  #isOwned = false;
  unnamed = 0;
  spare: Entry | undefined;
  /** Of each key. */
  readonly #permits: number;
  readonly #owners: Map<Table, object>;
  /** A key of which an owner has died. */
  #news: Found | undefined;

  constructor(membership: Membership, address: number, permits: number) {
    const { names, cache, owners } = ofThread(membership);
    this.membership = membership;
    this.address = address;
    this.generation = membership.core.generation(address);
    this.names = names;
    this.#cache = cache;
    this.#permits = permits;
    this.#owners = owners;
  }

  /** Returns the entry of a key that is at hand. */
  find(key: Key): Entry | undefined {
    return this.entries.get(key) ?? (this.#latest?.key === key ? this.#latest : undefined);
  }

  /**
   * Attaches to a key that is not among `entries`. Returns undefined if the table has been disposed of.
   * @param owner is kept alive as long as the table has keys at hand.
   * @throws {ArenaFullError}
   */
  enter(key: Key, owner: object): Entry | undefined {
    const { core } = this.membership;
    const { names } = this;
    const latest = this.#latest;
    if (latest?.key === key) return latest;
    if (latest) this.#enroll(latest);
    let answer = names.openKey(this, key, this.#permits);
    if (isFull(answer)) {
      this.#letGo(names.parts);
      this.membership.sweep();
      answer = names.openKey(this, key, this.#permits);
    }
    const { parts } = names;
    if (answer < 0) {
      this.#letGo(parts);
      throw answer === ANSWER_FULL ? noRoom(core, 'attachment') : arenaFull('object', 'objects', core.mostObjects());
    }
    // The disposer first closes the table, and then looks for keys. So it has seen this key, or is seen here.
    if (core.isDisposed(this.address)) {
      core.letGo(answer, GOES);
      this.#letGo(parts);
      return undefined;
    }
    if (!this.#isOwned) this.#owners.set(this, owner);
    this.#isOwned = true;
    const entry = this.spare ?? new Entry(this, names.words);
    this.spare = undefined;
    // -0 and 0 are one key.
    entry.enter(key === 0 ? 0 : key, answer, parts);
    this.#latest = entry;
    return entry;
  }

  /**
   * Whether the next owner of a key is still to learn that an owner has died. The object of the key belongs to this
   * table, and not to the next one of the same name. It looks at each object that was ever in use, unless it knows such
   * a key.
   */
  hasNews(): boolean {
    const { membership, names } = this;
    const isNews = ({ address, generation }: Found): boolean =>
      membership.core.generation(address) === generation &&
      Atomics.load(names.words, (address + O_UNREPORTED_DEATHS) >> 2) !== 0;
    if (!this.#news || !isNews(this.#news)) this.#news = keysOf(names, this).find(isNews);
    return this.#news !== undefined;
  }

  #enroll(entry: Entry): void {
    this.#latest = undefined;
    this.entries.set(entry.key, entry);
  }

  cache(entry: Entry): void {
    if (entry === this.#latest) this.#enroll(entry);
    this.#cache.cache(entry);
    this.#cache.lookLater();
  }

  rest(entry: Entry): void {
    if (entry.waits || this.#cache.isWorthCaching(entry.at)) this.cache(entry);
    else {
      entry.leave();
      this.#cache.lookLater();
    }
  }

  remove(entry: Entry): void {
    if (entry === this.#latest) this.#latest = undefined;
    else this.entries.delete(entry.key);
    this.#letGoIfEmpty();
  }

  letGoOfUnnamed(): void {
    if (this.unnamed !== 0) this.membership.core.letGo(this.unnamed, GOES);
    this.unnamed = 0;
    this.#letGoIfEmpty();
  }

  #letGoIfEmpty(): void {
    if (!this.#isOwned || this.entries.size > 0 || this.#latest || this.unnamed !== 0) return;
    this.#isOwned = false;
    this.#owners.delete(this);
  }

  #letGo(parts: readonly number[]): void {
    for (let i = parts.length; i > 0; i--) this.membership.core.letGo(parts[i - 1] as number, GOES);
  }

  /** The table has been disposed of. */
  end(): void {
    for (const entry of this.#all()) entry.end();
    this.entries.clear();
    this.#latest = undefined;
    this.letGoOfUnnamed();
  }

  /** The thread has left the arena, or ends. */
  cutOff(): void {
    for (const entry of this.#all()) entry.cutOff();
    this.entries.clear();
    this.#latest = undefined;
    this.unnamed = 0;
    this.#letGoIfEmpty();
  }

  #all(): Entry[] {
    return [...this.entries.values(), ...(this.#latest ? [this.#latest] : [])];
  }
}
