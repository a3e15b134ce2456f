/**
 * The instructions of WebAssembly that the machine knows: integers, control, memory and threads. Opcodes are those of
 * the binary format; an opcode with the prefix 0xfe is 0xfe00 | the byte after the prefix.
 *
 * The `shape` of a numeric instruction is its signature, result first: `l` is an i64, `i` an i32.
 */

export type ValueType = 'i32' | 'i64';

export const UNREACHABLE = 0x00;
export const NOP = 0x01;
export const BLOCK = 0x02;
export const LOOP = 0x03;
export const IF = 0x04;
export const ELSE = 0x05;
export const END = 0x0b;
export const BR = 0x0c;
export const BR_IF = 0x0d;
export const BR_TABLE = 0x0e;
export const RETURN = 0x0f;
export const CALL = 0x10;
export const DROP = 0x1a;
export const SELECT = 0x1b;
export const LOCAL_GET = 0x20;
export const LOCAL_SET = 0x21;
export const LOCAL_TEE = 0x22;
export const GLOBAL_GET = 0x23;
export const GLOBAL_SET = 0x24;
export const MEMORY_SIZE = 0x3f;
export const I32_CONST = 0x41;
export const I64_CONST = 0x42;
export const I32_EQZ = 0x45;
export const I32_WRAP_I64 = 0xa7;
export const ATOMIC = 0xfe;
export const ATOMIC_FENCE = 0xfe03;

const CONTROL: Readonly<Record<number, string>> = {
  [UNREACHABLE]: 'unreachable',
  [NOP]: 'nop',
  [BLOCK]: 'block',
  [LOOP]: 'loop',
  [IF]: 'if',
  [ELSE]: 'else',
  [END]: 'end',
  [BR]: 'br',
  [BR_IF]: 'br_if',
  [BR_TABLE]: 'br_table',
  [RETURN]: 'return',
  [CALL]: 'call',
  [DROP]: 'drop',
  [SELECT]: 'select',
  [LOCAL_GET]: 'local.get',
  [LOCAL_SET]: 'local.set',
  [LOCAL_TEE]: 'local.tee',
  [GLOBAL_GET]: 'global.get',
  [GLOBAL_SET]: 'global.set',
  [MEMORY_SIZE]: 'memory.size',
  [I32_CONST]: 'i32.const',
  [I64_CONST]: 'i64.const',
  [ATOMIC_FENCE]: 'atomic.fence',
};

export interface Numeric {
  readonly name: string;
  readonly shape: string;
}

const COMPARISONS = ['eqz', 'eq', 'ne', 'lt_s', 'lt_u', 'gt_s', 'gt_u', 'le_s', 'le_u', 'ge_s', 'ge_u'];
const ARITHMETIC = 'clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr'.split(' ');
const UNARY = new Set(['eqz', 'clz', 'ctz', 'popcnt']);

export const NUMERIC: ReadonlyMap<number, Numeric> = new Map(
  (function* (): Generator<[number, Numeric]> {
    for (const [type, letter, compare, compute] of [
      ['i32', 'i', 0x45, 0x67],
      ['i64', 'l', 0x50, 0x79],
    ] as const) {
      const operands = (name: string) => (UNARY.has(name) ? letter : letter + letter);
      for (const [i, name] of COMPARISONS.entries())
        yield [compare + i, { name: `${type}.${name}`, shape: `i${operands(name)}` }];
      for (const [i, name] of ARITHMETIC.entries())
        yield [compute + i, { name: `${type}.${name}`, shape: letter + operands(name) }];
    }
    yield [I32_WRAP_I64, { name: 'i32.wrap_i64', shape: 'il' }];
    yield [0xac, { name: 'i64.extend_i32_s', shape: 'li' }];
    yield [0xad, { name: 'i64.extend_i32_u', shape: 'li' }];
    yield [0xc0, { name: 'i32.extend8_s', shape: 'ii' }];
    yield [0xc1, { name: 'i32.extend16_s', shape: 'ii' }];
    yield [0xc2, { name: 'i64.extend8_s', shape: 'll' }];
    yield [0xc3, { name: 'i64.extend16_s', shape: 'll' }];
    yield [0xc4, { name: 'i64.extend32_s', shape: 'll' }];
  })(),
);

/** Says whether an instruction is a comparison. */
export function isComparison(op: number): boolean {
  return op >= I32_EQZ && op <= 0x5a;
}

export type AccessKind = 'load' | 'store' | 'rmw' | 'cmpxchg' | 'wait' | 'notify';

/** An access to memory: its kind, its bytes, and the width of its operands and its result. */
export interface MemoryAccess {
  readonly name: string;
  readonly kind: AccessKind;
  /** The operation of a read-modify-write: add, sub, and, or, xor, xchg. */
  readonly op: string;
  readonly bytes: 1 | 2 | 4 | 8;
  /** Whether the value is an i64. */
  readonly wide: boolean;
  readonly signed: boolean;
  readonly plain: boolean;
}

type Bytes = MemoryAccess['bytes'];
/** The widths of the value and the bytes accessed, in the order in which the binary format lists atomic accesses. */
const ATOMIC_WIDTHS: readonly [wide: boolean, bytes: Bytes][] = [
  [false, 4],
  [true, 8],
  [false, 1],
  [false, 2],
  [true, 1],
  [true, 2],
  [true, 4],
];
const PLAIN_LOADS: readonly [wide: boolean, bytes: Bytes, signed: boolean, opcode: number][] = [
  [false, 4, false, 0x28],
  [true, 8, false, 0x29],
  [false, 1, true, 0x2c],
  [false, 1, false, 0x2d],
  [false, 2, true, 0x2e],
  [false, 2, false, 0x2f],
  [true, 1, true, 0x30],
  [true, 1, false, 0x31],
  [true, 2, true, 0x32],
  [true, 2, false, 0x33],
  [true, 4, true, 0x34],
  [true, 4, false, 0x35],
];
const PLAIN_STORES: readonly [wide: boolean, bytes: Bytes, opcode: number][] = [
  [false, 4, 0x36],
  [true, 8, 0x37],
  [false, 1, 0x3a],
  [false, 2, 0x3b],
  [true, 1, 0x3c],
  [true, 2, 0x3d],
  [true, 4, 0x3e],
];
const RMW = ['add', 'sub', 'and', 'or', 'xor', 'xchg'];

export const ACCESSES: ReadonlyMap<number, MemoryAccess> = new Map(
  (function* (): Generator<[number, MemoryAccess]> {
    const typeOf = (wide: boolean) => (wide ? 'i64' : 'i32');
    const bitsOf = (wide: boolean, bytes: Bytes) => (bytes === (wide ? 8 : 4) ? '' : bytes * 8);
    const atomic = { op: '', signed: false, plain: false } as const;
    const plain = { op: '', plain: true } as const;
    for (const [wide, bytes, signed, opcode] of PLAIN_LOADS) {
      const bits = bitsOf(wide, bytes);
      const name = `${typeOf(wide)}.load${bits && `${bits}_${signed ? 's' : 'u'}`}`;
      yield [opcode, { ...plain, name, kind: 'load', bytes, wide, signed }];
    }
    for (const [wide, bytes, opcode] of PLAIN_STORES) {
      const name = `${typeOf(wide)}.store${bitsOf(wide, bytes)}`;
      yield [opcode, { ...plain, name, kind: 'store', bytes, wide, signed: false }];
    }
    yield [0xfe00, { ...atomic, name: 'memory.atomic.notify', kind: 'notify', bytes: 4, wide: false }];
    yield [0xfe01, { ...atomic, name: 'memory.atomic.wait32', kind: 'wait', bytes: 4, wide: false }];
    yield [0xfe02, { ...atomic, name: 'memory.atomic.wait64', kind: 'wait', bytes: 8, wide: true }];
    for (const [i, [wide, bytes]] of ATOMIC_WIDTHS.entries()) {
      const bits = bitsOf(wide, bytes);
      const type = typeOf(wide);
      const unsigned = bits && '_u';
      const load = `${type}.atomic.load${bits}${unsigned}`;
      yield [0xfe10 + i, { ...atomic, name: load, kind: 'load', bytes, wide }];
      yield [0xfe17 + i, { ...atomic, name: `${type}.atomic.store${bits}`, kind: 'store', bytes, wide }];
      for (const [k, op] of RMW.entries()) {
        const name = `${type}.atomic.rmw${bits}.${op}${unsigned}`;
        yield [0xfe1e + 7 * k + i, { ...atomic, name, kind: 'rmw', op, bytes, wide }];
      }
      const name = `${type}.atomic.rmw${bits}.cmpxchg${unsigned}`;
      yield [0xfe48 + i, { ...atomic, name, kind: 'cmpxchg', bytes, wide }];
    }
  })(),
);

/** Returns the instruction's name in the text format, or its number. */
export function nameOf(op: number): string {
  return CONTROL[op] ?? NUMERIC.get(op)?.name ?? ACCESSES.get(op)?.name ?? `opcode 0x${op.toString(16)}`;
}

/** Says whether the machine knows the instruction. */
export function isKnown(op: number): boolean {
  return op in CONTROL || NUMERIC.has(op) || ACCESSES.has(op);
}
