/**
 * Straight runs: an engine stops a thread only where it enters a function or goes round a loop, so between
 * taking a ticket and recording it there must be neither (R1 in core/semaphore.ts and core/runs.ts).
 *
 * Checked over the code that the search runs, on every way from the instruction that takes the ticket to the
 * store that records it, or to the return of who need not be recorded.
 */
import { constant } from './scene/layout.js';
import {
  BRANCHES,
  IMM,
  META,
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
} from './wasm/code.js';

export interface StraightRun {
  readonly name: string;
  readonly fn: string;
  /** The access that begins it: its kind, and the offset of the word. */
  readonly from: { readonly kind: number; readonly word: number };
  /** The stores that end it, by the offset of their word; a return does too. */
  readonly to: readonly number[];
}

/** The runs that the core relies on. */
export const straightRuns: readonly StraightRun[] = [
  {
    name: 'R1, acquire',
    fn: 'semaphore/acquire',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE')],
  },
  {
    name: 'R1, arrive',
    fn: 'runs/arrive',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_END'), constant('E_STATE')],
  },
];

/** What breaks the run: where in the file, and what; nothing if it is straight. Throws if it is not there. */
export function breaks(program: Program, run: StraightRun): string[] {
  const { image: code, origins } = program;
  const fn = program.functions.find(({ name }) => name === run.fn);
  if (fn === undefined) throw new Error(`the core has no function ${run.fn}`);
  const isAccess = (pc: number, kind: number): boolean => code[pc] === OP_ACCESS + kind;
  const begins: number[] = [];
  for (let pc = fn.entry; pc < fn.end; pc += STRIDE) {
    if (isAccess(pc, run.from.kind) && code[pc + IMM] === run.from.word) begins.push(pc);
  }
  const [first] = begins;
  if (first === undefined) throw new Error(`${run.fn} has no access that begins ${run.name}`);
  const found: string[] = [];
  const seen = new Set<number>();
  const todo = [first + STRIDE];
  for (let pc = todo.pop(); pc !== undefined; pc = todo.pop()) {
    if (seen.has(pc)) continue;
    seen.add(pc);
    const op = code[pc];
    if (op === OP_CALL || op === OP_ENTER_LOOP) {
      found.push(
        `${run.name}: a ${op === OP_CALL ? 'call' : 'loop'} at ${origins[pc / STRIDE]} in ${run.fn}`,
      );
      continue;
    }
    if (op === OP_RETURN || (isAccess(pc, STORE) && run.to.includes(code[pc + IMM]))) continue;
    if (op === OP_BRANCH) todo.push(code[pc + IMM]);
    else if (op === OP_BRANCH_TABLE) {
      for (let i = 0; i < code[pc + META]; i++) todo.push(code[code[pc + IMM] + i]);
    } else {
      if (isComparison(op) && (code[pc + META] & BRANCHES) !== 0) todo.push(code[pc + IMM]);
      todo.push(pc + STRIDE);
    }
  }
  return found;
}

function isComparison(op: number): boolean {
  return op >= 0x44 && op <= 0x5a;
}
