/** Opens the object of a key by its name (src/look/key-reading.ts), without a string or an array for the name. */
import { ANSWER_FULL, ANSWER_OBJECTS_FULL, N_KEY } from '../border/numbers.js';
import type { Key } from '../common/keys.js';
import { INTEGER, LATIN, LONG, N_REST, PART, REST_ROOM, WIDE } from '../look/key-reading.js';
import { NameDraft, type Parent } from '../objects/name-draft.js';
import type { Membership } from '../runtime/membership.js';
import { NO_PARTS } from './entry.js';

export class KeyNames extends NameDraft {
  readonly #bytes: Uint8Array;
  /** The attachments to the parts of the key that was opened last. */
  parts: readonly number[] = NO_PARTS;

  constructor(membership: Membership) {
    super(membership);
    this.#bytes = new Uint8Array(membership.memory.buffer);
  }

  /**
   * Attaches to the object of a key, and makes it if there is none. Returns the number of the attachment, or an answer
   * below 0. If the key is long, `parts` has the attachments to its parts then, also if the answer is below 0.
   */
  openKey(table: Parent, key: Key, permits: number): number {
    this.parts = NO_PARTS;
    if (typeof key === 'number') {
      const at = (this.draft + N_REST) >> 2;
      this.words[at] = key;
      this.words[at + 1] = Math.floor(key / 2 ** 32);
      return this.open(table, N_KEY, INTEGER, 8, permits, true);
    }
    const { length } = key;
    if (length <= REST_ROOM) {
      const isLatin = this.#writeLatin(key, 0, length);
      if (isLatin) return this.open(table, N_KEY, LATIN, length, permits, true);
      if (2 * length <= REST_ROOM) {
        this.#writeWide(key, 0, length);
        return this.open(table, N_KEY, WIDE, 2 * length, permits, true);
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
      const attachment = this.open(parent, LONG, isEnd ? form : form | PART, bytes, permits, true);
      if (isEnd || attachment < 0) return attachment;
      parts.push(attachment);
      const address = this.core.attachedTo(attachment);
      // The thread is attached, so the object keeps its generation.
      parent = { address, generation: this.core.generation(address) };
    }
  }

  /** Writes characters of a key into the draft, and zeros to the end of the last word. Returns whether each is a byte. */
  #writeLatin(key: string, from: number, to: number): boolean {
    const { words } = this;
    let at = (this.draft + N_REST) >> 2;
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
    let at = this.draft + N_REST;
    if ((to - from) & 1) this.words[(at + 2 * (to - from)) >> 2] = 0;
    for (let i = from; i < to; i++) {
      const code = key.charCodeAt(i);
      bytes[at++] = code;
      bytes[at++] = code >> 8;
    }
  }
}

/** Whether an answer says that the arena has no room. */
export function isFull(answer: number): boolean {
  return answer === ANSWER_FULL || answer === ANSWER_OBJECTS_FULL;
}
