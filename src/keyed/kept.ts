/**
 * The keys that a thread keeps at hand although it does not use them, because a key is often wanted again soon.
 *
 *     new, or free again ──► the next place of a ring of at most 256, unless it has one
 *                            the key that had the place gets another round if it was used again meanwhile.
 *                            Else it goes, or if it is in use, it comes back when it is free
 *
 * A timer looks at the ring as long as something is in it, and lets go of each key that was not used since the last
 * look. So a thread that locks nothing keeps nothing. A thread whose event loop does not turn keeps the last keys. All
 * threads together keep at most a quarter of the objects of the arena. If the arena is full, the thread keeps nothing.
 */
import { CLOSED_OBJECT, KIND_SEMAPHORE, OBJECT_SIZE, USED_OBJECTS } from '../border/numbers.js';
import { orphanAt, type Regions } from '../key-reading.js';
import { setTimeout } from '../runtime/clock.js';
import type { Membership } from '../runtime/membership.js';
import type { Entry, Home } from './entry.js';

const MOST_KEPT = 256;
/** How often the ring is looked at, in milliseconds. */
const LOOK = 20;
/** How many keys of the ring may get another round before one goes all the same. */
const MOST_SPARED = 8;

export class Kept {
  readonly #membership: Membership;
  readonly #regions: Regions;
  readonly #ring: (Entry | undefined)[] = [];
  #next = 0;
  /** The place that is free for a new key. */
  #free = 0;
  #room: number;
  #looks = false;

  constructor(membership: Membership, regions: Regions) {
    this.#membership = membership;
    this.#regions = regions;
    this.#room = this.#share();
    membership.whenFull(() => this.#giveUp());
  }

  /** How many keys this thread may keep. */
  #share(): number {
    const { core } = this.#membership;
    return Math.max(1, Math.min(MOST_KEPT, Math.floor(core.mostObjects() / 4 / core.threadCount())));
  }

  /** Keeps a key that is free again, and that has no place in the ring. */
  keep(entry: Entry): void {
    const place = this.#choose();
    this.#clear(place);
    this.#put(place, entry);
  }

  /** Makes room for a key that is new. Returns the object of the key that goes, if a new key of the table can have it. */
  makeRoom(home: Home): number {
    const place = this.#choose();
    this.#free = place;
    const entry = this.#ring[place];
    this.#ring[place] = undefined;
    if (!entry) return 0;
    entry.isKept = false;
    return entry.strip(home);
  }

  /** Keeps the new key. */
  keepNew(entry: Entry): void {
    this.#put(this.#free, entry);
  }

  #choose(): number {
    let place = this.#step();
    for (let spared = 0; spared < MOST_SPARED && this.#ring[place]?.isRecent; spared++) {
      (this.#ring[place] as Entry).isRecent = false;
      place = this.#step();
    }
    return place;
  }

  #put(place: number, entry: Entry): void {
    this.#ring[place] = entry;
    entry.isKept = true;
    entry.isRecent = false;
    if (this.#looks) return;
    this.#looks = true;
    this.#lookLater();
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
    entry.isKept = false;
    if (entry.at !== CLOSED_OBJECT) entry.leave();
  }

  #lookLater(): void {
    const timer = setTimeout(() => this.#look(), LOOK) as { unref?(): void };
    // The process need not live on for this.
    timer.unref?.();
  }

  #look(): void {
    let isEmpty = true;
    for (let place = 0; place < this.#ring.length; place++) {
      const entry = this.#ring[place];
      if (!entry) continue;
      if (!entry.isRecent) {
        this.#clear(place);
        continue;
      }
      entry.isRecent = false;
      isEmpty = false;
    }
    this.#looks = !isEmpty;
    if (this.#looks) this.#lookLater();
  }

  /**
   * The arena is full. Lets go of all keys that are not in use, and of the keys that nobody can come to any more: those
   * whose owner has died and whose table is gone.
   */
  #giveUp(): void {
    for (let place = 0; place < this.#ring.length; place++) if (this.#ring[place]?.used === 0) this.#clear(place);
    const { words, objects } = this.#regions;
    const used = Atomics.load(words, USED_OBJECTS >> 2);
    for (let i = 0; i < used; i++) {
      const address = objects + i * OBJECT_SIZE;
      const generation = orphanAt(this.#regions, address);
      if (generation !== undefined) disposeOf(this.#membership, address, generation);
    }
  }
}

/** Disposes of the object of a key that this thread may not have at hand. */
export function disposeOf({ core }: Membership, address: number, generation: number): void {
  const attachment = core.attach(address, generation, KIND_SEMAPHORE);
  if (attachment < 0) return;
  core.dispose(address);
  core.letGo(attachment, 0);
}
