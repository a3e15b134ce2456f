/**
 * A key as this thread has it at hand: its object is attached.
 *
 * The object is a robust semaphore, with one permit for a mutex. Who finds permits free takes them and gives them back
 * by a call of the core each, and the entry is no more than two numbers. If permits have once to be waited for, the
 * entry gets a `Semaphore`, which does all the rest: blocking, promises, time-outs, signals.
 */
import type { Core } from '../border/core.js';
import { ADMITTED, ANSWER_CLOSED, CLOSED_OBJECT, GOES, O_UNREPORTED_DEATHS, UNNAMED } from '../border/numbers.js';
import type { Key } from '../common/keys.js';
import { giveBack } from '../objects/held-permits.js';
import { Reference } from '../objects/reference.js';
import { forget } from '../objects/shared-object.js';
import type { Membership } from '../runtime/membership.js';
import { closed } from '../runtime/promises.js';
import { Semaphore } from '../semaphore/semaphore.js';

/** What the entries of one table have in common. */
export interface Home {
  readonly membership: Membership;
  /** The attachment to an object that has no name, and that the next new key gets; 0 if there is none. */
  unnamed: number;
  /**
   * The entry that let go last, for the next key. V8 links each table of a Map to the next one, so entries that are
   * deleted stay in memory for long: with an entry of its own for each new key, a third of the time goes to collections.
   */
  spare: Entry | undefined;
  /** Keeps an entry at hand; see key-cache.ts. */
  cache(entry: Entry): void;
  /** The entry is not in use any more. */
  rest(entry: Entry): void;
  /** The entry has let go of its object. */
  remove(entry: Entry): void;
  /** Lets go of the object that has no name. */
  letGoOfUnnamed(): void;
}

/** The attachments to the parts of a key that is not long. */
export const NO_PARTS: readonly number[] = [];

/** The semaphore of a key that permits were waited for. */
class KeySemaphore extends Semaphore {
  #entry: Entry | undefined;

  static for(entry: Entry, reference: Reference, permits: number): KeySemaphore {
    const semaphore = new KeySemaphore(permits, reference);
    semaphore.#entry = entry;
    // The table reports deaths, and finds them where they were.
    semaphore.onOwnerDied = (deaths) => reference.membership.core.restoreOwnerDeaths(entry.at, deaths);
    return semaphore;
  }

  /** The semaphore lets go of its object, so the number of the attachment is no longer the entry's. */
  protected override [forget](address?: number): void {
    super[forget](address);
    if (this.#entry) this.#entry.at = CLOSED_OBJECT;
  }
}

export class Entry {
  key: Key = 0;
  readonly #home: Home;
  readonly #core: Core;
  readonly #words: Int32Array;
  #attachment = 0;
  #parts: readonly number[] = NO_PARTS;
  /** The address of the object, or CLOSED_OBJECT when the entry has let go. */
  at = CLOSED_OBJECT;
  #semaphore: KeySemaphore | undefined;
  /** The permits that this thread has, and those that it waits for. */
  used = 0;
  /** The deaths that this thread has learned of last. */
  deaths = 0;
  /** Whether it is in the ring of `KeyCache`, and whether it was used since it was last looked at there. */
  isCached = false;
  isRecent = false;

  constructor(home: Home, words: Int32Array) {
    this.#home = home;
    this.#core = home.membership.core;
    this.#words = words;
  }

  /** Becomes the entry of a key. */
  enter(key: Key, attachment: number, parts: readonly number[]): void {
    this.key = key;
    this.#attachment = attachment;
    this.#parts = parts;
    this.at = this.#core.attachedTo(attachment);
  }

  /** Takes permits if they are free and nobody waits. Returns whether it has; undefined if the object is closed. */
  take(permits: number): boolean | undefined {
    const answer = this.#core.tryAcquireRobust(this.at, permits, this.#attachment);
    if (answer === ADMITTED) {
      this.used += permits;
      return true;
    }
    if (this.used === 0 && !this.isCached) this.#home.cache(this);
    return answer === ANSWER_CLOSED ? undefined : false;
  }

  /** Whether an owner has died, and the thread that has just taken permits is to learn of it. */
  get hasNews(): boolean {
    return Atomics.load(this.#words, (this.at + O_UNREPORTED_DEATHS) >> 2) !== 0;
  }

  /** The semaphore, to wait for permits. The caller counts them in `used` before, and calls `left` if it gets none. */
  get semaphore(): Semaphore {
    if (!this.#semaphore) {
      const { membership } = this.#home;
      // No other code of this thread has the object, so nothing of it has to stay when the semaphore lets go.
      const reference = new Reference(membership, this.#attachment as never, true);
      this.#semaphore = KeySemaphore.for(this, reference, this.#core.initial(this.at));
    }
    return this.#semaphore;
  }

  /** The semaphore, if it was ever needed. */
  get waits(): Semaphore | undefined {
    return this.#semaphore;
  }

  /** Gives permits back. */
  give(permits: number): void {
    if (this.#semaphore) this.#semaphore.release(permits);
    else if (this.at !== CLOSED_OBJECT) {
      const answer = this.#core.releaseRobust(this.at, permits, this.#attachment);
      if (answer > ADMITTED) this.#core.finishRelease(this.at, permits, answer, this.#attachment);
    }
    this.left(permits);
  }

  /** For a guard. */
  [giveBack](permits = 1): void {
    this.give(permits);
  }

  /** Permits are given back, or are no longer waited for. */
  left(permits: number): void {
    this.used -= permits;
    if (this.used === 0 && !this.isCached && this.at !== CLOSED_OBJECT) this.#home.rest(this);
  }

  /**
   * Lets go of the object, if this thread neither has permits nor waits. If no other thread has the object, it may stay
   * without a name, for another key of the table.
   */
  leave(): void {
    if (this.used > 0) return;
    const home = this.#home;
    if (this.#semaphore) this.#semaphore[closed]();
    else if (this.at !== CLOSED_OBJECT) {
      const how = home.unnamed === 0 && this.#parts === NO_PARTS ? UNNAMED : GOES;
      if (!this.#core.letGo(this.#attachment, how)) home.unnamed = this.#attachment;
    }
    this.#leaveParts();
    home.remove(this);
    // A promise of the semaphore may still call it.
    if (!this.#semaphore) home.spare = this;
  }

  /** Lets go of the object, which is closed. */
  end(): void {
    if (this.#semaphore) this.#semaphore.dispose();
    else if (this.at !== CLOSED_OBJECT) this.#core.letGo(this.#attachment, GOES);
    this.#leaveParts();
  }

  /** The thread has left the arena, or ends: the attachments are no longer the entry's. */
  cutOff(): void {
    this.at = CLOSED_OBJECT;
  }

  #leaveParts(): void {
    this.at = CLOSED_OBJECT;
    for (let i = this.#parts.length; i > 0; i--) this.#core.letGo(this.#parts[i - 1] as number, GOES);
    this.#parts = NO_PARTS;
  }
}
