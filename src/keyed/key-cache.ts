/**
 * The keys that a thread keeps at hand although it does not use them, because a key is often wanted again soon.
 *
 *     free again ──► was it used lately before that?
 *                    no    it goes at once, and its object waits without a name for the next new key of its table
 *                    yes   it gets the next place of a ring of at most 256
 *                          the key that had the place gets another round if it was used again meanwhile.
 *                          Else it goes, or if it is in use, it comes back when it is free
 *
 * So a key that is used once drives out none that is used often, and costs no more than it must. A small table says
 * which keys were used lately: each key writes its hash there. Two keys that are used in turn may write to the same
 * place of this table. To keep such keys too, the thread keeps one key of 32 although it was not used lately.
 *
 * A timer looks at the ring as long as something is in it, and lets go of each key that was not used since the last
 * look, and of the objects without a name. So a thread that locks nothing keeps nothing. A thread whose event loop does
 * not turn keeps the last keys. All threads together keep at most a quarter of the objects of the arena. If the arena
 * is full, the thread keeps nothing.
 */
import {
  ANSWER_FULL,
  CLOSED_OBJECT,
  GOES,
  KIND_SEMAPHORE,
  O_NAME,
  OBJECT_SIZE,
  USED_OBJECTS,
} from '../border/numbers.js';
import { orphanAt, type Regions } from '../look/key-reading.js';
import { setTimeout } from '../runtime/clock.js';
import type { Membership } from '../runtime/membership.js';
import type { Entry, Home } from './entry.js';

const MOST_CACHED = 256;
/** How often the ring is looked at, in milliseconds. */
const LOOK = 20;
/** How many keys of the ring may get another round before one goes all the same. */
const MOST_SPARED = 8;
/** How many keys it remembers as used lately: a power of two. A shift of 32 bits leaves a number below it. */
const MOST_SEEN = 2048;
const SEEN_SHIFT = 21;
/**
 * One of so many keys is kept although it was not used lately: it may share its place with another that is used often.
 */
const CACHED_ANYWAY = 32;

export class KeyCache {
  readonly #membership: Membership;
  readonly #regions: Regions;
  readonly #ring: (Entry | undefined)[] = [];
  readonly #tables: ReadonlyMap<Home, unknown>;
  /** The hashes of keys that were used lately. */
  readonly #seen = new Int32Array(MOST_SEEN);
  #rests = 0;
  #next = 0;
  #room: number;
  #looks = false;

  /** @param tables are those of which the thread has keys at hand. */
  constructor(membership: Membership, regions: Regions, tables: ReadonlyMap<Home, unknown>) {
    this.#membership = membership;
    this.#tables = tables;
    this.#regions = regions;
    this.#room = this.#share();
    membership.whenFull(() => this.#giveUp());
  }

  /** How many keys this thread may keep. */
  #share(): number {
    const { core } = this.#membership;
    return Math.max(1, Math.min(MOST_CACHED, Math.floor(core.mostObjects() / 4 / core.threadCount())));
  }

  /** Whether the key of this object was used lately, or its turn has come all the same. From now on it was used. */
  isWorthCaching(object: number): boolean {
    // The head of the list of its name stands for its hash. The multiplication lets all bits of it count.
    const head = this.#regions.words[(object + O_NAME) >> 2] as number;
    const place = Math.imul(head, 0x9e3779b1) >>> SEEN_SHIFT;
    const wasUsed = this.#seen[place] === head;
    this.#seen[place] = head;
    return wasUsed || ++this.#rests % CACHED_ANYWAY === 0;
  }

  /** Keeps a key that has no place in the ring. */
  cache(entry: Entry): void {
    let place = this.#step();
    for (let spared = 0; spared < MOST_SPARED && this.#ring[place]?.isRecent; spared++) {
      (this.#ring[place] as Entry).isRecent = false;
      place = this.#step();
    }
    this.#clear(place);
    this.#ring[place] = entry;
    entry.isCached = true;
    entry.isRecent = false;
  }

  /** From now on the thread has something that it does not use. */
  lookLater(): void {
    if (this.#looks) return;
    this.#looks = true;
    const timer = setTimeout(() => this.#look(), LOOK) as { unref?(): void };
    // The process need not live on for this.
    timer.unref?.();
  }

  #step(): number {
    if (this.#next >= this.#room) {
      this.#next = 0;
      this.#room = this.#share();
      for (let place = this.#room; place < this.#ring.length; place++) this.#clear(place);
    }
    return this.#next++;
  }

  #clear(place: number): void {
    const entry = this.#ring[place];
    this.#ring[place] = undefined;
    if (!entry) return;
    entry.isCached = false;
    if (entry.at !== CLOSED_OBJECT) entry.leave();
  }

  #look(): void {
    this.#looks = false;
    if (this.#membership.isOver) return;
    let isEmpty = true;
    for (let place = 0; place < this.#ring.length; place++) {
      const entry = this.#ring[place];
      if (!entry) continue;
      if (entry.isRecent) isEmpty = false;
      else this.#clear(place);
      entry.isRecent = false;
    }
    this.#letGoOfUnnamed();
    if (!isEmpty) this.lookLater();
  }

  #letGoOfUnnamed(): void {
    for (const table of [...this.#tables.keys()]) table.letGoOfUnnamed();
  }

  /**
   * The arena is full. Lets go of all keys that are not in use, and of the keys that nobody can come to any more: those
   * whose owner has died and whose table is gone.
   */
  #giveUp(): void {
    for (let place = 0; place < this.#ring.length; place++) if (this.#ring[place]?.used === 0) this.#clear(place);
    this.#letGoOfUnnamed();
    const { words, objects } = this.#regions;
    const used = Atomics.load(words, USED_OBJECTS >> 2);
    for (let i = 0; i < used; i++) {
      const address = objects + i * OBJECT_SIZE;
      const generation = orphanAt(this.#regions, address);
      if (generation !== undefined) disposeOf(this.#membership, address, generation);
    }
  }
}

/**
 * Disposes of the object of a key that this thread may not have at hand. Returns whether it is gone: there may be no
 * room to attach to it.
 */
export function disposeOf({ core }: Membership, address: number, generation: number): boolean {
  const attachment = core.attach(address, generation, KIND_SEMAPHORE);
  if (attachment < 0) return attachment !== ANSWER_FULL;
  core.dispose(address);
  core.letGo(attachment, GOES);
  return true;
}
