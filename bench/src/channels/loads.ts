// What travels in `bench channels`.

export interface Load {
  /** As the tables name it. */
  readonly name: string;
  /** The bytes of a message, for the options of channels. */
  readonly bytes: number;
  /** Returns message i. */
  make(i: number): unknown;
  /** Throws if this is not such a message. A receiver checks its first one. */
  check(message: unknown): void;
}

const KILOBYTE = 1024;
export const LARGE = 64 * KILOBYTE;
/** A program that touches memory touches each line of so many bytes. */
const LINE = 64;

function fail(expected: string, message: unknown): never {
  throw new Error(`a receiver got ${typeof message} ${String(message).slice(0, 40)}, and not ${expected}`);
}

function bytesOf(name: string, size: number): Load {
  const bytes = new Uint8Array(size).fill(1);
  return {
    name,
    bytes: size,
    make: () => bytes,
    check(message) {
      if (!(message instanceof Uint8Array) || message.length !== size || message[size - 1] !== 1) fail(name, message);
    },
  };
}

/** Writes to each line. */
export function write(bytes: Uint8Array, value: number): Uint8Array {
  for (let i = 0; i < bytes.length; i += LINE) bytes[i] = value;
  return bytes;
}

/** Reads each line. Returns the sum. */
export function read(bytes: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += LINE) sum += bytes[i] as number;
  return sum;
}

/** A receiver leaves here what it has computed, so that no engine drops the work. */
export const sink = { value: 0 };

export interface Item {
  id: number;
  name: string;
  price: number;
  on: boolean;
  by: string;
}

export const LOADS = {
  number: {
    name: 'a number',
    bytes: 8,
    make: (i) => i,
    check(message) {
      if (typeof message !== 'number') fail('a number', message);
    },
  },
  small: bytesOf('16 bytes', 16),
  kilobyte: bytesOf('1 KB', KILOBYTE),
  large: bytesOf('64 KB', LARGE),
  touched: { ...bytesOf('64 KB, each line touched on both sides', LARGE), check: () => {} },
  object: {
    name: 'an object of five fields',
    bytes: 100,
    make: (i): Item => ({ id: i, name: 'a name', price: 12.5, on: true, by: 'somebody' }),
    check(message) {
      const { id, name, price, on, by } = message as Item;
      if (typeof id !== 'number' || `${name}${price}${on}${by}` !== 'a name12.5truesomebody') fail('an item', message);
    },
  },
} satisfies Record<string, Load>;

export type LoadName = keyof typeof LOADS;
