/** The keys of one table that this thread has at hand. All library objects of the table in this thread share them. */
import { ANSWER_FULL } from '../border/numbers.js';
import { arenaFull, noRoom } from '../errors.js';
import type { Key } from '../keys.js';
import { common } from '../runtime/common.js';
import type { Membership, Shared } from '../runtime/membership.js';
import { Entry, type Home } from './entry.js';
import { Kept } from './kept.js';
import { isFull, KeyNames, type Made, type Parent } from './key-names.js';

/** What a thread has for all tables of an arena. */
interface OfThread {
  readonly names: KeyNames;
  readonly kept: Kept;
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

/** Returns how this thread opens names that are made of others. */
export function namesOf(membership: Membership): KeyNames {
  return ofThread(membership).names;
}

function ofThread(membership: Membership): OfThread {
  let known = threads.get(membership);
  if (!known) {
    const names = new KeyNames(membership);
    known = { names, kept: new Kept(membership, names), owners: new Map() };
    threads.set(membership, known);
  }
  return known;
}

/** Returns the table of a shared object, as this thread has it. */
export function tableOf(membership: Membership, shared: Shared, made: Made): Table {
  let table = tables.get(shared);
  if (!table) {
    table = new Table(membership, shared.address, made);
    tables.set(shared, table);
  }
  return table;
}

export class Table implements Home, Parent {
  readonly membership: Membership;
  readonly address: number;
  readonly generation: number;
  readonly names: KeyNames;
  readonly kept: Kept;
  readonly entries = new Map<Key, Entry>();
  spare: Entry | undefined;
  readonly #made: Made;
  readonly #owners: Map<Table, object>;

  constructor(membership: Membership, address: number, made: Made) {
    const { names, kept, owners } = ofThread(membership);
    this.membership = membership;
    this.address = address;
    this.generation = membership.core.generation(address);
    this.names = names;
    this.kept = kept;
    this.#made = made;
    this.#owners = owners;
  }

  /**
   * Attaches to a key. Returns undefined if the table has been disposed of.
   * @param owner is kept alive as long as the table has keys at hand.
   * @throws {ArenaFullError}
   */
  enter(key: Key, owner: object): Entry | undefined {
    const { core } = this.membership;
    const { names } = this;
    names.bare = this.kept.makeRoom(this);
    let answer = names.open(this, key, this.#made);
    if (isFull(answer)) {
      this.#letGo(names.parts);
      this.membership.sweep();
      answer = names.open(this, key, this.#made);
    }
    const { parts } = names;
    if (answer < 0) {
      this.#letGo(parts);
      throw answer === ANSWER_FULL ? noRoom(core, 'attachment') : arenaFull('object', 'objects', core.mostObjects());
    }
    // The disposer first closes the table, and then looks for keys. So it has seen this key, or is seen here.
    if (core.isDisposed(this.address)) {
      core.letGo(answer, 0);
      this.#letGo(parts);
      return undefined;
    }
    if (this.entries.size === 0) this.#owners.set(this, owner);
    const entry = this.spare ?? new Entry(this, names.words);
    this.spare = undefined;
    // -0 and 0 are one key.
    entry.enter(key === 0 ? 0 : key, answer, parts);
    // From the start, so an entry is kept or used, also if the request fails.
    this.kept.keepNew(entry);
    return entry;
  }

  #letGo(parts: readonly number[]): void {
    for (let i = parts.length; i > 0; i--) this.membership.core.letGo(parts[i - 1] as number, 0);
  }

  isEmpty(): void {
    this.#owners.delete(this);
  }

  /** The table has been disposed of. */
  end(): void {
    for (const entry of [...this.entries.values()]) entry.end();
    this.entries.clear();
    this.isEmpty();
  }

  /** The thread has left the arena, or ends. */
  cutOff(): void {
    for (const entry of this.entries.values()) entry.cutOff();
    this.entries.clear();
    this.isEmpty();
  }
}
