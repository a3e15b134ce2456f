/**
 * Register code, which the translator makes and the machine runs.
 *
 * An instruction is STRIDE int32 words at a multiple of STRIDE. Numeric instructions keep their WebAssembly opcode. The
 * other instructions have the numbers below. In WebAssembly these numbers mean instructions that the translator
 * removes.
 *
 *     word        0   1        2  3  4   5                  6             7
 *     field       op  dst      a  b  c   imm                meta          live
 *     comparison      dst      a  b      target             mode
 *     branch                             target
 *     br_table                 index     first of targets   how many
 *     call            result   where the callee's locals end; b frame size; c end of its parameters
 *                                        entry              result words  list
 *     return                   value                        result words
 *     global.set               value     word of the global
 *     access          result   address, then the operands
 *                                        offset             see below     list
 *
 * A value is one word (i32) or two, low then high (i64). A destination is a word of the frame. An operand is a word of
 * the frame, of the thread's globals, or of the constants, as its two highest bits say.
 *
 * A frame has RETURN (the pc of the call, or -1), CALLER (the frame of the caller), the parameters, the locals, and the
 * operand stack. The frame of a callee follows, and the caller writes the arguments there.
 *
 * A live list says which words of the frame the function may still read: a count, and then this many indices of words.
 * The list of an access contains the operands of the access too. The list of a call has the words that are read after
 * the call, without the result of the call. A wait has a second list behind the first. This list holds while the thread
 * is parked, and has the words that are read after the wait, without the result of the wait.
 */
import type { MemoryAccess, ValueType } from './opcodes.js';

export const STRIDE = 8;
export const DST = 1;
export const A = 2;
export const B = 3;
export const C = 4;
export const IMM = 5;
export const META = 6;
export const LIVE = 7;

export const OP_UNREACHABLE = 0x00;
export const OP_ENTER_LOOP = 0x01;
export const OP_BRANCH = 0x0c;
export const OP_BRANCH_TABLE = 0x0e;
export const OP_RETURN = 0x0f;
export const OP_CALL = 0x10;
export const OP_SELECT = 0x1b;
export const OP_SELECT_WIDE = 0x1c;
export const OP_MOVE = 0x20;
export const OP_MOVE_WIDE = 0x21;
export const OP_SET_GLOBAL = 0x24;
export const OP_SET_GLOBAL_WIDE = 0x25;
/** The opcode of an access is this number plus the kind of the access. */
export const OP_ACCESS = 0x28;
export const OP_MEMORY_SIZE = 0x3f;
/** A comparison with zero that WebAssembly does not have. br_if and if are translated to it. */
export const OP_NOT_ZERO = 0x44;

/** The kinds of access, which `pendingKind` returns. */
export const LOAD = 0;
export const STORE = 1;
export const RMW = 2;
export const CMPXCHG = 3;
export const WAIT = 4;
export const NOTIFY = 5;
export const KINDS = ['load', 'store', 'rmw', 'cmpxchg', 'wait', 'notify'] as const;
export const RMW_OPS = ['add', 'sub', 'and', 'or', 'xor', 'xchg'] as const;

// The mode of a comparison.
export const NEGATED = 1;
/** The comparison does not store its result, but branches if the result is true. */
export const BRANCHES = 2;

// The meta word of an access has the bytes in its low four bits.
export const BYTES = 0xf;
export const WIDE = 0x10;
export const SIGNED = 0x20;
export const PLAIN = 0x40;
export const RMW_SHIFT = 8;

// An operand stands for the word at (operand & WORD) behind the base of its area. The bases of the areas are the first
// words of the image.
export const AREA_SHIFT = 30;
export const WORD = 0x3fffffff;
export const GLOBALS_AREA = 1 << AREA_SHIFT;
export const CONSTANTS_AREA = 2 << AREA_SHIFT;

// The first words of a frame.
export const RETURN_PC = 0;
export const CALLER = 1;
export const FRAME_HEADER = 2;

export interface RegisterFunction {
  readonly name: string;
  /** The pc of the first instruction, and the pc after the last. */
  readonly entry: number;
  readonly end: number;
  readonly params: readonly ValueType[];
  /** How many words the header and the parameters of the frame take. */
  readonly paramsEnd: number;
  /** How many words the header, the parameters and the locals of the frame take. */
  readonly localsEnd: number;
  /** How many words the whole frame takes. */
  readonly frame: number;
}

export interface Program {
  /**
   * Everything that the machine reads is in this one array, because V8 would look up the place and the bounds of each
   * further array at each access. It has STRIDE words for the machine's own use, the code, the constants, the targets
   * of br_table, and the live lists.
   */
  readonly image: Int32Array;
  readonly codeEnd: number;
  readonly constantsAt: number;
  /** For each instruction, its offset in the file. */
  readonly origins: Int32Array;
  /** For each instruction, the index of its function. */
  readonly owners: Int32Array;
  readonly functions: readonly RegisterFunction[];
  readonly globals: readonly { readonly name: string; readonly lo: number; readonly hi: number }[];
  readonly exports: ReadonlyMap<string, number>;
  /** For some functions, by their index, the low words of all results that a call may have. */
  readonly answers: ReadonlyMap<number, ReadonlySet<number>>;
  readonly start: number | undefined;
  /** How many words the deepest stack of frames takes, and how many the widest frame. */
  readonly stack: number;
  readonly widest: number;
}

export function metaOf(access: MemoryAccess): number {
  return (
    access.bytes |
    (access.wide ? WIDE : 0) |
    (access.signed ? SIGNED : 0) |
    (access.plain ? PLAIN : 0) |
    (Math.max(RMW_OPS.indexOf(access.op as (typeof RMW_OPS)[number]), 0) << RMW_SHIFT)
  );
}
