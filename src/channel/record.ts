/** The codec of objects with fixed fields. */
import { bad, badType, checkType } from '../runtime/errors.js';
import { type Codec, tooLong } from './codec.js';
import { readText, TOO_LONG, writeText } from './text.js';

/** The type of a field of `record`: a number, a bigint, a boolean, or a text of so many bytes of UTF-8 at most. */
export type Field =
  | 'u8'
  | 'i8'
  | 'u16'
  | 'i16'
  | 'u32'
  | 'i32'
  | 'f32'
  | 'f64'
  | 'i64'
  | 'u64'
  | 'bool'
  | `text${number}`;

/** The fields of a `record`, by their names. */
export type Fields = Readonly<Record<string, Field>>;

/** The objects of a `record`. */
export type RecordOf<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends `text${number}`
    ? string
    : F[K] extends 'bool'
      ? boolean
      : F[K] extends 'i64' | 'u64'
        ? bigint
        : number;
};

interface Accessor {
  readonly size: number;
  /** `bytes` are those of the view. */
  write(view: DataView, at: number, value: never, bytes: Uint8Array): void;
  read(view: DataView, at: number, bytes: Uint8Array): unknown;
}

/** Checks that a number is in the range of its field, so that none is changed silently. */
function whole(size: number, least: number, most: number, set: keyof DataView, get: keyof DataView): Accessor {
  return {
    size,
    write(view, at, value: number) {
      if (!Number.isInteger(value) || value < least || value > most)
        throw bad('number', '', `an integer from ${least} to ${most}`, value);
      (view[set] as (at: number, value: number, little: boolean) => void)(at, value, true);
    },
    read: (view, at) => (view[get] as (at: number, little: boolean) => number)(at, true),
  };
}

const big = (
  least: bigint,
  most: bigint,
  set: 'setBigInt64' | 'setBigUint64',
  get: 'getBigInt64' | 'getBigUint64',
) => ({
  size: 8,
  write(view: DataView, at: number, value: bigint) {
    if (typeof value !== 'bigint' || value < least || value > most)
      throw bad('bigint', '', `a bigint from ${least} to ${most}`, value);
    view[set](at, value, true);
  },
  read: (view: DataView, at: number) => view[get](at, true),
});

const float = (size: 4 | 8): Accessor => ({
  size,
  write(view, at, value: number) {
    if (typeof value !== 'number') throw badType('', 'a number', value);
    if (size === 4 && Math.abs(value) !== Infinity && Math.abs(Math.fround(value)) === Infinity)
      throw bad('number', '', 'a number of at most 3.4028234663852886e38, Infinity or NaN', value);
    if (size === 4) view.setFloat32(at, value, true);
    else view.setFloat64(at, value, true);
  },
  read: (view, at) => (size === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true)),
});

const ACCESSORS: Readonly<Record<string, () => Accessor>> = {
  u8: () => whole(1, 0, 2 ** 8 - 1, 'setUint8', 'getUint8'),
  i8: () => whole(1, -(2 ** 7), 2 ** 7 - 1, 'setInt8', 'getInt8'),
  u16: () => whole(2, 0, 2 ** 16 - 1, 'setUint16', 'getUint16'),
  i16: () => whole(2, -(2 ** 15), 2 ** 15 - 1, 'setInt16', 'getInt16'),
  u32: () => whole(4, 0, 2 ** 32 - 1, 'setUint32', 'getUint32'),
  i32: () => whole(4, -(2 ** 31), 2 ** 31 - 1, 'setInt32', 'getInt32'),
  f32: () => float(4),
  f64: () => float(8),
  i64: () => big(-(2n ** 63n), 2n ** 63n - 1n, 'setBigInt64', 'getBigInt64') as Accessor,
  u64: () => big(0n, 2n ** 64n - 1n, 'setBigUint64', 'getBigUint64') as Accessor,
  bool: () => ({
    size: 1,
    write(view, at, value: boolean) {
      if (typeof value !== 'boolean') throw badType('', 'true or false', value);
      view.setUint8(at, Number(value));
    },
    read: (view, at) => view.getUint8(at) !== 0,
  }),
};
const MOST_TEXT = 65535;

/** A text has its length in two bytes before it. */
function ofText(room: number): Accessor {
  return {
    size: room + 2,
    write(view, at, value: string, bytes) {
      if (typeof value !== 'string') throw badType('', `a string of at most ${room} bytes of UTF-8`, value);
      const from = at + 2;
      const end = writeText(value, bytes, from, from + room);
      if (end === TOO_LONG) throw bad('string', '', `a string of at most ${room} bytes of UTF-8`, value);
      view.setUint16(at, end - from, true);
    },
    read: (view, at, bytes) => readText(bytes, at + 2, at + 2 + view.getUint16(at, true)),
  };
}

function accessorOf(name: string, type: Field): Accessor {
  const made = Object.hasOwn(ACCESSORS, type) ? ACCESSORS[type]?.() : undefined;
  if (made !== undefined) return made;
  const [, digits] = /^text([1-9]\d{0,4})$/.exec(type) ?? [];
  const room = Number(digits);
  if (room <= MOST_TEXT) return ofText(room);
  throw bad(
    'string',
    `record: ${name}`,
    `one of ${Object.keys(ACCESSORS).join(', ')}, or text and 1 to ${MOST_TEXT}`,
    type,
  );
}

/**
 * A codec of objects with the same fields each time. It takes a part of the time that `json` takes, and each message has
 * the same length. An object of another class, or with more properties, may be sent. The receiver gets a plain object
 * with these fields. Never blocks.
 * @param fields the type of each field.
 * @throws {TypeError | RangeError} for bad fields. `send` throws the same for a bad value, and names its field.
 * @example const orders = new Channel({ codec: record({ id: 'u32', price: 'f64', by: 'text20' }) });
 * @since 0.3.0
 */
export function record<const F extends Fields>(fields: F): Codec<RecordOf<F>> {
  if (Array.isArray(fields)) throw badType('record: fields', 'an object of names and types', fields);
  checkType('record: fields', fields, 'object', 'an object of names and types');
  let length = 0;
  const all = Object.entries(fields).map(([name, type]) => {
    const accessor = accessorOf(name, type);
    const at = length;
    length += accessor.size;
    return { name, at, accessor };
  });
  if (all.length === 0) throw badType('record: fields', 'at least one field', fields);
  return {
    name: `record ${JSON.stringify(fields)}`,
    encode(value, { view, bytes, room }) {
      checkType('the message', value, 'object', 'an object');
      if (length > room) throw tooLong(length, room);
      for (const { name, at, accessor } of all) {
        // A getter of the user may run here, and throw what it likes.
        const field = value[name];
        try {
          accessor.write(view, at, field as never, bytes);
        } catch (error) {
          // The error of a bad value, which does not know its field.
          (error as Error).message = `the message: ${name}${(error as Error).message}`;
          throw error;
        }
      }
      return length;
    },
    decode({ view, bytes }) {
      const value: Record<string, unknown> = {};
      for (const { name, at, accessor } of all) {
        // A field of this name would set the prototype.
        if (name === '__proto__')
          Object.defineProperty(value, name, { value: accessor.read(view, at, bytes), enumerable: true });
        else value[name] = accessor.read(view, at, bytes);
      }
      return value as RecordOf<F>;
    },
  };
}
