/**
 * Both sides of the comparison: small WebAssembly modules put together byte by byte, a call in the runtime, and the
 * same call on the machine.
 */
import { IDLE, type Machine, PENDING, Trap } from '../../src/engine/machine/machine.js';

export type Type = 'i32' | 'i64';
/** Draws a number from 0 to below - 1. */
export type Draw = (below: number) => number;

export const PAGE = 65536;
const TYPES = { i32: 0x7f, i64: 0x7e } as const;
const FUNCTION_TYPE = 0x60;

export interface TestFunction {
  readonly params: readonly Type[];
  readonly result: Type | undefined;
  readonly locals: readonly Type[];
  /** The instructions, with the closing end. */
  readonly body: readonly number[];
}

export function draws(seed: number): Draw {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

export function unsigned(value: number): number[] {
  const bytes = [];
  let rest = value >>> 0;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

export function signed(value: bigint | number): number[] {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    const byte = Number(rest & 0x7fn);
    if (rest >> 6n === 0n || rest >> 6n === -1n) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

const vector = (items: readonly (readonly number[])[]) => [...unsigned(items.length), ...items.flat()];
const section = (id: number, content: readonly number[]) => [id, ...unsigned(content.length), ...content];
const text = (name: string) => [...unsigned(name.length), ...Buffer.from(name)];

/** Assembles a module over a shared memory of one page, which exports functions f0, ... and mutable globals g0, ... */
export function assemble(functions: readonly TestFunction[], globals: readonly Type[] = []): Uint8Array {
  const types = functions.map(({ params, result }) => [
    FUNCTION_TYPE,
    ...vector(params.map((type) => [TYPES[type]])),
    ...vector(result ? [[TYPES[result]]] : []),
  ]);
  const bodies = functions.map(({ locals, body }) => {
    const code = [...vector(locals.map((type) => [1, TYPES[type]])), ...body];
    return [...unsigned(code.length), ...code];
  });
  return Uint8Array.from([
    ...Buffer.from('\0asm\x01\0\0\0', 'latin1'),
    ...section(1, vector(types)),
    ...section(2, vector([[...text('env'), ...text('memory'), 2, 3, 1, 1]])),
    ...section(3, vector(functions.map((_, i) => unsigned(i)))),
    ...section(6, vector(globals.map((type) => [TYPES[type], 1, type === 'i32' ? 0x41 : 0x42, 0, 0x0b]))),
    ...section(
      7,
      vector([
        ...functions.map((_, i) => [...text(`f${i}`), 0, ...unsigned(i)]),
        ...globals.map((_, i) => [...text(`g${i}`), 3, ...unsigned(i)]),
      ]),
    ),
    ...section(10, vector(bodies)),
  ]);
}

export type Value = number | bigint;
/** The outcome of a call: its result, nothing, or a trap. */
export type Outcome = Value | undefined | 'trap';

export function sharedMemory(pages = 1): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/** Globals in the place of those that a module shares with the core. They begin with 0, as on the machine. */
const shared = (): WebAssembly.ModuleImports => {
  const long = () => new WebAssembly.Global({ value: 'i64', mutable: true }, 0n);
  const int = () => new WebAssembly.Global({ value: 'i32', mutable: true }, 0);
  return { ticketTaken: long(), before: long(), late: long(), pending: int(), released: int() };
};

export function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  core: WebAssembly.ModuleImports = shared(),
) {
  return new WebAssembly.Instance(module, { env: { memory }, core }).exports as Record<
    string,
    ((...args: Value[]) => Value | undefined) & WebAssembly.Global
  >;
}

export function callReal(f: (...args: Value[]) => Value | undefined, args: readonly Value[]): Outcome {
  try {
    return f(...args);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return 'trap';
    throw error;
  }
}

const low = (value: bigint) => Number(BigInt.asIntN(32, value));
export const wordsOf = (args: readonly Value[]) =>
  args.flatMap((value) => (typeof value === 'bigint' ? [low(value), low(value >> 32n)] : [value | 0]));

export function resultOf(machine: Machine, t: number, type: Type | undefined): Value | undefined {
  const lo = machine.resultLo(t);
  if (type === undefined) return undefined;
  return type === 'i32' ? lo : (BigInt(machine.resultHi(t)) << 32n) | BigInt(lo >>> 0);
}

/** Calls a function on the machine, with `between` before each step. Returns 'stuck' if it parks or takes too long. */
export function callMachine(
  machine: Machine,
  t: number,
  index: number,
  args: readonly Value[],
  type: Type | undefined,
  between: () => void = () => {},
): Outcome | 'stuck' {
  try {
    machine.call(t, index, ...wordsOf(args));
    for (let steps = 0; ; steps++) {
      if (steps === 20_000) return 'stuck';
      if (machine.status(t) === PENDING) {
        between();
        machine.step(t);
      } else if (machine.canTimeOut(t)) machine.timeOut(t);
      else break;
    }
  } catch (error) {
    if (error instanceof Trap) return 'trap';
    throw error;
  }
  return machine.status(t) === IDLE ? resultOf(machine, t, type) : 'stuck';
}

/** Compares two memories as Buffers: comparing them word by word would take most of the time. */
export function sameWords(a: Int32Array, b: Int32Array): boolean {
  const [left, right] = [a, b].map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength),
  ) as [Buffer, Buffer];
  return left.equals(right);
}

/** Returns everything about the machine that a test can compare. */
export function picture(machine: Machine) {
  const threads = Array.from({ length: machine.threads }, (_, t) => {
    machine.threadHash(t);
    const pending = machine.status(t) === PENDING ? machine.describe(t) : undefined;
    return [machine.status(t), machine.hashLo, machine.hashHi, machine.frames(t), pending];
  });
  return { words: [...machine.words], hashes: [machine.memoryHashLo, machine.memoryHashHi], threads };
}
