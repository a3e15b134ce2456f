/**
 * Checks uninterruptible sections of a program: between two accesses of a function there is no call, no backward branch
 * and no return, so the runtime cannot stop a thread there. The check follows every path from each access that begins a
 * section to the access that ends it. A path may return earlier only if the section gives a reason (`returns`).
 */
import {
  A,
  B,
  BRANCHES,
  BYTES,
  CMPXCHG,
  DST,
  IMM,
  META,
  NEGATED,
  NOTIFY,
  OP_ACCESS,
  OP_BRANCH,
  OP_BRANCH_TABLE,
  OP_CALL,
  OP_ENTER_LOOP,
  OP_MOVE,
  OP_MOVE_WIDE,
  OP_RETURN,
  type Program,
  RMW,
  STORE,
  STRIDE,
} from './code.js';

export interface Section {
  readonly name: string;
  readonly fn: string;
  /** The first access: its kind, the offset of its word, and its size. A failed exchange begins no section. */
  readonly from: { readonly kind: number; readonly word: number; readonly bytes?: number };
  /** No section begins at an access that follows this one: both are part of another section of the function. */
  readonly unlessAfter?: { readonly kind: number; readonly word: number };
  /** The offsets of the words that the last write may go to. If there are none, the section ends with the function. */
  readonly to: readonly number[];
  /** The functions whose calls end the section too. */
  readonly untilCall?: readonly string[];
  /** Why a path that returns before the last write has nothing left to write. If absent, no path may return earlier. */
  readonly returns?: string;
  /** The kinds of access that end the section: writes by default. */
  readonly by?: readonly number[];
}

interface Look {
  readonly found: string[];
  readonly ends: boolean;
}

const NOT_ZERO = 0x44;
const EQZ = 0x45;
/** Equal and not equal, of 32 and of 64 bits. */
const EQUAL = [0x46, 0x51];
const UNEQUAL = [0x47, 0x52];

/** Returns the places in the program of the accesses that begin the section. Throws if its function is not there. */
export function startsOf({ image: code, functions }: Program, run: Section): number[] {
  const fn = functions.find(({ name }) => name === run.fn);
  if (fn === undefined) throw new Error(`the program has no function ${run.fn}`);
  const is = (pc: number, { kind, word }: { readonly kind: number; readonly word: number }): boolean =>
    code[pc] === OP_ACCESS + kind && code[pc + IMM] === word;
  const starts: number[] = [];
  let before = 0;
  for (let pc = fn.entry; pc < fn.end; pc += STRIDE) {
    if (code[pc] < OP_ACCESS || code[pc] > OP_ACCESS + NOTIFY) continue;
    const isOther = run.unlessAfter !== undefined && is(before, run.unlessAfter);
    before = pc;
    if (!is(pc, run.from) || isOther) continue;
    if ((run.from.bytes ?? code[pc + META] & BYTES) === (code[pc + META] & BYTES)) starts.push(pc);
  }
  return starts;
}

/** Returns what breaks the section, with its offset in the file. Throws if the program does not have the section. */
export function breaks(program: Program, run: Section): string[] {
  const starts = startsOf(program, run);
  if (starts.length === 0) throw new Error(`${run.fn} has no access that begins ${run.name}`);
  const looks = starts.map((start) => lookFrom(program, run, start));
  const found = looks.flatMap(({ found }) => found);
  // The first access of a section may also occur where no section begins, as where a ticket is taken back. So it is
  // enough that one of these accesses has a path that ends the section.
  return found.length > 0 || looks.some(({ ends }) => ends) ? found : [`${run.name}: no path in ${run.fn} ends it`];
}

/** Returns what breaks the section if the access at `start` begins it, and whether any path comes to its end. */
function lookFrom({ image: code, origins, functions }: Program, run: Section, start: number): Look {
  const { by = [STORE, RMW] } = run;
  const exchange = run.from.kind === CMPXCHG ? start : -1;
  const todo = [start + STRIDE];
  const found: string[] = [];
  const seen = new Set<number>();
  const untilCall = functions.filter(({ name }) => run.untilCall?.includes(name)).map(({ entry }) => entry);
  let ends = false;
  for (let pc = todo.pop(); pc !== undefined; pc = todo.pop()) {
    if (seen.has(pc)) continue;
    seen.add(pc);
    const op = code[pc];
    const broken = (what: string): number =>
      found.push(`${run.name}: a ${what} at ${origins[pc / STRIDE]} in ${run.fn}`);
    if (op === OP_CALL && untilCall.includes(code[pc + IMM])) ends = true;
    else if (op === OP_CALL || op === OP_ENTER_LOOP) broken(op === OP_CALL ? 'call' : 'loop');
    else if (op === OP_RETURN) {
      if (run.to.length === 0) ends = true;
      else if (run.returns === undefined) broken('return');
    } else if (by.some((kind) => op === OP_ACCESS + kind) && run.to.includes(code[pc + IMM])) ends = true;
    else {
      for (const way of ways(code, pc, exchange)) {
        if (way <= pc) broken('way back');
        else todo.push(way);
      }
    }
  }
  return { found, ends };
}

/** Returns where an instruction leads. If it tests whether `exchange` succeeded, returns only where success leads. */
function ways(code: Int32Array, pc: number, exchange: number): number[] {
  const op = code[pc];
  if (exchange >= 0 && (EQUAL.includes(op) || UNEQUAL.includes(op)) && (code[pc + META] & BRANCHES) !== 0) {
    const operands = [code[pc + A], code[pc + B]];
    if (
      operands.includes(code[exchange + DST]) &&
      operands.some((operand) => isExpected(code, exchange, pc, operand))
    ) {
      const branchesOnSuccess = EQUAL.includes(op) === ((code[pc + META] & NEGATED) === 0);
      return [branchesOnSuccess ? code[pc + IMM] : pc + STRIDE];
    }
  }
  // The only exchange of 32 bits that begins a section is that of a cell (R5). It expects 0, so a test for 0 tests it.
  const isShort = exchange >= 0 && (code[exchange + META] & BYTES) === 4;
  if (isShort && (op === EQZ || op === NOT_ZERO) && code[pc + A] === code[exchange + DST]) {
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

/** Whether an operand of a comparison has the value that the exchange expects: the same word, or the word's origin. */
function isExpected(code: Int32Array, exchange: number, comparison: number, operand: number): boolean {
  const expected = code[exchange + B];
  if (operand === expected) return true;
  const writes = (pc: number, word: number): boolean => code[pc + DST] === word;
  let copy = exchange - STRIDE;
  while (copy >= 0 && !writes(copy, expected)) copy -= STRIDE;
  if (copy < 0 || ![OP_MOVE, OP_MOVE_WIDE].includes(code[copy]) || code[copy + A] !== operand) return false;
  for (let pc = copy + STRIDE; pc < comparison; pc += STRIDE) if (writes(pc, operand)) return false;
  return true;
}

function isComparison(op: number): boolean {
  return op >= 0x44 && op <= 0x5a;
}
