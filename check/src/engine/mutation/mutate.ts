/**
 * Makes mutants: programs with one access to memory changed. The table says what the changed access does, for each kind
 * of access and each change.
 *
 * | kind    | change `dropped`                               | other changes                                 |
 * |---------|------------------------------------------------|-----------------------------------------------|
 * | load    |                                                | `zero`, `ones`: always reads 0, or all ones   |
 * | store   | writes nothing                                 |                                               |
 * | rmw     | reads the old value, and writes nothing        |                                               |
 * | cmpxchg | reads the old value, and writes nothing: if    | `loosened`: always writes and succeeds;       |
 * |         | the value is as expected, this looks like      | `fails`: always fails                         |
 * |         | success                                        |                                               |
 * | wait    | answers at once, as if woken                   | `loosened`: sleeps, whatever the word is      |
 * | notify  | wakes no thread                                | `one`: wakes one thread                       |
 * | any     |                                                | `swapped`: changes places with the next       |
 * |         |                                                | access (swap.ts)                              |
 */
import {
  B,
  BYTES,
  C,
  CMPXCHG,
  KINDS,
  LIVE,
  LOAD,
  META,
  NOTIFY,
  OP_ACCESS,
  OP_BRANCH,
  OP_MOVE,
  OP_MOVE_WIDE,
  type Program,
  RMW,
  STORE,
  STRIDE,
  WAIT,
  WIDE,
} from '../wasm/code.js';
import { type Fields, listAt, Patch } from './patch.js';
import { branchTargets, swap } from './swap.js';

/** An access of the program. */
export interface Site {
  readonly pc: number;
  readonly fn: string;
  /** The number of the access in its function, from 1 on. */
  readonly index: number;
  readonly kind: string;
  /** The offset in the file. */
  readonly offset: number;
}

export interface Mutant {
  readonly site: Site;
  readonly change: string;
  /** If the change is `swapped`: the site with which the access changes places. */
  readonly other?: Site;
  readonly make: () => Program;
}

const I32_ADD = 0x6a;
const I64_ADD = 0x7c;

/** Returns every access, in the order of the file. */
export function sites({ image, functions, origins }: Program): Site[] {
  return functions.flatMap(({ name, entry, end }) => {
    const found: Site[] = [];
    for (let pc = entry; pc < end; pc += STRIDE) {
      const kind = KINDS[image[pc] - OP_ACCESS];
      if (kind === undefined) continue;
      found.push({ pc, fn: name, index: found.length + 1, kind, offset: origins[pc / STRIDE] });
    }
    return found;
  });
}

/** Returns every mutant of the program, always in the same order. */
export function mutants(program: Program): Mutant[] {
  const all = sites(program);
  const targets = branchTargets(program);
  return all.flatMap((site, i): Mutant[] => {
    const { pc, fn } = site;
    const own = (CHANGES[program.image[pc] - OP_ACCESS] as readonly Change[]).map(([change, alter]) => ({
      site,
      change,
      make: (): Program => alter(new Patch(program), pc, program).program(),
    }));
    const other = all[i + 1];
    const swapped = other?.fn === fn ? swap(program, pc, other.pc, targets) : undefined;
    if (other === undefined || swapped === undefined) return own;
    const make = (): Program => new Patch(program).instead(pc, other.pc + STRIDE, swapped).program();
    return [...own, { site, change: 'swapped', other, make }];
  });
}

/**
 * Returns a function that names mutants. A name has the function, the kind of access, the words that the access goes
 * to, and the change. If several accesses of a function agree in their kind and their words, a number tells them apart.
 * No name has an offset, so a name survives most changes of the code around its access.
 */
export function namer(all: readonly Site[], wordOf: (site: Site) => string): (mutant: Mutant) => string {
  const same = new Map<string, number[]>();
  const text = ({ kind }: Site, word: string): string => `${kind} ${word}`.trim();
  for (const site of all) {
    const key = `${site.fn}: ${text(site, wordOf(site))}`;
    same.set(key, [...(same.get(key) ?? []), site.pc]);
  }
  const access = (site: Site): string => {
    const own = text(site, wordOf(site));
    const pcs = same.get(`${site.fn}: ${own}`) ?? [];
    return pcs.length > 1 ? `${own} #${pcs.indexOf(site.pc) + 1}` : own;
  };
  return ({ site, change, other }) =>
    `${site.fn}: ${access(site)}, ${change}${other === undefined ? '' : ` with ${access(other)}`}`;
}

type Change = readonly [name: string, alter: (patch: Patch, pc: number, program: Program) => Patch];

/** The changes for each kind of access, except `swapped`. */
const CHANGES: Readonly<Record<number, readonly Change[]>> = {
  [LOAD]: [
    ['zero', (patch, pc, program) => answer(patch, pc, program, 0)],
    ['ones', (patch, pc, program) => answer(patch, pc, program, ...ones(program.image[pc + META]))],
  ],
  [STORE]: [['dropped', (patch, pc) => patch.set(pc, { op: OP_BRANCH, imm: pc + STRIDE })]],
  [RMW]: [['dropped', (patch, pc) => patch.set(pc, { op: OP_ACCESS + LOAD })]],
  [CMPXCHG]: [
    ['dropped', (patch, pc) => patch.set(pc, { op: OP_ACCESS + LOAD })],
    ['loosened', exchange],
    ['fails', fail],
  ],
  [WAIT]: [
    ['dropped', (patch, pc, program) => answer(patch, pc, program, 0)],
    ['loosened', sleep],
  ],
  [NOTIFY]: [
    ['dropped', (patch, pc, program) => answer(patch, pc, program, 0)],
    ['one', (patch, pc) => patch.set(pc, { b: patch.constant(1) })],
  ],
};

/** Replaces the access by a move of a constant, its result. */
function answer(patch: Patch, pc: number, program: Program, lo: number, hi = 0): Patch {
  return patch.set(pc, moves(program, pc, patch.constant(lo, hi)));
}

/** Returns what a load reads if every bit in memory is set. Loads with a sign are not expected. */
function ones(meta: number): [lo: number, hi: number] {
  const bytes = meta & BYTES;
  return [bytes < 4 ? 2 ** (8 * bytes) - 1 : -1, bytes === 8 ? -1 : 0];
}

/** Makes a cmpxchg an unconditional exchange that answers the expected value. */
function exchange(patch: Patch, pc: number, program: Program): Patch {
  const { [pc + B]: expected, [pc + C]: replacement } = program.image;
  return patch.instead(pc, pc + STRIDE, [
    { from: pc, op: OP_ACCESS + STORE, b: replacement },
    { from: pc, ...moves(program, pc, expected) },
  ]);
}

/** Makes a cmpxchg answer the expected value + 1. */
function fail(patch: Patch, pc: number, { image }: Program): Patch {
  const op = (image[pc + META] & WIDE) !== 0 ? I64_ADD : I32_ADD;
  return patch.set(pc, { op, a: image[pc + B], b: patch.constant(1, 0) });
}

/** Makes a wait expect what its word holds: a load before the wait reads it. The word may change between the two. */
function sleep(patch: Patch, pc: number, { image, functions, owners }: Program): Patch {
  // While an access is pending, its frame is the innermost one. So the words after the frame are free.
  const read = functions[owners[pc / STRIDE]].frame;
  const before = listAt(image, image[pc + LIVE]);
  const across = listAt(image, image[pc + LIVE] + before.length + 1);
  return patch.instead(pc, pc + STRIDE, [
    { from: pc, op: OP_ACCESS + LOAD, dst: read },
    { from: pc, b: read, live: [[...before, read, read + 1], across] },
  ]);
}

/** Returns a move of the operand `a` to the place of the access's result. */
function moves({ image }: Program, pc: number, a: number): Omit<Fields, 'from'> {
  // A wait may compare an i64, but its result is an i32.
  const wide = (image[pc + META] & WIDE) !== 0 && image[pc] !== OP_ACCESS + WAIT;
  return { op: wide ? OP_MOVE_WIDE : OP_MOVE, a };
}
