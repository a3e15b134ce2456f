/**
 * Finds out whether two accesses can change places, and arranges the instructions.
 *
 *     before   first ── between... ── second
 *     late     a copy of first's operands ── between... ── second ── first
 *     early    second ── first ── between... ── a move of second's answer to its place
 *
 * The swap is `late` if neither `between` nor `second` reads the answer of `first`. Otherwise the swap is `early` if
 * `second` reads no result of `first` or `between`. Otherwise there is no swap. Both accesses lie in one basic block,
 * with no access between them. At least one of the two is not a load, and neither is a wait.
 */
import {
  A,
  AREA_SHIFT,
  B,
  BRANCHES,
  C,
  CMPXCHG,
  DST,
  GLOBALS_AREA,
  IMM,
  KINDS,
  LIVE,
  LOAD,
  META,
  OP_ACCESS,
  OP_BRANCH,
  OP_BRANCH_TABLE,
  OP_MEMORY_SIZE,
  OP_MOVE,
  OP_MOVE_WIDE,
  OP_NOT_ZERO,
  OP_SELECT,
  OP_SELECT_WIDE,
  OP_SET_GLOBAL,
  OP_SET_GLOBAL_WIDE,
  type Program,
  RMW,
  STORE,
  STRIDE,
  WAIT,
  WIDE,
} from '../wasm/code.js';
import { isComparison, NUMERIC } from '../wasm/opcodes.js';
import { type Fields, listAt } from './patch.js';

/** The words of the result and of each operand, for the instructions that may stand between. */
const SHAPES: ReadonlyMap<number, readonly number[]> = new Map([
  [OP_MOVE, [1, 1]],
  [OP_MOVE_WIDE, [2, 2]],
  [OP_SELECT, [1, 1, 1, 1]],
  [OP_SELECT_WIDE, [2, 2, 2, 1]],
  [OP_SET_GLOBAL, [1, 1]],
  [OP_SET_GLOBAL_WIDE, [2, 2]],
  [OP_MEMORY_SIZE, [1]],
  ...[...NUMERIC].map(([op, { shape }]): [number, number[]] => [
    op,
    [...shape].map((letter) => (letter === 'l' ? 2 : 1)),
  ]),
]);

/** The operands that an instruction reads and writes: words of the frame, and words of the thread's globals. */
interface Use {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

/** Returns undefined for an instruction that ends a basic block. */
function useOf(image: Int32Array, pc: number): Use | undefined {
  const op = image[pc];
  const [result, ...operands] = isAccess(image, pc) ? shapeOfAccess(image, pc) : (SHAPES.get(op) ?? []);
  if (result === undefined || (isComparison(op) && (image[pc + META] & BRANCHES) !== 0)) return undefined;
  const range = (from: number, words: number): number[] => Array.from({ length: words }, (_, i) => from + i);
  const isGlobal = op === OP_SET_GLOBAL || op === OP_SET_GLOBAL_WIDE;
  return {
    reads: operands.flatMap((words, i) => (image[pc + A + i] < 0 ? [] : range(image[pc + A + i], words))),
    writes: range(isGlobal ? GLOBALS_AREA + image[pc + IMM] : image[pc + DST], result),
  };
}

function isAccess(image: Int32Array, pc: number): boolean {
  return image[pc] >= OP_ACCESS && image[pc] < OP_ACCESS + KINDS.length;
}

function shapeOfAccess(image: Int32Array, pc: number): number[] {
  const width = (image[pc + META] & WIDE) !== 0 ? 2 : 1;
  switch (image[pc] - OP_ACCESS) {
    case LOAD:
      return [width, 1];
    case STORE:
      return [0, 1, width];
    case RMW:
      return [width, 1, width];
    case CMPXCHG:
      return [width, 1, width, width];
    case WAIT:
      return [1, 1, width, 2];
    default:
      return [1, 1, 1];
  }
}

/** Returns every instruction to which a branch may lead. */
export function branchTargets({ image, functions }: Program): Set<number> {
  const targets = new Set<number>();
  for (const { entry, end } of functions) {
    for (let pc = entry; pc < end; pc += STRIDE) {
      const op = image[pc];
      const [at, words] = [image[pc + IMM], image[pc + META]];
      if (op === OP_BRANCH_TABLE) for (const target of image.subarray(at, at + words)) targets.add(target);
      else if (op === OP_BRANCH || op === OP_NOT_ZERO || (isComparison(op) && (words & BRANCHES) !== 0))
        targets.add(at);
    }
  }
  return targets;
}

/** Returns the instructions from `first` to `second` with these two exchanged, or undefined if no swap is possible. */
export function swap(
  { image, functions, owners }: Program,
  first: number,
  second: number,
  targets: ReadonlySet<number>,
): Fields[] | undefined {
  const kind = (pc: number): number => image[pc] - OP_ACCESS;
  if (kind(first) === WAIT || kind(second) === WAIT) return undefined;
  if (kind(first) === LOAD && kind(second) === LOAD) return undefined;
  const between: number[] = [];
  for (let pc = first + STRIDE; pc <= second; pc += STRIDE) {
    if (targets.has(pc) || useOf(image, pc) === undefined) return undefined;
    if (pc < second) between.push(pc);
  }
  const [one, two, rest] = [first, second, between].map((pcs) => usesOf(image, [pcs].flat())) as [Use, Use, Use];
  const live = (pc: number): number[] => listAt(image, image[pc + LIVE]);
  // While an access is pending, its frame is the innermost one. So the words after the frame are free.
  const spare = functions[owners[first / STRIDE]].frame;
  if (!meets(one.writes, [...rest.reads, ...two.reads])) {
    const operands = [A, B, C].slice(0, shapeOfAccess(image, first).length - 1);
    const keep = operands.map((field, i) => ({
      from: first,
      op: OP_MOVE_WIDE,
      a: image[first + field],
      dst: spare + 2 * i,
    }));
    const kept = keep.flatMap(({ dst }) => [dst, dst + 1]);
    // If another of these instructions writes to the same place, no instruction reads the answer of `first`.
    const dead = meets(one.writes, [...rest.writes, ...two.writes]);
    const before = [...live(second).filter((word) => !one.writes.includes(word)), ...kept];
    const [a, b, c] = keep.map(({ dst }) => dst);
    return [
      ...keep,
      ...between.map((from) => ({ from })),
      { from: second, live: [before] },
      {
        from: first,
        dst: dead ? spare + 2 * keep.length : image[first + DST],
        ...(a === undefined ? {} : { a }),
        ...(b === undefined ? {} : { b }),
        ...(c === undefined ? {} : { c }),
        live: [[...new Set([...before, ...inFrame(two.writes)])]],
      },
    ];
  }
  if (meets(two.reads, [...one.writes, ...rest.writes])) return undefined;
  const answer = two.writes.map((_, i) => spare + i);
  return [
    { from: second, dst: spare, live: [live(first)] },
    { from: first, live: [[...live(first), ...answer]] },
    ...between.map((from) => ({ from })),
    { from: second, op: answer.length === 2 ? OP_MOVE_WIDE : OP_MOVE, a: spare },
  ].slice(0, answer.length === 0 ? -1 : undefined);
}

function meets(a: readonly number[], b: readonly number[]): boolean {
  return a.some((word) => b.includes(word));
}

function inFrame(words: readonly number[]): number[] {
  return words.filter((word) => word >> AREA_SHIFT === 0);
}

function usesOf(image: Int32Array, pcs: readonly number[]): Use {
  const uses = pcs.map((pc) => useOf(image, pc) as Use);
  return { reads: uses.flatMap(({ reads }) => reads), writes: uses.flatMap(({ writes }) => writes) };
}
