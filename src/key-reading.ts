/**
 * The name of a key's object, as it lies in the arena, and how to read it. src/keyed/key-names.ts writes it.
 *
 *     0    marker    N_KEY; LONG for a part of a long key, and for its end
 *     1    form      LATIN, WIDE or INTEGER; with PART, the object is a part of a long key
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
import { N_BYTES, N_KEY, N_LENGTH, NAME_ROOM, O_LIFE, O_NAME, OBJECT_SIZE, USED_OBJECTS } from './border/numbers.js';
import type { Key } from './keys.js';

export const LONG = 0xfe;
export const LATIN = 1;
export const WIDE = 2;
export const INTEGER = 3;
export const PART = 8;
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

/** The object of a key. */
export interface KeyObject {
  readonly key: Key;
  readonly address: number;
  readonly generation: number;
  /** The address and the generation of the table. */
  readonly table: number;
  readonly tableGeneration: number;
}

/** Returns the key of an object; undefined if the object is not that of a key, or goes while this function reads. */
export function keyAt({ words, objects, names }: Regions, address: number): KeyObject | undefined {
  const load = (at: number): number => Atomics.load(words, at >> 2);
  const generationOf = (at: number): number => load(at + O_LIFE + 4);
  const headOf = (at: number): number => (load(at + O_NAME) === 0 ? 0 : load(at - objects + names + N_BYTES));
  const isOfKey = (head: number): boolean => (head & 0xff) === N_KEY || (head & 0xff) === LONG;
  let head = headOf(address);
  const form = (head >> 8) & 0xff;
  if (!isOfKey(head) || form & PART) return undefined;
  const generation = generationOf(address);
  const pieces: number[][] = [];
  const passed: (readonly [number, number])[] = [];
  let at = address;
  let expected = generation;
  // The way leads over the parts of a long key to the table.
  while (isOfKey(head)) {
    if ((load(at + O_LIFE) & STATES) !== LIVE) return undefined;
    passed.push([at, expected]);
    const entry = at - objects + names;
    const length = Math.min(load(entry + N_LENGTH) - (N_REST - N_BYTES), REST_ROOM);
    const piece: number[] = [];
    for (let i = 0; i < length; i++) piece.push((load((entry + N_REST + i) & ~3) >>> ((i & 3) * 8)) & 0xff);
    pieces.unshift(piece);
    at = load(entry + N_PARENT);
    expected = load(entry + N_PARENT + 4);
    if (generationOf(at) !== expected) return undefined;
    head = headOf(at);
  }
  // If each object has the generation of before, its name was in its place all the while.
  if (passed.some(([at, generation]) => generationOf(at) !== generation)) return undefined;
  return { key: decoded(form, pieces.flat()), address, generation, table: at, tableGeneration: expected };
}

/** Whether an object is that of a key whose table is gone. So nobody comes to this key any more. */
export function isOrphan({ words, objects, names }: Regions, address: number): boolean {
  const load = (at: number): number => Atomics.load(words, at >> 2);
  const entry = address - objects + names;
  if ((load(address + O_LIFE) & STATES) !== LIVE || load(address + O_NAME) === 0) return false;
  if ((load(entry + N_BYTES) & 0xff) !== N_KEY) return false;
  return load(load(entry + N_PARENT) + O_LIFE + 4) !== load(entry + N_PARENT + 4);
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
export function keysOf(regions: Regions, table: number, generation: number): KeyObject[] {
  const keys: KeyObject[] = [];
  const used = Atomics.load(regions.words, USED_OBJECTS >> 2);
  for (let i = 0; i < used; i++) {
    const found = keyAt(regions, regions.objects + i * OBJECT_SIZE);
    if (found?.table === table && found.tableGeneration === generation) keys.push(found);
  }
  return keys;
}
