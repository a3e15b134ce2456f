/**
 * A copy of a program that is being changed.
 *
 * An instruction is changed in place. If a change needs more instructions, these stand at the end of the image. A
 * branch leads to them, and a br_table leads back: a plain branch backwards would count as a loop, and threads can be
 * killed in a loop. New live lists and constants stand at the end of the image too.
 */
import {
  A,
  B,
  C,
  CONSTANTS_AREA,
  DST,
  IMM,
  LIVE,
  META,
  OP_BRANCH,
  OP_BRANCH_TABLE,
  type Program,
  STRIDE,
} from '../wasm/code.js';

/** A changed instruction: it has the fields of the instruction at `from`, except those that are given here. */
export interface Fields {
  readonly from: number;
  readonly op?: number;
  readonly dst?: number;
  readonly a?: number;
  readonly b?: number;
  readonly c?: number;
  readonly imm?: number;
  readonly meta?: number;
  /** The words of the frame that the function may still read. A wait has two lists: before and after it. */
  readonly live?: readonly (readonly number[])[];
}

export class Patch {
  readonly #program: Program;
  readonly #image: number[];
  readonly #origins: number[];
  readonly #owners: number[];

  constructor(program: Program) {
    this.#program = program;
    this.#image = Array.from(program.image);
    this.#origins = Array.from(program.origins);
    this.#owners = Array.from(program.owners);
  }

  program(): Program {
    return {
      ...this.#program,
      image: new Int32Array(this.#image),
      origins: new Int32Array(this.#origins),
      owners: new Int32Array(this.#owners),
    };
  }

  /** Returns an operand that stands for a value of one or two words. */
  constant(...words: number[]): number {
    return CONSTANTS_AREA | (this.#image.push(...words) - words.length - this.#program.constantsAt);
  }

  set(pc: number, fields: Omit<Fields, 'from'>): this {
    this.#image.splice(pc, STRIDE, ...this.#instruction({ from: pc, ...fields }));
    return this;
  }

  /** Runs `instructions` instead of the instructions from pc up to `next`. */
  instead(pc: number, next: number, instructions: readonly Fields[]): this {
    const image = this.#image;
    const target = image.push(next) - 1;
    const made = instructions.map((fields) => this.#instruction(fields));
    while (image.length % STRIDE !== 0) image.push(0);
    const first = image.length;
    for (const [i, { from }] of instructions.entries()) {
      image.push(...(made[i] as number[]));
      this.#origins[image.length / STRIDE - 1] = this.#origins[from / STRIDE];
    }
    image.push(OP_BRANCH_TABLE, 0, 0, 0, 0, target, 1, 0);
    const owner = this.#owners[pc / STRIDE];
    for (let i = first; i < image.length; i += STRIDE) this.#owners[i / STRIDE] = owner;
    return this.set(pc, { op: OP_BRANCH, imm: first });
  }

  #instruction({ from, live: lists, ...fields }: Fields): number[] {
    const old = this.#image.slice(from, from + STRIDE);
    const { op = old[0], dst = old[DST], a = old[A], b = old[B], c = old[C] } = fields;
    const { imm = old[IMM], meta = old[META] } = fields;
    const live = lists === undefined ? old[LIVE] : this.#image.length;
    for (const list of lists ?? []) this.#image.push(list.length, ...list);
    return [op, dst, a, b, c, imm, meta, live];
  }
}

/** Returns the words of a live list. */
export function listAt(image: Int32Array, at: number): number[] {
  return [...image.subarray(at + 1, at + 1 + image[at])];
}
