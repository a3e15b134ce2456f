/**
 * A codec turns a value into the bytes of a message, and back.
 *
 *     send      encode into the scratch ──► claim a place ──► copy ──► pass the place on
 *     receive   claim a place ──► copy into the scratch ──► free the place ──► decode
 *
 * The scratch is private memory of the thread. So the code of a codec runs while the thread has no place: a codec that
 * throws loses nothing and leaves no hole, a codec that sends or receives itself does no harm, and a slow codec keeps
 * nobody waiting. Browsers also refuse to encode and decode text in shared memory.
 *
 * The codecs `number`, `numbers` and `bytes` run no code of others. They read and write the place itself (Direct).
 */
import { O_THRESHOLD, PLACE_HEAD } from '../border/numbers.js';
import { bad, checkInteger, checkType } from '../runtime/errors.js';
import type { Membership } from '../runtime/membership.js';

/** Where a codec writes a message. */
export interface Into {
  /** The bytes of the message, `room` of them. */
  readonly bytes: Uint8Array;
  /** The same bytes. */
  readonly view: DataView;
  /** The same bytes as numbers, `room` / 8 of them, rounded down. */
  readonly f64: Float64Array;
  /** The most bytes that a message of this channel may have. */
  readonly room: number;
}

/** Where a codec reads a message. */
export interface From {
  /** The bytes of the message, `length` of them, and others behind these. The next message overwrites them. */
  readonly bytes: Uint8Array;
  /** The same bytes. */
  readonly view: DataView;
  /** The same bytes as numbers. */
  readonly f64: Float64Array;
  /** The bytes of the message. */
  readonly length: number;
}

/**
 * How values travel in a channel. All threads of a channel use codecs of one name.
 *
 * @example
 * ```ts
 * import { Channel, type Codec } from 'taketurns/channel';
 *
 * const point: Codec<{ x: number; y: number }> = {
 *   name: 'point',
 *   encode({ x, y }, { f64 }) {
 *     f64[0] = x;
 *     f64[1] = y;
 *     return 16;
 *   },
 *   decode: ({ f64 }) => ({ x: f64[0], y: f64[1] }),
 * };
 * const points = new Channel({ codec: point });
 * ```
 */
export interface Codec<T> {
  /** Tells codecs apart. */
  readonly name: string;
  /**
   * Writes a value, and returns how many bytes it has written, 0 to `into.room`. It must not block. If it throws, `send`
   * throws the same error and has sent nothing.
   * @throws what it likes.
   */
  encode(value: T, into: Into): number;
  /**
   * Returns the value of a message. It copies what it keeps, and must not block. If it throws, `receive` throws the same
   * error, and the message is gone. If it returns a promise, `receiveAsync` is fulfilled as that promise is.
   * @throws what it likes.
   */
  decode(from: From): T;
}

/** The memory of an arena, as codecs see it. */
export interface Views {
  readonly u8: Uint8Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly i32: Int32Array<SharedArrayBuffer>;
}

/**
 * How a channel moves values of its codec. `encode` and `decode` may run code of the user. `put` and `get` are called
 * while the thread has a place, and run none.
 */
export interface Wire<T> {
  /** Whether every message is one number, which the module moves itself. */
  readonly isNumber: boolean;
  /** Returns what `put` takes, which the next call may overwrite. Throws if the value cannot travel. */
  encode(value: T): unknown;
  /** Makes what `encode` has returned outlast other calls. */
  keep(encoded: unknown): unknown;
  /** Writes it to the place at this address. Returns the length of the message. */
  put(address: number, encoded: unknown): number;
  /** Copies a message out of its place. */
  get(address: number, length: number): unknown;
  /** Returns the value of what `get` has returned. Each result of `get` goes to `decode` or `drop`. */
  decode(got: unknown): T;
  /** Nobody needs what `get` has returned. */
  drop?(got: unknown): void;
}

/** @internal By this property a codec of the library makes its own wire. */
export const direct = Symbol();

/** @internal A codec whose wire needs no scratch. */
export interface Direct<T> extends Codec<T> {
  [direct](views: Views, room: number, membership: Membership): Wire<T>;
}

/** @internal Checks the codec of a caller. */
export function checkCodec(what: string, codec: Codec<unknown>): void {
  checkType(`${what}: codec`, codec, 'object', 'a codec', 'import one from taketurns/channel, or write one');
  checkType(`${what}: codec.name`, codec.name, 'string', 'a string');
  checkType(`${what}: codec.encode`, codec.encode, 'function', 'a function');
  checkType(`${what}: codec.decode`, codec.decode, 'function', 'a function');
}

/** The most bytes of a message that a channel may take. */
const MOST_BYTES = 2 ** 24;

/** @internal Checks the bytes of the largest message. */
export function checkBytes(what: string, most: number): void {
  const LEAST_BYTES = 8;
  checkInteger(`${what}: bytes`, most, LEAST_BYTES, MOST_BYTES);
}

/** @internal Returns the bytes of a place for messages of so many bytes: whole lines. */
export function sizeOfPlace(most: number): number {
  const LINE = 64;
  return (most + PLACE_HEAD + LINE - 1) & -LINE;
}

/** @internal Returns the bytes of the largest message in a place for messages of so many bytes. */
export const roomFor = (most: number): number => sizeOfPlace(most) - PLACE_HEAD;

/** @internal Returns the bytes of the largest message of the channel or watch that has these words. */
export const roomIn = (words: Int32Array): number => (words[O_THRESHOLD / 4] as number) - PLACE_HEAD;

/**
 * @internal The error of a message that does not fit. The codecs of the library count the bytes themselves, and make
 * this error after all code of the user has run: so no error of that code is taken for this one, or this one for it.
 * @param isAll whether the message has no more bytes than these.
 */
export function tooLong(length: number, room: number, isAll = true): RangeError {
  const advice = isAll && length <= MOST_BYTES ? `make it with { bytes: ${length} }` : 'send less at once';
  return new RangeError(
    `the message has ${isAll ? '' : 'more than '}${length} bytes, and the channel takes ${room}: ${advice}`,
  );
}

/** Returns a number, not 0, that tells the codec of this name from others. */
export function hashOf({ name }: { readonly name: string }): number {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  return hash | 1;
}

/** @internal Returns how a channel whose messages have `room` bytes at most moves the values of a codec. */
export function wireOf<T>(codec: Codec<T>, views: Views, room: number, membership: Membership): Wire<T> {
  const make = (codec as Partial<Direct<T>>)[direct];
  return make === undefined ? new ScratchWire(codec, views, room) : make.call(codec, views, room, membership);
}

/** @internal What to do with a message of another type than the codec takes. */
export const OTHER_CODEC = 'for other messages give another codec, such as { codec: value }';

/** The names of the codecs of the library that have no parameters. */
const NAMES = ['bytes', 'number', 'text', 'json', 'value'];

/**
 * @internal The error of a thread that has another codec than others.
 * @param hash tells the codec of the others.
 */
export function otherCodec(what: string, thing: string, hash: number, { name }: { readonly name: string }): TypeError {
  const has = NAMES.find((known) => hashOf({ name: known }) === hash);
  const its = has ?? 'codec';
  const instead = what.endsWith('.from') ? `write ${what}(handle, ${its})` : `give { codec: ${its} }`;
  return new TypeError(
    `${what}: ${thing} has ${has === undefined ? 'another codec' : `the codec ${JSON.stringify(has)}`}, and not ` +
      `${JSON.stringify(name)}: ${instead}`,
  );
}

/** Private memory for one message. */
class Scratch implements Into, From {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView;
  readonly f64: Float64Array;
  /** @internal The same bytes as words, one more than needed at most. */
  readonly i32: Int32Array;
  readonly room: number;
  length = 0;

  constructor(room: number) {
    this.room = room;
    const buffer = new ArrayBuffer((room + 7) & -8);
    this.bytes = new Uint8Array(buffer, 0, room);
    this.view = new DataView(buffer, 0, room);
    this.f64 = new Float64Array(buffer, 0, room >> 3);
    this.i32 = new Int32Array(buffer);
  }
}

/** A loop is faster for so few bytes. */
const FEW = 128;
const WORD = 4;

/** Copies bytes word by word. Places and scratches begin and end at whole words. */
function copy(source: Int32Array, from: number, length: number, target: Int32Array, to: number): void {
  const [first, behind] = [from / WORD, to / WORD];
  for (let i = 0; i * WORD < length; i++) target[behind + i] = source[first + i] as number;
}

/** The wire of a codec that encodes into the scratch. */
export class ScratchWire<T> implements Wire<T> {
  readonly isNumber = false;
  readonly #codec: Codec<T>;
  readonly #u8: Uint8Array<SharedArrayBuffer>;
  readonly #i32: Int32Array<SharedArrayBuffer>;
  readonly #room: number;
  #out: Scratch | undefined;
  #in: Scratch | undefined;
  /** Whether there is a scratch. While it is in use, other messages wait for it as plain bytes. */
  #hasIn = false;

  constructor(codec: Codec<T>, { u8, i32 }: Views, room: number) {
    this.#codec = codec;
    this.#u8 = u8;
    this.#i32 = i32;
    this.#room = room;
  }

  encode(value: T): Scratch {
    const scratch = this.#out ?? new Scratch(this.#room);
    // A codec that sends to this channel itself gets another scratch.
    this.#out = undefined;
    const { name } = this.#codec;
    try {
      const length = this.#codec.encode(value, scratch);
      if (!Number.isInteger(length) || length < 0 || length > this.#room)
        throw bad('number', `the length that codec ${name} returns`, `an integer from 0 to ${this.#room}`, length);
      scratch.length = length;
    } finally {
      this.#out = scratch;
    }
    return scratch;
  }

  keep(encoded: Scratch): Uint8Array {
    return encoded.bytes.slice(0, encoded.length);
  }

  put(address: number, encoded: Scratch | Uint8Array): number {
    const { length } = encoded;
    const to = address + PLACE_HEAD;
    if (!(encoded instanceof Scratch)) this.#u8.set(encoded, to);
    else if (length <= FEW) copy(encoded.i32, 0, length, this.#i32, to);
    else this.#u8.set(encoded.bytes.subarray(0, length), to);
    return length;
  }

  get(address: number, length: number): Scratch | Uint8Array {
    const from = address + PLACE_HEAD;
    if (this.#in === undefined && this.#hasIn) return this.#u8.slice(from, from + length);
    const scratch = this.#in ?? new Scratch(this.#room);
    this.#in = undefined;
    this.#hasIn = true;
    if (length <= FEW) copy(this.#i32, from, length, scratch.i32, 0);
    else scratch.bytes.set(this.#u8.subarray(from, from + length));
    scratch.length = length;
    return scratch;
  }

  decode(got: Scratch | Uint8Array): T {
    const scratch = got instanceof Scratch ? got : this.#filled(got);
    try {
      return this.#codec.decode(scratch);
    } finally {
      this.#in = scratch;
    }
  }

  /** Returns the scratch with these bytes. A codec that receives from this channel itself gets another scratch. */
  #filled(bytes: Uint8Array): Scratch {
    const scratch = this.#in ?? new Scratch(this.#room);
    this.#in = undefined;
    scratch.bytes.set(bytes);
    scratch.length = bytes.length;
    return scratch;
  }

  drop(got: Scratch | Uint8Array): void {
    if (got instanceof Scratch) this.#in = got;
  }
}
