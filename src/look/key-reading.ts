/**
 * The name of a key's object, as it lies in the arena, and how to read it. src/keyed/key-names.ts writes it.
 *
 *     0    marker    N_KEY; LONG for a part of a long key, and for its end
 *     1    form      LATIN, WIDE or INTEGER; with PART, the object is a part of a long key.
 *                    OWN: an object of a RateLimiter, and no key. Its bytes are PAUSE
 *     4    parent    the address and the generation of the table; in a long key, of the part before this one
 *     12   bytes     LATIN: one for each character.  WIDE: two, if one character needs two.  INTEGER: 64 bits
 *
 * A string has just one form, and its characters are UTF-16, well-formed or not. So two keys are equal if their names
 * are. If a key has more bytes than a name has room, its first bytes are the name of an object of their own, a part, and
 * the rest is a name with this part as the parent:
 *
 *     table  ◄──  part "first 104 bytes"  ◄──  part "next 104 bytes"  ◄──  the key's object "the rest"
 *
 * So long keys are compared byte by byte as well, and no hash stands for a key.
 */
import { N_BYTES, N_KEY, N_LENGTH, NAME_ROOM, O_LIFE, O_NAME, OBJECT_SIZE, USED_OBJECTS } from '../border/numbers.js';
import type { Key } from '../common/keys.js';

export const LONG = 0xfe;
export const LATIN = 1;
export const WIDE = 2;
export const INTEGER = 3;
export const PART = 8;
export const OWN = 24;
/** The object of a RateLimiter: the semaphore, without permits, in whose queue those sleep who wait. */
export const PAUSE = 0;
/** Where the parent and the bytes begin in a name, and how many bytes have room. */
export const N_PARENT = N_BYTES + 4;
export const N_REST = N_BYTES + 12;
export const REST_ROOM = NAME_ROOM - 12;

const STATES = 3 << 24;
const LIVE = 2 << 24;

/** Where the objects of an arena lie, and their names. */
export interface Regions {
  readonly words: Int32Array;
  readonly objects: number;
  readonly names: number;
}

/** An object that a name leads to, and its generation. */
export interface Found {
  readonly address: number;
  readonly generation: number;
}

/** The object of a key. */
export interface KeyObject extends Found {
  readonly key: Key;
  readonly table: Found;
}

/** Reads words of an arena, while other threads change them. */
class Reader {
  readonly #regions: Regions;

  constructor(regions: Regions) {
    this.#regions = regions;
  }

  load(address: number): number {
    return Atomics.load(this.#regions.words, address >> 2);
  }

  generationOf(object: number): number {
    return this.load(object + O_LIFE + 4);
  }

  isLive(object: number): boolean {
    return (this.load(object + O_LIFE) & STATES) === LIVE;
  }

  /** Returns a word of the name of an object, by its place among the words of an entry. */
  ofName(object: number, word: number): number {
    const { objects, names } = this.#regions;
    return this.load(object - objects + names + word);
  }

  /** Returns the marker and the form of the name of an object; 0 if it is no name of a key. */
  headOf(object: number): number {
    const head = this.load(object + O_NAME) === 0 ? 0 : this.ofName(object, N_BYTES);
    const marker = head & 0xff;
    return marker === N_KEY || marker === LONG ? head : 0;
  }

  parentOf(object: number): Found {
    return { address: this.ofName(object, N_PARENT), generation: this.ofName(object, N_PARENT + 4) };
  }
}

/**
 * Returns the key of an object. Returns undefined if the object is not that of a key, or goes while this function reads,
 * or if the key belongs to another table than `table`. A thread writes the whole name before it stores O_NAME, and the
 * name stays as it is until the object has another generation. So the name is right if the object is live, and has the
 * same generation before and after the reading.
 */
export function keyAt(regions: Regions, address: number, table?: Found): KeyObject | undefined {
  const reader = new Reader(regions);
  const generation = reader.generationOf(address);
  let head = reader.isLive(address) ? reader.headOf(address) : 0;
  const form = (head >> 8) & 0xff;
  if (head === 0 || form & PART) return undefined;
  const passed: Found[] = [];
  let at: Found = { address, generation };
  // The way leads over the parts of a long key to the table, which may be closed.
  while (head !== 0) {
    passed.push(at);
    at = reader.parentOf(at.address);
    if (reader.generationOf(at.address) !== at.generation) return undefined;
    head = reader.headOf(at.address);
  }
  if (table && (at.address !== table.address || at.generation !== table.generation)) return undefined;
  const bytes = passed.reverse().flatMap((object) => bytesOf(reader, object.address));
  if (passed.some((object) => reader.generationOf(object.address) !== object.generation)) return undefined;
  return { key: decoded(form, bytes), address, generation, table: at };
}

function bytesOf(reader: Reader, object: number): number[] {
  const bytes: number[] = [];
  const length = Math.min(reader.ofName(object, N_LENGTH) - (N_REST - N_BYTES), REST_ROOM);
  for (let i = 0; i < length; i += 4) {
    const word = reader.ofName(object, N_REST + i);
    for (let j = i; j < Math.min(i + 4, length); j++) bytes.push((word >>> ((j & 3) * 8)) & 0xff);
  }
  return bytes;
}

/**
 * Returns the object that a report names in place of another: the table of a key, the limiter of what belongs to one,
 * and otherwise the object itself. Returns undefined if the table or the limiter is gone.
 */
export function ownerOf(regions: Regions, object: number): number | undefined {
  const reader = new Reader(regions);
  let at = object;
  while (reader.headOf(at) !== 0) {
    const { address, generation } = reader.parentOf(at);
    if (reader.generationOf(address) !== generation) return undefined;
    at = address;
  }
  return at;
}

/** Returns the number of an object that belongs to a RateLimiter, PAUSE; undefined for any other object. */
export function ownNumber(regions: Regions, object: number): number | undefined {
  const reader = new Reader(regions);
  return reader.headOf(object) >> 8 === OWN ? reader.ofName(object, N_REST) : undefined;
}

/** Returns the generation of the object of a key whose table is gone. So nobody comes to this key any more. */
export function orphanAt(regions: Regions, address: number): number | undefined {
  const reader = new Reader(regions);
  const generation = reader.generationOf(address);
  if (!reader.isLive(address) || (reader.headOf(address) & 0xff) !== N_KEY) return undefined;
  const parent = reader.parentOf(address);
  const isGone = reader.generationOf(parent.address) !== parent.generation;
  return isGone && reader.generationOf(address) === generation ? generation : undefined;
}

function decoded(form: number, bytes: readonly number[]): Key {
  const view = new DataView(Uint8Array.from(bytes).buffer);
  if (form === INTEGER) return view.getInt32(4, true) * 2 ** 32 + view.getUint32(0, true);
  let text = '';
  if (form === LATIN) for (const byte of bytes) text += String.fromCharCode(byte);
  else for (let i = 0; i < bytes.length; i += 2) text += String.fromCharCode(view.getUint16(i, true));
  return text;
}

/** Returns the objects of all keys of a table. It looks at each object that was ever in use. */
export function keysOf(regions: Regions, table: Found): KeyObject[] {
  const keys: KeyObject[] = [];
  const used = Atomics.load(regions.words, USED_OBJECTS >> 2);
  for (let i = 0; i < used; i++) {
    const found = keyAt(regions, regions.objects + i * OBJECT_SIZE, table);
    if (found) keys.push(found);
  }
  return keys;
}
