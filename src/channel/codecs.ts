/** The codecs that read and write the place of a message itself: numbers and bytes. */
import { PLACE_HEAD } from '../border/numbers.js';
import { badType, checkInteger } from '../runtime/errors.js';
import { type Codec, type Direct, direct, OTHER_CODEC, tooLong, type Views, type Wire } from './codec.js';

const NUMBER = 8;

function checkNumber(value: unknown): void {
  if (typeof value !== 'number') throw badType('the message', 'a number', value, OTHER_CODEC);
}

/**
 * A codec of one number for each message: any number of JavaScript, as 8 bytes. It is the fastest codec.
 * @example const ticks = new Channel({ codec: number });
 * @since 0.3.0
 */
export const number: Codec<number> = {
  name: 'number',
  encode(value, { f64 }) {
    checkNumber(value);
    f64[0] = value;
    return NUMBER;
  },
  decode: ({ f64 }) => f64[0] as number,
  [direct]: ({ f64 }: Views): Wire<number> => ({
    isNumber: true,
    encode(value) {
      checkNumber(value);
      return value;
    },
    keep: (encoded) => encoded,
    put(address, encoded) {
      f64[(address + PLACE_HEAD) / NUMBER] = encoded as number;
      return NUMBER;
    },
    get: (address) => f64[(address + PLACE_HEAD) / NUMBER],
    decode: (got) => got as number,
  }),
} as Direct<number>;

const typed = Object.getPrototypeOf(Uint8Array.prototype);
const getter = (name: string): ((this: unknown) => unknown) =>
  Object.getOwnPropertyDescriptor(typed, name)?.get as () => unknown;
const tagOf = getter(Symbol.toStringTag as unknown as string);
const lengthOf = getter('length') as (this: unknown) => number;
const offsetOf = getter('byteOffset') as (this: unknown) => number;
const bufferOf = getter('buffer') as (this: unknown) => ArrayBufferLike;

/**
 * Checks that a value is a typed array of this class, of whatever realm. Reads the array itself, since its properties may
 * tell something else.
 */
function checkArray<A extends Uint8Array | Float64Array>(tag: string, what: string, value: A): A {
  if (tagOf.call(value) !== tag) throw badType('the message', what, value, OTHER_CODEC);
  return value;
}

/**
 * So few bytes are copied by a loop. It is as fast as `set`, and needs no buffer: an engine may keep a small array
 * without one until somebody asks for it, and then takes 0.3 microseconds to make it.
 */
const FEW_BYTES = 32;
const FEW_NUMBERS = FEW_BYTES / NUMBER;

/** Copies the first `count` items of an array, also if another thread makes the buffer of the array larger meanwhile. */
function copy<A extends Uint8Array | Float64Array>(from: A, count: number, to: A, at: number): void {
  const buffer = bufferOf.call(from) as ArrayBufferLike & { readonly growable?: boolean };
  // Not `subarray`, which may run code of the user.
  const Kind = (to instanceof Float64Array ? Float64Array : Uint8Array) as unknown as new (...from: unknown[]) => A;
  to.set(buffer.growable === true ? new Kind(buffer, offsetOf.call(from), count) : from, at);
}

/** Copies the first `count` numbers of an array. */
function copyNumbers(from: Float64Array, count: number, to: Float64Array, at: number): void {
  if (count > FEW_NUMBERS) copy(from, count, to, at);
  else for (let i = 0; i < count; i++) to[at + i] = from[i] as number;
}

/** Copies the first `count` bytes of an array to an address, which is a multiple of 4. */
function copyBytes(from: Uint8Array, count: number, u8: Uint8Array, i32: Int32Array, address: number): void {
  if (count > FEW_BYTES) {
    copy(from, count, u8, address);
    return;
  }
  // Four bytes at once take half the time of one byte after the other. The words are little-endian, as in every module.
  let i = 0;
  for (; i + 4 <= count; i += 4)
    i32[(address + i) >>> 2] =
      (from[i] as number) |
      ((from[i + 1] as number) << 8) |
      ((from[i + 2] as number) << 16) |
      ((from[i + 3] as number) << 24);
  for (; i < count; i++) u8[address + i] = from[i] as number;
}

/**
 * A codec of `count` numbers for each message. A `Float64Array` of this length goes in, and a new one comes out. Never
 * blocks.
 * @param count how many, 1 to 2,097,152.
 * @throws {RangeError | TypeError} for a bad number.
 * @example const blocks = new Channel({ codec: numbers(128), bytes: 1024 });
 * @since 0.3.0
 */
export function numbers(count: number): Codec<Float64Array> {
  const MOST = 2 ** 21;
  checkInteger('numbers: count', count, 1, MOST);
  const check = (value: Float64Array): Float64Array => {
    const array = checkArray('Float64Array', `a Float64Array of ${count} numbers`, value);
    if (lengthOf.call(array) !== count)
      throw new RangeError(`the message must have ${count} numbers, got ${lengthOf.call(array)}`);
    return array;
  };
  const bytes = count * NUMBER;
  return {
    name: `numbers(${count})`,
    encode(value, { f64, room }) {
      if (bytes > room) throw tooLong(bytes, room);
      f64.set(check(value));
      return bytes;
    },
    decode: ({ f64 }) => f64.slice(0, count),
    [direct]: ({ f64 }: Views, room: number): Wire<Float64Array> => ({
      isNumber: false,
      encode(value) {
        if (bytes > room) throw tooLong(bytes, room);
        return check(value);
      },
      keep(encoded) {
        const copied = new Float64Array(count);
        copyNumbers(encoded as Float64Array, count, copied, 0);
        return copied;
      },
      put(address, encoded) {
        copyNumbers(encoded as Float64Array, count, f64, (address + PLACE_HEAD) / NUMBER);
        return bytes;
      },
      // An array that is made of another one is not filled with zeros first.
      get: (address) => new Float64Array(new Float64Array(f64.buffer, address + PLACE_HEAD, count)),
      decode: (got) => got as Float64Array,
    }),
  } as Direct<Float64Array>;
}

const isBytes = (value: Uint8Array): Uint8Array => checkArray('Uint8Array', 'a Uint8Array', value);

/**
 * A codec of bytes, the default. A `Uint8Array` goes in, such as a `Buffer`, and a new `Uint8Array` comes out. Messages
 * may have any length up to the channel's `bytes`, 0 included.
 * @example const frames = new Channel({ codec: bytes, bytes: 65536 });
 * @since 0.3.0
 */
export const bytes: Codec<Uint8Array> = {
  name: 'bytes',
  encode(value, { bytes, room }) {
    const array = isBytes(value);
    const length = lengthOf.call(array);
    if (length > room) throw tooLong(length, room);
    bytes.set(array);
    return length;
  },
  decode: ({ bytes, length }) => bytes.slice(0, length),
  [direct]: ({ u8, i32 }: Views, room: number): Wire<Uint8Array> => ({
    isNumber: false,
    encode(value) {
      const array = isBytes(value);
      const length = lengthOf.call(array);
      if (length > room) throw tooLong(length, room);
      return array;
    },
    keep(encoded) {
      const length = lengthOf.call(encoded);
      const copied = new Uint8Array(length);
      copy(encoded as Uint8Array, length, copied, 0);
      return copied;
    },
    put(address, encoded) {
      const length = Math.min(lengthOf.call(encoded), room);
      copyBytes(encoded as Uint8Array, length, u8, i32, address + PLACE_HEAD);
      return length;
    },
    // An array that is made of another one is not filled with zeros first.
    get: (address, length) => new Uint8Array(new Uint8Array(u8.buffer, address + PLACE_HEAD, length)),
    decode: (got) => got as Uint8Array,
  }),
} as Direct<Uint8Array>;
