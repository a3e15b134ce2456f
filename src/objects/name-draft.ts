/**
 * The place in which this thread writes a name that is made of others, as it lies in the arena (src/look/key-reading.ts):
 * the name of a key's object (src/keyed/key-names.ts), or of an object that belongs to another one.
 */
import type { Core } from '../border/core.js';
import { KIND_SEMAPHORE, N_BYTES, N_LENGTH, NAME_SIZE, OBJECT_SIZE } from '../border/numbers.js';
import { LONG, N_PARENT, N_REST, OWN, type Regions } from '../look/key-reading.js';
import { common } from '../runtime/common.js';
import type { Membership } from '../runtime/membership.js';
import { openName } from './new-object.js';

/** The object under which a name is looked up, such as the table of a key, or the part of a long key. */
export interface Parent {
  readonly address: number;
  readonly generation: number;
  /** The attachment to an object that has no name, and that the next name gets; none, or 0, if there is none. */
  unnamed?: number;
}

// Copies of this package in one thread share these, as they share the memberships.
const drafts = common('name-drafts', () => new WeakMap<Membership, NameDraft>());

/** Returns the draft of this thread, for objects that belong to others. */
export function draftOf(membership: Membership): NameDraft {
  let known = drafts.get(membership);
  if (!known) {
    known = new NameDraft(membership);
    drafts.set(membership, known);
  }
  return known;
}

export class NameDraft implements Regions {
  readonly words: Int32Array;
  readonly objects: number;
  readonly names: number;
  protected readonly core: Core;
  /** Where this thread writes a name. */
  protected readonly draft: number;

  constructor({ core, memory, thread }: Membership) {
    this.core = core;
    this.words = new Int32Array(memory.buffer);
    this.draft = core.draftName();
    // The drafts lie behind the names of the objects, in the order of the threads (core/arena/words.ts).
    const objects = core.mostObjects();
    this.names = this.draft - (objects + thread) * NAME_SIZE;
    this.objects = this.names - objects * OBJECT_SIZE;
  }

  /**
   * Attaches to an object that belongs to another, such as the pause of a RateLimiter, by its number, and makes it if there
   * is none. It is a semaphore. Returns the number of the attachment, or an answer below 0.
   */
  openOwn(parent: Parent, number: number, permits: number, isRobust: boolean): number {
    this.words[(this.draft + N_REST) >> 2] = number;
    return this.open(parent, LONG, OWN, 4, permits, isRobust);
  }

  /** Attaches to the semaphore of the name whose bytes are in the draft, and makes it if there is none, as `openOwn`. */
  protected open(
    parent: Parent,
    marker: number,
    form: number,
    length: number,
    permits: number,
    isRobust: boolean,
  ): number {
    const { words, draft } = this;
    const bytes = length + N_REST - N_BYTES;
    words[(draft + N_LENGTH) >> 2] = bytes;
    words[(draft + N_BYTES) >> 2] = marker | (form << 8);
    words[(draft + N_PARENT) >> 2] = parent.address;
    words[(draft + N_PARENT + 4) >> 2] = parent.generation;
    const { unnamed = 0 } = parent;
    // The call takes the object. Nothing that may throw comes before it, so the object never goes to another parent.
    if (unnamed !== 0) parent.unnamed = 0;
    const semaphore = { kind: KIND_SEMAPHORE, permits, max: Math.max(permits, 1), robust: Number(isRobust) };
    return openName(this.core, bytes, semaphore, unnamed);
  }
}
