/**
 * Decodes the binary format: bytes to types, globals, functions and their instructions. The decoder knows what a core
 * of integers and threads needs: one imported shared memory, no tables, no data, no floats. An imported global counts
 * as a global of the module that begins with 0. If the decoder meets anything else, it throws an error that says what
 * is unknown and where. So the search never runs a module of which a part was left out.
 */
import {
  ACCESSES,
  ATOMIC,
  ATOMIC_FENCE,
  BLOCK,
  BR,
  BR_IF,
  BR_TABLE,
  CALL,
  END,
  GLOBAL_GET,
  GLOBAL_SET,
  I32_CONST,
  I64_CONST,
  IF,
  isKnown,
  LOCAL_GET,
  LOCAL_SET,
  LOCAL_TEE,
  LOOP,
  MEMORY_SIZE,
  nameOf,
  type ValueType,
} from './opcodes.js';

export interface FunctionType {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
}

/**
 * An instruction. The meaning of the operands `a` and `b` depends on `op`:
 *
 * | op                             | a                          | b        |
 * |--------------------------------|----------------------------|----------|
 * | block, loop, if                | words of the result: 0 to 2 |          |
 * | br, br_if, local, global, call | index                      |          |
 * | br_table                       | index of the default       |          |
 * | i32.const                      | value                      |          |
 * | i64.const                      | low word                   | high word |
 * | access to memory               | alignment, as an exponent  | offset   |
 */
export interface Instruction {
  readonly op: number;
  /** The offset in the file. */
  readonly offset: number;
  readonly a: number;
  readonly b: number;
  /** The labels of a br_table, without the default. */
  readonly labels?: readonly number[];
}

export interface WasmFunction {
  readonly name: string;
  readonly type: FunctionType;
  /** The types of the locals, without the parameters. */
  readonly locals: readonly ValueType[];
  /** The instructions, with the `end` that closes the function. */
  readonly body: readonly Instruction[];
}

export interface WasmGlobal {
  readonly name: string;
  readonly type: ValueType;
  readonly lo: number;
  readonly hi: number;
  readonly isImported?: boolean;
}

export interface WasmModule {
  readonly functions: readonly WasmFunction[];
  readonly globals: readonly WasmGlobal[];
  /** The indices of exported functions, by name. */
  readonly exports: ReadonlyMap<string, number>;
  /** The index of the start function, if there is one. */
  readonly start: number | undefined;
}

const TYPE = 1;
const IMPORT = 2;
const FUNCTION = 3;
const GLOBAL = 6;
const EXPORT = 7;
const START = 8;
const CODE = 10;
const DATA_COUNT = 12;
const CUSTOM = 0;

const MEMORY_KIND = 2;
const GLOBAL_KIND = 3;
const FUNCTION_KIND = 0;
const SHARED_WITH_MAXIMUM = 3;
const EMPTY_BLOCK = 0x40;
const FUNCTION_NAMES = 1;

class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    if (this.at >= this.bytes.length) throw new Error(`the module ends at ${this.at}, within something`);
    return this.bytes[this.at++];
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  /** Reads a signed number of up to 64 bits, as the low word and the high one. */
  signed(): [lo: number, hi: number] {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      const bits = Number(shift) + 7;
      const whole = BigInt.asIntN(bits, value);
      return [Number(BigInt.asIntN(32, whole)), Number(BigInt.asIntN(32, whole >> 32n))];
    }
  }

  text(): string {
    const length = this.u32();
    this.at += length;
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }

  list<T>(item: (index: number) => T): T[] {
    return Array.from({ length: this.u32() }, (_, index) => item(index));
  }

  expect(what: string, ...allowed: number[]): number {
    const at = this.at;
    const byte = this.byte();
    if (!allowed.includes(byte)) throw new Error(`${what} 0x${byte.toString(16)} at ${at} is not supported`);
    return byte;
  }

  valueType(): ValueType {
    return this.expect('value type', 0x7e, 0x7f) === 0x7f ? 'i32' : 'i64';
  }
}

/** Returns names in the order of their indices, as the compiler's text format lists them. */
function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name);
}

/** Returns the names in the custom section "name", if the module has one. */
function functionNames(reader: Reader, end: number): Map<number, string> {
  const names = new Map<number, string>();
  while (reader.at < end) {
    const kind = reader.byte();
    const size = reader.u32();
    if (kind === FUNCTION_NAMES) reader.list(() => names.set(reader.u32(), reader.text()));
    else reader.at += size;
  }
  return names;
}

/**
 * Reads a module. An optimised binary has no names. `text` is the same module in the text format of the compiler, which
 * has the names. `rename` turns each of these names into the name that traces show.
 */
export function decode(bytes: Uint8Array, text = '', rename = (name: string): string => name): WasmModule {
  if (new TextDecoder('latin1').decode(bytes.subarray(0, 8)) !== '\0asm\x01\0\0\0')
    throw new Error('not a WebAssembly module');
  const reader = new Reader(bytes, 8);
  const globalNames = namesIn(text, /^ (?:\(import \S+ \S+ )?\(global \$(\S+)/gm).map(rename);
  const textNames = namesIn(text, /^ \(func \$(\S+)/gm).map(rename);
  let names = new Map(textNames.entries());
  let types: FunctionType[] = [];
  let declared: FunctionType[] = [];
  const globals: WasmGlobal[] = [];
  const nextGlobal = (otherwise = `g${globals.length}`): string => globalNames[globals.length] ?? otherwise;
  let bodies: Pick<WasmFunction, 'locals' | 'body'>[] = [];
  let start: number | undefined;
  const exports = new Map<string, number>();
  while (reader.at < bytes.length) {
    const section = reader.byte();
    const size = reader.u32();
    const end = reader.at + size;
    if (section === TYPE) types = reader.list(() => readType(reader));
    else if (section === IMPORT)
      reader.list(() =>
        readImport(reader, (name, type) => {
          globals.push({ name: nextGlobal(name), type, lo: 0, hi: 0, isImported: true });
        }),
      );
    else if (section === FUNCTION) declared = reader.list(() => types[reader.u32()]);
    else if (section === GLOBAL) reader.list(() => globals.push(readGlobal(reader, nextGlobal())));
    else if (section === EXPORT) {
      reader.list(() => {
        const name = reader.text();
        const kind = reader.byte();
        const index = reader.u32();
        if (kind === FUNCTION_KIND) exports.set(name, index);
      });
    } else if (section === START) start = reader.u32();
    else if (section === CODE) {
      bodies = reader.list((i) => readBody(reader, names.get(i) ?? `f${i}`));
    } else if (section === CUSTOM && reader.text() === 'name') names = functionNames(reader, end);
    else if (section !== CUSTOM && section !== DATA_COUNT)
      throw new Error(`section ${section} at ${reader.at} is not supported`);
    reader.at = end;
  }
  if (textNames.length && textNames.length !== bodies.length)
    throw new Error(`the text has ${textNames.length} functions, the module ${bodies.length}`);
  const exported = new Map([...exports].map(([name, index]) => [index, name]));
  const functions = bodies.map((body, i) => ({
    ...body,
    name: names.get(i) ?? exported.get(i) ?? `f${i}`,
    type: declared[i],
  }));
  return { functions, globals, exports, start };
}

function readType(reader: Reader): FunctionType {
  reader.expect('type', 0x60);
  const params = reader.list(() => reader.valueType());
  const results = reader.list(() => reader.valueType());
  if (results.length > 1) throw new Error('functions with several results are not supported');
  return { params, results };
}

function readImport(reader: Reader, global: (name: string, type: ValueType) => void): void {
  const name = `${reader.text()}/${reader.text()}`;
  const kind = reader.byte();
  if (kind === GLOBAL_KIND) {
    global(name, reader.valueType());
    reader.byte();
    return;
  }
  if (kind !== MEMORY_KIND || reader.byte() !== SHARED_WITH_MAXIMUM)
    throw new Error(`import ${name} is not supported: only a shared memory and globals are`);
  reader.u32();
  reader.u32();
}

function readGlobal(reader: Reader, name: string): WasmGlobal {
  const type = reader.valueType();
  reader.byte();
  reader.expect('initial value: opcode', I32_CONST, I64_CONST);
  const [lo, hi] = reader.signed();
  reader.expect('initial value: opcode', END);
  return { name, type, lo, hi: type === 'i64' ? hi : 0 };
}

function readBody(reader: Reader, name: string): Pick<WasmFunction, 'locals' | 'body'> {
  const size = reader.u32();
  const end = reader.at + size;
  const locals = reader.list(() => new Array<ValueType>(reader.u32()).fill(reader.valueType())).flat();
  const body: Instruction[] = [];
  while (reader.at < end) body.push(readInstruction(reader, name));
  return { locals, body };
}

function readInstruction(reader: Reader, name: string): Instruction {
  const offset = reader.at;
  let op = reader.byte();
  if (op === 0xfc || op === 0xfd || op === ATOMIC) op = (op << 8) | reader.u32();
  if (!isKnown(op)) throw new Error(`${nameOf(op)} in ${name} at ${offset} is not supported`);
  const instruction = { op, offset, a: 0, b: 0 };
  if (ACCESSES.has(op)) return { ...instruction, a: reader.u32(), b: reader.u32() };
  switch (op) {
    case BLOCK:
    case LOOP:
    case IF: {
      const type = reader.expect('block type', EMPTY_BLOCK, 0x7e, 0x7f);
      return { ...instruction, a: [EMPTY_BLOCK, 0x7f, 0x7e].indexOf(type) };
    }
    case BR:
    case BR_IF:
    case CALL:
    case LOCAL_GET:
    case LOCAL_SET:
    case LOCAL_TEE:
    case GLOBAL_GET:
    case GLOBAL_SET:
      return { ...instruction, a: reader.u32() };
    case BR_TABLE: {
      const labels = reader.list(() => reader.u32());
      return { ...instruction, labels, a: reader.u32() };
    }
    case I32_CONST:
      return { ...instruction, a: reader.signed()[0] };
    case I64_CONST: {
      const [a, b] = reader.signed();
      return { ...instruction, a, b };
    }
    case MEMORY_SIZE:
    case ATOMIC_FENCE:
      reader.byte();
      return instruction;
    default:
      return instruction;
  }
}
