/**
 * Checks uninterruptible sections of a program: between two accesses of a function there is no call and no backward
 * branch, so that the runtime cannot stop a thread there. The check follows every path from the access that begins a
 * section to the one that ends it, or to a return.
 */
import {
  A,
  AREA_SHIFT,
  B,
  BRANCHES,
  CMPXCHG,
  CONSTANTS_AREA,
  DST,
  IMM,
  META,
  NEGATED,
  OP_ACCESS,
  OP_BRANCH,
  OP_BRANCH_TABLE,
  OP_CALL,
  OP_ENTER_LOOP,
  OP_RETURN,
  type Program,
  RMW,
  STORE,
  STRIDE,
  WORD,
} from './code.js';

export interface Section {
  readonly name: string;
  readonly fn: string;
  /** The first access: its kind, and the offset of its word. Of an exchange, only the success counts. */
  readonly from: { readonly kind: number; readonly word: number };
  /** The offsets of the words that the last write may go to. A return ends the section too. */
  readonly to: readonly number[];
  /** The kinds of access that end the section: writes by default. */
  readonly by?: readonly number[];
  /** A constant, such as a kind of object. Where the section compares with it, only the way of equality is followed. */
  readonly when?: number;
}

const NOT_ZERO = 0x44;
const EQZ = 0x45;
/** Equal and not equal, of 32 and of 64 bits. */
const EQUAL = [0x46, 0x51];
const UNEQUAL = [0x47, 0x52];

/** Returns what breaks the section, with its offset in the file. Throws if the program does not have the section. */
export function breaks(program: Program, run: Section): string[] {
  const { image: code, origins } = program;
  const fn = program.functions.find(({ name }) => name === run.fn);
  if (fn === undefined) throw new Error(`the program has no function ${run.fn}`);
  const isAccess = (pc: number, kind: number): boolean => code[pc] === OP_ACCESS + kind;
  const todo: number[] = [];
  let exchange = -1;
  for (let pc = fn.entry; pc < fn.end; pc += STRIDE) {
    if (!isAccess(pc, run.from.kind) || code[pc + IMM] !== run.from.word) continue;
    if (run.from.kind !== CMPXCHG) todo.push(pc + STRIDE);
    else if (exchange < 0) {
      exchange = pc;
      todo.push(pc + STRIDE);
    }
  }
  if (todo.length === 0) throw new Error(`${run.fn} has no access that begins ${run.name}`);
  const { by = [STORE, RMW] } = run;
  const found: string[] = [];
  const seen = new Set<number>();
  for (let pc = todo.pop(); pc !== undefined; pc = todo.pop()) {
    if (seen.has(pc)) continue;
    seen.add(pc);
    const op = code[pc];
    const broken = (by: string): number => found.push(`${run.name}: a ${by} at ${origins[pc / STRIDE]} in ${run.fn}`);
    if (op === OP_CALL || op === OP_ENTER_LOOP) broken(op === OP_CALL ? 'call' : 'loop');
    else if (op !== OP_RETURN && !(by.some((kind) => isAccess(pc, kind)) && run.to.includes(code[pc + IMM]))) {
      for (const way of ways(program, pc, exchange, run.when)) {
        if (way <= pc) broken('way back');
        else todo.push(way);
      }
    }
  }
  return found;
}

/**
 * Returns where an instruction leads. If it tests whether an exchange succeeded, only where it did; if it compares with
 * the constant `when`, only where they are equal.
 */
function ways({ image: code, constantsAt }: Program, pc: number, exchange: number, when?: number): number[] {
  const op = code[pc];
  if ((EQUAL.includes(op) || UNEQUAL.includes(op)) && (code[pc + META] & BRANCHES) !== 0) {
    const operands = [code[pc + A], code[pc + B]];
    const succeeds = exchange >= 0 && operands.includes(code[exchange + DST]) && operands.includes(code[exchange + B]);
    const holds = operands.some(
      (at) => at >>> AREA_SHIFT === CONSTANTS_AREA >>> AREA_SHIFT && code[constantsAt + (at & WORD)] === when,
    );
    if (succeeds || holds) {
      const branchesOnSuccess = EQUAL.includes(op) === ((code[pc + META] & NEGATED) === 0);
      return [branchesOnSuccess ? code[pc + IMM] : pc + STRIDE];
    }
  }
  // The exchange of a cell expects 0.
  if (exchange >= 0 && (op === EQZ || op === NOT_ZERO) && code[pc + A] === code[exchange + DST]) {
    const branchesOnSuccess = (op === EQZ) === ((code[pc + META] & NEGATED) === 0);
    return [branchesOnSuccess ? code[pc + IMM] : pc + STRIDE];
  }
  if (op === OP_BRANCH) return [code[pc + IMM]];
  if (op === OP_BRANCH_TABLE) {
    return Array.from(code.subarray(code[pc + IMM], code[pc + IMM] + code[pc + META]));
  }
  const branches = isComparison(op) && (code[pc + META] & BRANCHES) !== 0;
  return branches ? [code[pc + IMM], pc + STRIDE] : [pc + STRIDE];
}

function isComparison(op: number): boolean {
  return op >= 0x44 && op <= 0x5a;
}
