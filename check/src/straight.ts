/**
 * Straight runs: an engine stops a thread only where it enters a function or goes round a loop, so between
 * taking a ticket and recording it there must be neither (R1 in core/semaphore.ts and core/runs.ts), and likewise in
 * R2 to R4 (core/giving-up.ts), R6 and R7 (core/attachments.ts), R9 (core/semaphore.ts). A call that an exception cuts
 * short ends there too.
 *
 * Checked over the code that the search runs, on every way from the instruction that takes the ticket to the
 * store that records it, or to the return of who need not be recorded.
 */

import {
  A,
  B,
  BRANCHES,
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
  OP_RETURN,
  type Program,
  RMW,
  STORE,
  STRIDE,
} from './engine/wasm/code.js';
import { constant } from './scene/layout.js';

export interface StraightRun {
  readonly name: string;
  readonly fn: string;
  /** The access that begins it: its kind, and the offset of the word. Of an exchange, only its success counts. */
  readonly from: { readonly kind: number; readonly word: number };
  /** What is written last, by the offset of its word; a return ends it too. */
  readonly to: readonly number[];
  /** The kinds of access that end it: a write by default. */
  readonly by?: readonly number[];
}

/** The runs that the core relies on. */
export const straightRuns: readonly StraightRun[] = [
  ...['semaphore/acquire', 'semaphore/acquireOne'].map((fn) => ({
    name: `R1, ${fn}`,
    fn,
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE')],
  })),
  {
    name: 'R1, arrive',
    fn: 'runs/arrive',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE')],
  },
  // acquire has become part of queue. E_STATE lies where TICKET does, so that these runs end before it.
  {
    name: 'R1, queue',
    fn: 'mutex/queue',
    from: { kind: RMW, word: constant('TICKET') },
    to: [constant('E_STATE'), constant('E_HELD')],
  },
  ...['mutex/queue', 'runs/arrive'].map((fn) => ({
    name: `R8, ${fn}`,
    fn,
    from: { kind: RMW, word: constant('M_WORD') },
    to: [constant('E_REQUEST'), constant('E_HELD')],
  })),
  ...['mutex/take', 'mutex/stepDown'].map((fn) => ({
    name: `R8, ${fn}`,
    fn,
    from: { kind: CMPXCHG, word: constant('M_WORD') },
    to: [constant('GRANT')],
  })),
  {
    name: 'R2, takeBack',
    fn: 'giving-up/takeBack',
    from: { kind: CMPXCHG, word: constant('TICKET') },
    to: [constant('E_STATE')],
  },
  {
    name: 'R3, claim',
    fn: 'giving-up/claim',
    from: { kind: RMW, word: constant('GRANT') },
    to: [constant('E_STATE')],
  },
  // Whoever has granted or closed a request tells, though its call may be cut short where it enters a function.
  {
    name: 'R9, moveOn',
    fn: 'semaphore/moveOn',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('E_STATE'), constant('T_DOORBELL')],
    by: [NOTIFY],
  },
  { name: 'R4', fn: 'giving-up/merge', from: { kind: CMPXCHG, word: constant('E_STATE') }, to: [] },
  // What is taken has an owner, and a cell that is taken is known (the caller of enter stores it at once).
  {
    name: 'R5, take',
    fn: 'elements/reserve',
    from: { kind: CMPXCHG, word: constant('E_STATE') },
    to: [constant('E_REQUEST')],
  },
  { name: 'R5, enter', fn: 'waiting-array/enter', from: { kind: CMPXCHG, word: 0 }, to: [] },
  // The first store and the first exchange of life that these come to is that of the reference.
  {
    name: 'R6, create',
    fn: 'attachments/create',
    from: { kind: STORE, word: constant('O_LIFE') },
    to: [constant('E_STATE')],
  },
  ...['attachments/attach', 'attachments/detach'].map((fn) => ({
    name: `R6, ${fn}`,
    fn,
    from: { kind: CMPXCHG, word: constant('O_LIFE') },
    to: [constant('E_STATE')],
  })),
  ...(
    [
      ['attachments/acquireRobust', RMW, 'TICKET', 'E_HELD'],
      ['attachments/tryAcquireRobust', CMPXCHG, 'TICKET', 'E_HELD'],
      ['attachments/releaseRobust', RMW, 'GRANT', 'E_HELD'],
      ['semaphore/settleRelease', CMPXCHG, 'TICKET', 'E_HELD'],
      ['semaphore/leave', STORE, 'E_HELD', 'E_STATE'],
      ['runs/drop', STORE, 'E_HELD', 'E_STATE'],
      ['runs/settle', STORE, 'E_HELD', 'E_START'],
    ] as const
  ).map(([fn, kind, from, to]) => ({
    name: `R7, ${fn}`,
    fn,
    from: { kind, word: constant(from) },
    to: [constant(to)],
  })),
  // What a dead thread held of a semaphore goes back to grant, and of a mutex to its word.
  {
    name: 'R7 and R8, owners, reaping/bury',
    fn: 'reaping/bury',
    from: { kind: RMW, word: constant('O_DEATHS') },
    to: [constant('GRANT'), constant('M_WORD')],
  },
];

/** What breaks the run: where in the file, and what; nothing if it is straight. Throws if it is not there. */
export function breaks(program: Program, run: StraightRun): string[] {
  const { image: code, origins } = program;
  const fn = program.functions.find(({ name }) => name === run.fn);
  if (fn === undefined) throw new Error(`the core has no function ${run.fn}`);
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
    const broken = (by: string): number =>
      found.push(`${run.name}: a ${by} at ${origins[pc / STRIDE]} in ${run.fn}`);
    if (op === OP_CALL || op === OP_ENTER_LOOP) broken(op === OP_CALL ? 'call' : 'loop');
    else if (
      op !== OP_RETURN &&
      !(by.some((kind) => isAccess(pc, kind)) && run.to.includes(code[pc + IMM]))
    ) {
      for (const way of ways(code, pc, exchange)) {
        if (way <= pc) broken('way back');
        else todo.push(way);
      }
    }
  }
  return found;
}

/** Where an instruction leads; where it tells whether an exchange succeeded, only where it did. */
function ways(code: Int32Array, pc: number, exchange: number): number[] {
  const op = code[pc];
  if (exchange >= 0 && (op === I64_EQ || op === I64_NE) && (code[pc + META] & BRANCHES) !== 0) {
    const operands = [code[pc + A], code[pc + B]];
    if (operands.includes(code[exchange + DST]) && operands.includes(code[exchange + B])) {
      const branchesOnSuccess = (op === I64_EQ) === ((code[pc + META] & NEGATED) === 0);
      return [branchesOnSuccess ? code[pc + IMM] : pc + STRIDE];
    }
  }
  // The one exchange of 32 bits, that of a cell, expects 0.
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

const NOT_ZERO = 0x44;
const EQZ = 0x45;
const I64_EQ = 0x51;
const I64_NE = 0x52;

function isComparison(op: number): boolean {
  return op >= 0x44 && op <= 0x5a;
}
