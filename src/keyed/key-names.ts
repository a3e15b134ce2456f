/** Opens the object of a key by its name (src/look/key-reading.ts), without a string or an array for the name. */
import type { Core } from '../border/core.js';
import {
  ANSWER_FULL,
  ANSWER_OBJECTS_FULL,
  KIND_SEMAPHORE,
  N_BYTES,
  N_KEY,
  N_LENGTH,
  NAME_SIZE,
  OBJECT_SIZE,
} from '../border/numbers.js';
import type { Key } from '../common/keys.js';
import {
  INTEGER,
  LATIN,
  LONG,
  N_PARENT,
  N_REST,
  OWN,
  PART,
  REST_ROOM,
  type Regions,
  WIDE,
} from '../look/key-reading.js';
import { openName } from '../objects/new-object.js';
import type { Membership } from '../runtime/membership.js';
import { NO_PARTS } from './entry.js';

/** The object under which a name is looked up: the table, or the part of a long key. */
export interface Parent {
  readonly address: number;
  readonly generation: number;
  /** The attachment to an object that has no name, and that the next name gets; none, or 0, if there is none. */
  unnamed?: number;
}

export class KeyNames implements Regions {
  readonly words: Int32Array;
  readonly objects: number;
  readonly names: number;
  readonly #core: Core;
  readonly #bytes: Uint8Array;
  /** The attachments to the parts of the key that was opened last. */
  parts: readonly number[] = NO_PARTS;
  /** Where this thread writes a name. */
  readonly #draft: number;

  constructor({ core, memory, thread }: Membership) {
    this.#core = core;
    this.words = new Int32Array(memory.buffer);
    this.#bytes = new Uint8Array(memory.buffer);
    this.#draft = core.draftName();
    // The drafts lie behind the names of the objects, in the order of the threads (core/arena/words.ts).
    const objects = core.mostObjects();
    this.names = this.#draft - (objects + thread) * NAME_SIZE;
    this.objects = this.names - objects * OBJECT_SIZE;
  }

  /**
   * Attaches to the object of a key, and makes it if there is none. Returns the number of the attachment, or an answer
   * below 0. If the key is long, `parts` has the attachments to its parts then, also if the answer is below 0.
   */
  open(table: Parent, key: Key, permits: number): number {
    this.parts = NO_PARTS;
    if (typeof key === 'number') {
      const at = (this.#draft + N_REST) >> 2;
      this.words[at] = key;
      this.words[at + 1] = Math.floor(key / 2 ** 32);
      return this.#open(table, N_KEY, INTEGER, 8, permits);
    }
    const { length } = key;
    if (length <= REST_ROOM) {
      const isLatin = this.#writeLatin(key, 0, length);
      if (isLatin) return this.#open(table, N_KEY, LATIN, length, permits);
      if (2 * length <= REST_ROOM) {
        this.#writeWide(key, 0, length);
        return this.#open(table, N_KEY, WIDE, 2 * length, permits);
      }
    }
    return this.#openLong(table, key, permits);
  }

  #openLong(table: Parent, key: string, permits: number): number {
    const parts: number[] = [];
    this.parts = parts;
    let isLatin = true;
    for (let i = 0; isLatin && i < key.length; i++) isLatin = key.charCodeAt(i) < 256;
    const form = isLatin ? LATIN : WIDE;
    const room = isLatin ? REST_ROOM : REST_ROOM / 2;
    let parent = table;
    for (let from = 0; ; from += room) {
      const to = Math.min(from + room, key.length);
      if (isLatin) this.#writeLatin(key, from, to);
      else this.#writeWide(key, from, to);
      const isEnd = to === key.length;
      const bytes = (to - from) * (isLatin ? 1 : 2);
      const attachment = this.#open(parent, LONG, isEnd ? form : form | PART, bytes, permits);
      if (isEnd || attachment < 0) return attachment;
      parts.push(attachment);
      const address = this.#core.attachedTo(attachment);
      // The thread is attached, so the object keeps its generation.
      parent = { address, generation: this.#core.generation(address) };
    }
  }

  /**
   * Attaches to an object that belongs to another, such as the pause of a RateLimiter, by its number. The object is a
   * semaphore. Returns what `open` returns.
   */
  openOwn(parent: Parent, number: number, permits: number, isRobust: boolean): number {
    this.words[(this.#draft + N_REST) >> 2] = number;
    return this.#open(parent, LONG, OWN, 4, permits, isRobust);
  }

  /** Writes characters of a key into the draft, and zeros to the end of the last word. Returns whether each is a byte. */
  #writeLatin(key: string, from: number, to: number): boolean {
    const { words } = this;
    let at = (this.#draft + N_REST) >> 2;
    let i = from;
    for (; i <= to - 4; i += 4) {
      const a = key.charCodeAt(i);
      const b = key.charCodeAt(i + 1);
      const c = key.charCodeAt(i + 2);
      const d = key.charCodeAt(i + 3);
      if ((a | b | c | d) > 255) return false;
      words[at++] = a | (b << 8) | (c << 16) | (d << 24);
    }
    if (i < to) words[at] = 0;
    for (let shift = 0; i < to; shift += 8) {
      const code = key.charCodeAt(i++);
      if (code > 255) return false;
      words[at] = (words[at] as number) | (code << shift);
    }
    return true;
  }

  #writeWide(key: string, from: number, to: number): void {
    const bytes = this.#bytes;
    let at = this.#draft + N_REST;
    if ((to - from) & 1) this.words[(at + 2 * (to - from)) >> 2] = 0;
    for (let i = from; i < to; i++) {
      const code = key.charCodeAt(i);
      bytes[at++] = code;
      bytes[at++] = code >> 8;
    }
  }

  #open(parent: Parent, marker: number, form: number, length: number, permits: number, isRobust = true): number {
    const { words } = this;
    const draft = this.#draft;
    const bytes = length + N_REST - N_BYTES;
    words[(draft + N_LENGTH) >> 2] = bytes;
    words[(draft + N_BYTES) >> 2] = marker | (form << 8);
    words[(draft + N_PARENT) >> 2] = parent.address;
    words[(draft + N_PARENT + 4) >> 2] = parent.generation;
    const max = Math.max(permits, 1);
    const { unnamed = 0 } = parent;
    // The call takes the object. Nothing that may throw comes before it, so the object never goes to another table.
    if (unnamed !== 0) parent.unnamed = 0;
    const ofKey = { kind: KIND_SEMAPHORE, permits, max, robust: Number(isRobust) };
    return openName(this.#core, bytes, ofKey, unnamed);
  }
}

/** Whether an answer says that the arena has no room. */
export function isFull(answer: number): boolean {
  return answer === ANSWER_FULL || answer === ANSWER_OBJECTS_FULL;
}
