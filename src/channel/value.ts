/**
 * The codec of most values of JavaScript, and of handles of this library, so that a request may carry its reply channel.
 *
 *     message   a tag of one byte for each value, and what follows:
 *               small whole numbers   a zigzag number of 7 bits a byte
 *               other numbers         8 bytes
 *               texts                 how many bytes, and UTF-8
 *               lists, objects        how many, and the values; of an object each key before its value
 *               holes                 how many places of an array follow that have no value
 *               handles               kind, address and generation. The arena is that of the channel
 *
 * The scratch may be too short for a value. Then the rest is not written, but counted: so the error tells how long the
 * message is, and a value that can never travel is told as such, however short the scratch is.
 *
 * A value is read as structuredClone reads it: each property once, in order. Code of the user may run in each read, and
 * may throw what it likes, or change the value meanwhile.
 */

import { badType } from '../runtime/errors.js';
import type { Membership } from '../runtime/membership.js';
import { handleOf } from '../runtime/own-arenas.js';
import { bufferOf, isShared } from '../runtime/requirements.js';
import { type Codec, type Direct, direct, type Into, ScratchWire, tooLong, type Views, type Wire } from './codec.js';
import { lengthOfText, readText, TOO_LONG, writeText } from './text.js';

/** The tag of each kind of value. */
const TAG = {
  undefined: 0,
  null: 1,
  true: 2,
  false: 3,
  whole: 4,
  number: 5,
  bigint: 6,
  string: 7,
  array: 8,
  object: 9,
  map: 10,
  set: 11,
  date: 12,
  regexp: 13,
  error: 14,
  buffer: 15,
  view: 16,
  handle: 17,
  holes: 18,
} as const;
type Tag = (typeof TAG)[keyof typeof TAG];

const ERRORS: Readonly<Record<string, ErrorConstructor>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};
interface Newer {
  readonly Float16Array: typeof Uint16Array;
}
/** The classes of views, by the names that their tags give, and the bytes of an item. */
const VIEWS: Readonly<Record<string, new (buffer: ArrayBuffer, from?: number, length?: number) => ArrayBufferView>> = {
  DataView,
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  // Newer than the oldest runtimes.
  ...('Float16Array' in globalThis ? { Float16Array: (globalThis as unknown as Newer).Float16Array } : {}),
};
/** Values inside one another, at most. Each takes a part of the stack, here and in the receiver. */
const DEEPEST = 200;
/** How far the bytes that do not fit are counted. */
const MOST_COUNTED = 2 ** 20;
/** Whole numbers below this have a short form. */
const SMALL = 2 ** 30;
/** The length of a text of so many characters takes one byte: in UTF-8 each of them has at most three. */
const SHORT = 42;

/** Short texts that have been read lately, each in a place that its bytes give: keys of properties, and others. */
const KEYS: string[] = Array.from({ length: 64 }, () => '');
const TEXTS: string[] = Array.from({ length: 256 }, () => '');
const LONGEST_KEPT = 32;

/** Returns a key as engines have it in their objects: so it need not be looked up each time that it makes a property. */
const asKey = (key: string): string => Object.keys({ [key]: 0 })[0] as string;

/** Whether a text is these bytes. Only a text of ASCII is found. */
function isText(text: string, bytes: Uint8Array, from: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code !== bytes[from + i] || code > 0x7f) return false;
  }
  return true;
}

const getterOf = (Class: { readonly prototype: object }, name: string): (() => unknown) =>
  Object.getOwnPropertyDescriptor(Class.prototype, name)?.get as () => unknown;
/** What throws unless an object is one of this class. An object may have any tag. */
const PROOFS: { readonly [tag: string]: (this: unknown) => unknown } = {
  __proto__: null as never,
  ArrayBuffer: getterOf(ArrayBuffer, 'byteLength'),
  Date: Date.prototype.getTime,
  Map: getterOf(Map, 'size'),
  RegExp: getterOf(RegExp, 'source'),
  Set: getterOf(Set, 'size'),
};

function cannot(value: object): TypeError {
  const instead = 'handle' in value ? 'send its .handle' : 'send a plain object that has what the receiver needs';
  return badType('the message', 'of plain objects and other values that travel', value, instead);
}

/** Whether an object has no class of its own. A plain object of another realm has another prototype. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const nameOf = Object.prototype.toString;

/** Returns the tag of an object, which says what it is; `Object` if the object only claims to be what its tag says. */
function tagOf(value: object): string {
  const name = nameOf.call(value);
  // Most objects have this name.
  if (name === '[object Object]') return 'Object';
  const tag = name.slice(8, -1);
  try {
    PROOFS[tag]?.call(value);
  } catch {
    return 'Object';
  }
  return tag;
}

/** Whether an object is an error, perhaps of another realm. */
const isError = (value: object, tag: string): value is Error =>
  value instanceof Error || (tag === 'Error' && !(Symbol.toStringTag in value));

interface HandleLike {
  readonly kind: string;
  readonly arena: { readonly kind?: unknown; readonly memory?: unknown };
  readonly address: number;
  readonly generation: number;
}

/** Returns an own property that is no getter. */
const dataOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;

/** Whether an object is a handle. Runs no getter, since each is to run once. */
function isHandle(value: object): value is HandleLike {
  return (
    Object.hasOwn(value, 'generation') &&
    typeof dataOf(value, 'generation') === 'number' &&
    typeof dataOf(value, 'address') === 'number' &&
    typeof dataOf(value, 'kind') === 'string' &&
    dataOf(dataOf(value, 'arena'), 'kind') === 'Arena'
  );
}

const eachOfMap = Map.prototype.forEach;
const eachOfSet = Set.prototype.forEach;
const timeOf = Date.prototype.getTime;
const flagsOf = getterOf(RegExp, 'flags');
const sourceOf = PROOFS.RegExp as (this: unknown) => unknown;

/** An object whose values are being written, and the object around it. */
interface Around {
  readonly object: object;
  readonly outer: Around | undefined;
  /** How many objects these are. */
  readonly depth: number;
}

class Writer {
  readonly #membership: Membership | undefined;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #room: number;
  /** The bytes of the message so far. Those beyond the room are not written: a Uint8Array ignores them. */
  at = 0;
  /** The innermost of the objects around the present value. */
  #around: Around | undefined;

  constructor(membership: Membership | undefined, { bytes, view, room }: Into) {
    this.#membership = membership;
    this.#bytes = bytes;
    this.#view = view;
    this.#room = room;
  }

  #byte(byte: number): void {
    this.#bytes[this.at++] = byte;
  }

  #tag(tag: Tag): void {
    this.#byte(tag);
  }

  /** Writes a whole number from 0 on. */
  #count(count: number): void {
    let rest = count;
    for (; rest >= SMALL; rest = Math.floor(rest / 0x80)) this.#byte((rest & 0x7f) | 0x80);
    // Engines shift small numbers faster than they divide.
    for (; rest > 0x7f; rest >>= 7) this.#byte((rest & 0x7f) | 0x80);
    this.#byte(rest);
  }

  #text(text: string): void {
    const { length } = text;
    const { at } = this;
    // Most texts are short, and of ASCII.
    if (length <= SHORT && at + length < this.#room) {
      const bytes = this.#bytes;
      let i = 0;
      for (; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code > 0x7f) break;
        bytes[at + 1 + i] = code;
      }
      if (i === length) {
        bytes[at] = length;
        this.at = at + 1 + length;
        return;
      }
    }
    this.#anyText(text);
  }

  #anyText(text: string): void {
    // The place for the length of a short text is one byte.
    const digits = text.length <= SHORT ? 1 : 4;
    const from = this.at + digits;
    const end = from <= this.#room ? writeText(text, this.#bytes, from) : TOO_LONG;
    if (end === TOO_LONG) {
      this.at = from + lengthOfText(text);
      return;
    }
    const length = end - from;
    // Always so many bytes of 7 bits, so that the text need not move.
    for (let i = 1; i <= digits; i++)
      this.#bytes[from - 1 - digits + i] = ((length >>> (7 * (i - 1))) & 0x7f) | (i < digits ? 0x80 : 0);
    this.at = end;
  }

  #raw(bytes: Uint8Array): void {
    this.#count(bytes.length);
    if (this.at + bytes.length <= this.#room) this.#bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  write(value: unknown): void {
    if (typeof value === 'string') {
      this.#tag(TAG.string);
      this.#text(value);
    } else if (typeof value === 'number') this.#number(value);
    else if (value === undefined) this.#tag(TAG.undefined);
    else if (value === null) this.#tag(TAG.null);
    else if (typeof value === 'boolean') this.#tag(value ? TAG.true : TAG.false);
    else if (typeof value === 'bigint') {
      this.#tag(TAG.bigint);
      this.#text(value.toString(16));
    } else if (typeof value === 'object') this.#inside(value);
    else {
      const instead = 'send a name, and let the receiver look up what it stands for';
      throw badType('the message', 'of values that travel', value, instead);
    }
    if (this.at > this.#room + MOST_COUNTED) throw tooLong(this.at, this.#room, false);
  }

  #inside(value: object): void {
    const outer = this.#around;
    for (let around = outer; around !== undefined; around = around.outer)
      if (around.object === value)
        throw new TypeError('the message: a value that goes round in a circle cannot travel');
    const depth = outer === undefined ? 1 : outer.depth + 1;
    if (depth > DEEPEST)
      throw new TypeError(`the message: values inside one another, more than ${DEEPEST} deep, cannot travel`);
    this.#around = { object: value, outer, depth };
    this.#object(value);
    this.#around = outer;
  }

  #number(value: number): void {
    if ((value | 0) === value && value < SMALL && value > -SMALL && !Object.is(value, -0)) {
      this.#tag(TAG.whole);
      this.#count(value < 0 ? -2 * value - 1 : 2 * value);
    } else {
      this.#tag(TAG.number);
      if (this.at + 8 <= this.#room) this.#view.setFloat64(this.at, value, true);
      this.at += 8;
    }
  }

  #object(value: object): void {
    if (Array.isArray(value)) {
      this.#array(value);
      return;
    }
    // Of all others an error or a view might have this prototype.
    const tag = tagOf(value);
    if (tag === 'Object' && Object.getPrototypeOf(value) === Object.prototype && !ArrayBuffer.isView(value)) {
      this.#plain(value);
      return;
    }
    if (ArrayBuffer.isView(value)) this.#viewOf(value, tag);
    else if (tag === 'ArrayBuffer') {
      this.#tag(TAG.buffer);
      this.#raw(new Uint8Array(value as ArrayBuffer));
    } else if (tag === 'Map') {
      const all: unknown[] = [];
      eachOfMap.call(value as Map<unknown, unknown>, (one, key) => all.push(key, one));
      this.#tag(TAG.map);
      this.#list(all);
    } else if (tag === 'Set') {
      const all: unknown[] = [];
      eachOfSet.call(value as Set<unknown>, (one) => all.push(one));
      this.#tag(TAG.set);
      this.#list(all);
    } else if (tag === 'Date') {
      this.#tag(TAG.date);
      this.#number(timeOf.call(value as Date));
    } else if (tag === 'RegExp') {
      this.#tag(TAG.regexp);
      this.#text(String(sourceOf.call(value)));
      this.#text(String(flagsOf.call(value)));
    } else if (isError(value, tag)) this.#error(value);
    else if (!isPlain(value)) throw cannot(value);
    else this.#plain(value);
  }

  #plain(value: object): void {
    const keys = Object.keys(value);
    if (keys.includes('generation') && isHandle(value)) this.#handle(value, keys);
    else {
      this.#tag(TAG.object);
      this.#properties(value, keys);
    }
  }

  /** Writes a list that is a copy, since a getter of one of its values may change what was copied. */
  #list(values: readonly unknown[]): void {
    this.#count(values.length);
    for (const one of values) this.write(one);
  }

  /** Writes the items of an array. From its first hole on, the items are those that it has keys of. */
  #array(array: readonly unknown[]): void {
    const { length } = array;
    this.#tag(TAG.array);
    this.#count(length);
    for (let i = 0; i < length; i++) {
      const one = array[i];
      if (one === undefined && !Object.hasOwn(array, i)) {
        this.#sparse(array, i, length);
        return;
      }
      this.write(one);
    }
  }

  #sparse(array: readonly unknown[], from: number, length: number): void {
    let done = from;
    // The indices come first, in order, and then the other keys.
    for (const key of Object.keys(array)) {
      const i = Number(key);
      if (!(i < length) || String(i) !== key) break;
      if (i < done) continue;
      const one = array[i];
      // A getter may have taken the item away.
      if (one === undefined && !Object.hasOwn(array, key)) continue;
      this.#holes(i - done);
      this.write(one);
      done = i + 1;
    }
    this.#holes(length - done);
  }

  #holes(count: number): void {
    if (count === 0) return;
    this.#tag(TAG.holes);
    this.#count(count);
  }

  #properties(value: object, keys: readonly string[]): void {
    this.#count(keys.length);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      this.#text(key);
      // The getter of an earlier property may have taken this one away. If its own getter does, its value travels.
      if (!Object.hasOwn(value, key)) this.#holes(1);
      else this.write((value as Record<string, unknown>)[key]);
    }
  }

  #viewOf(view: ArrayBufferView, tag: string): void {
    // A receiver would expect to share the memory.
    const isCopied = {}.toString.call(view.buffer) !== '[object SharedArrayBuffer]';
    if (!Object.hasOwn(VIEWS, tag) || !isCopied) throw badType('the message', 'of values that travel', view);
    this.#tag(TAG.view);
    this.#text(tag);
    this.#raw(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  }

  #error(error: Error): void {
    this.#tag(TAG.error);
    this.#text(String(error.name));
    const { message, stack } = error;
    // An error that was made without a message has none of its own.
    this.write(Object.hasOwn(error, 'message') || message !== '' ? String(message) : undefined);
    this.write(typeof stack === 'string' ? stack : undefined);
    if (Object.hasOwn(error, 'cause')) this.write(error.cause);
    else this.#holes(1);
    if (error instanceof AggregateError) this.write(error.errors);
    else this.#holes(1);
  }

  #handle(handle: HandleLike, keys: readonly string[]): void {
    const membership = this.#membership;
    if (membership === undefined || !isOf(membership, handle.arena.memory))
      throw new TypeError(`the message: the handle of a ${handle.kind} of another arena cannot travel in this channel`);
    this.#tag(TAG.handle);
    this.#text(handle.kind);
    this.#count(handle.address);
    this.#count(handle.generation);
    const own = ['kind', 'arena', 'address', 'generation'];
    this.#properties(
      handle,
      keys.filter((key) => !own.includes(key)),
    );
  }
}

/** Whether a memory is that of the arena of a membership. Each message brings a new memory object of the same memory. */
function isOf({ memory, id }: Membership, other: unknown): boolean {
  if (other === memory) return true;
  const buffer = bufferOf(other);
  const ID = 1;
  return (
    buffer !== undefined &&
    isShared(buffer) &&
    buffer.byteLength >= 16 &&
    Atomics.load(new BigInt64Array(buffer, 0, 2), ID) === id
  );
}

class Reader {
  readonly #membership: Membership | undefined;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;
  #at = 0;

  constructor(membership: Membership | undefined, bytes: Uint8Array, view: DataView, end: number) {
    this.#membership = membership;
    this.#bytes = bytes;
    this.#view = view;
    this.#end = end;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new RangeError('the message is cut off');
    return this.#bytes[this.#at++] as number;
  }

  #count(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    let count = first & 0x7f;
    for (let unit = 0x80; ; unit *= 0x80) {
      const byte = this.#byte();
      count += (byte & 0x7f) * unit;
      if (byte < 0x80) return count;
    }
  }

  /**
   * Reads a text. Messages have the same keys again and again, and often the same short texts. So the latest are kept,
   * since an engine takes longer to make a string than to compare one.
   */
  #text(lately = TEXTS): string {
    const length = this.#count();
    const from = this.#at;
    const to = this.#skip(length);
    const bytes = this.#bytes;
    if (length === 0 || length > LONGEST_KEPT) return readText(bytes, from, to);
    const slot =
      ((bytes[from] as number) * 31 + (bytes[to - 1] as number) * 7 + (bytes[(from + to) >> 1] as number) + length) &
      (lately.length - 1);
    const known = lately[slot] as string;
    if (isText(known, bytes, from, length)) return known;
    const text = readText(bytes, from, to);
    lately[slot] = lately === KEYS ? asKey(text) : text;
    return text;
  }

  /** Goes over holes, if holes are what comes next. Returns how many. */
  #holes(): number {
    if (this.#at >= this.#end || this.#bytes[this.#at] !== TAG.holes) return 0;
    this.#at++;
    return this.#count();
  }

  /** Goes over so many bytes, and returns where they end. */
  #skip(length: number): number {
    if (this.#at + length > this.#end) throw new RangeError('the message is cut off');
    this.#at += length;
    return this.#at;
  }

  #raw(): ArrayBuffer {
    const length = this.#count();
    const from = this.#at;
    return this.#bytes.slice(from, this.#skip(length)).buffer as ArrayBuffer;
  }

  read(): unknown {
    switch (this.#byte()) {
      case TAG.undefined:
        return undefined;
      case TAG.null:
        return null;
      case TAG.true:
        return true;
      case TAG.false:
        return false;
      case TAG.whole: {
        const count = this.#count();
        return count % 2 === 0 ? count / 2 : -(count + 1) / 2;
      }
      case TAG.number: {
        const from = this.#at;
        this.#skip(8);
        return this.#view.getFloat64(from, true);
      }
      case TAG.bigint:
        return bigintOf(this.#text());
      case TAG.string:
        return this.#text();
      case TAG.array:
        return this.#array(this.#count());
      case TAG.object:
        return this.#properties({});
      case TAG.map: {
        const map = new Map();
        for (let left = this.#count(); left > 0; left -= 2) map.set(this.read(), this.read());
        return map;
      }
      case TAG.set:
        return new Set(this.#list(this.#count()));
      case TAG.date:
        return new Date(this.read() as number);
      case TAG.regexp: {
        const source = this.#text();
        return new RegExp(source, this.#text());
      }
      case TAG.error:
        return this.#error();
      case TAG.buffer:
        return this.#raw();
      case TAG.view: {
        const View = VIEWS[this.#text()] as (typeof VIEWS)[string];
        return new View(this.#raw());
      }
      case TAG.handle:
        return this.#handle();
      default:
        throw new RangeError('the message has no such tag');
    }
  }

  #list(count: number): unknown[] {
    const list: unknown[] = [];
    for (let left = count; left > 0; left--) list.push(this.read());
    return list;
  }

  #array(count: number): unknown[] {
    const array: unknown[] = [];
    while (array.length < count) {
      const holes = this.#holes();
      if (holes > 0) array.length += holes;
      else array.push(this.read());
    }
    return array;
  }

  #properties(object: Record<string, unknown>): Record<string, unknown> {
    for (let left = this.#count(); left > 0; left--) {
      const key = this.#text(KEYS);
      if (this.#holes() > 0) continue;
      const one = this.read();
      if (key !== '__proto__') object[key] = one;
      else Object.defineProperty(object, key, { value: one, enumerable: true, writable: true, configurable: true });
    }
    return object;
  }

  #error(): Error {
    const name = this.#text();
    const message = this.read() as string | undefined;
    const stack = this.read();
    const Class = Object.hasOwn(ERRORS, name) ? (ERRORS[name] as ErrorConstructor) : Error;
    const error = name === 'AggregateError' ? new AggregateError([], message) : new Class(message);
    const set = (key: string, value: unknown): void => {
      Object.defineProperty(error, key, { value, writable: true, configurable: true });
    };
    if (error.name !== name) set('name', name);
    set('stack', stack);
    if (this.#holes() === 0) set('cause', this.read());
    if (this.#holes() === 0) set('errors', this.read());
    return error;
  }

  #handle(): object {
    const membership = this.#membership;
    if (membership === undefined) throw new TypeError('a handle travels in a channel alone');
    const [kind, address, generation] = [this.#text(), this.#count(), this.#count()];
    return this.#properties({ kind, arena: handleOf(membership), address, generation });
  }
}

function bigintOf(text: string): bigint {
  return text.startsWith('-') ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`);
}

/** The codec for the channels of one membership; without it, for the bytes alone. */
function codecOf(membership?: Membership): Codec<unknown> {
  return {
    name: 'value',
    encode(value, into) {
      const writer = new Writer(membership, into);
      writer.write(value);
      if (writer.at > into.room) throw tooLong(writer.at, into.room);
      return writer.at;
    },
    decode: ({ bytes, view, length }) => new Reader(membership, bytes, view, length).read(),
  };
}

/**
 * A codec of most values: undefined, null, booleans, numbers, bigints, strings, arrays, plain objects, Map, Set, Date,
 * RegExp, errors, ArrayBuffer and its views. Handles of the objects of this library travel too, if they are in the
 * arena of the channel: so a request may carry the handle of its reply channel. Values are copied, as by
 * `structuredClone`: also holes of arrays, and each getter runs once. But an object that occurs twice becomes two, and
 * a circle is a TypeError, as is a function, a symbol, a port, shared memory, a view of it, or an object of a class of
 * your own. docs/channels.md lists all differences. An error of a getter leaves `send` as it is; a value that is too
 * long is a RangeError that tells its bytes. Its messages are `unknown` to TypeScript: `value as Codec<Job>` says more.
 * @example const requests = new Channel({ codec: value, bytes: 1000 });
 * @since 0.3.0
 */
export const value: Codec<unknown> = {
  ...codecOf(),
  [direct]: (views: Views, room: number, membership: Membership): Wire<unknown> =>
    new ScratchWire(codecOf(membership), views, room),
} as Direct<unknown>;
