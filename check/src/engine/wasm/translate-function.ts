/**
 * Translates a function's stack code to register code (code.ts).
 *
 * The translator simulates the operand stack. An entry of the simulated stack names the place of a value: a local, a
 * global, a constant, or a slot. A slot is a word of the frame for each height of the stack. So local.get, global.get
 * and constants cost no instruction: they become operands of the instructions that read them.
 *
 * A local or global may change while its value is on the stack. So the translator moves the value to its slot first: a
 * local before its local.set, and a global before its global.set or a call. At the start of a block it moves every
 * local and global that is on the stack, because control may leave the block in several ways.
 *
 * In two cases two instructions become one, if no other instruction lies between them (`#maker`). If a local.set
 * follows an instruction, the instruction writes its result straight to the local. If a branch follows a comparison,
 * the comparison itself branches.
 */
import {
  BRANCHES,
  CONSTANTS_AREA,
  FRAME_HEADER,
  GLOBALS_AREA,
  KINDS,
  metaOf,
  NEGATED,
  OP_ACCESS,
  OP_BRANCH,
  OP_BRANCH_TABLE,
  OP_CALL,
  OP_ENTER_LOOP,
  OP_MEMORY_SIZE,
  OP_MOVE,
  OP_MOVE_WIDE,
  OP_NOT_ZERO,
  OP_RETURN,
  OP_SELECT,
  OP_SELECT_WIDE,
  OP_SET_GLOBAL,
  OP_SET_GLOBAL_WIDE,
  OP_UNREACHABLE,
} from './code.js';
import type { Instruction, WasmFunction, WasmModule } from './decode.js';
import {
  ACCESSES,
  ATOMIC_FENCE,
  BLOCK,
  BR,
  BR_IF,
  BR_TABLE,
  CALL,
  DROP,
  ELSE,
  END,
  GLOBAL_GET,
  GLOBAL_SET,
  I32_CONST,
  I32_EQZ,
  I32_WRAP_I64,
  I64_CONST,
  IF,
  isComparison,
  LOCAL_GET,
  LOCAL_SET,
  LOCAL_TEE,
  LOOP,
  MEMORY_SIZE,
  type MemoryAccess,
  NOP,
  NUMERIC,
  nameOf,
  RETURN,
  SELECT,
  UNREACHABLE,
  type ValueType,
} from './opcodes.js';

/** A value on the simulated stack: its place, and its number of words. */
interface Entry {
  readonly operand: number;
  readonly words: number;
}

export interface Code {
  op: number;
  /** The place of the result, and its words; 0 words if there is none. */
  dst: number;
  words: number;
  /** a, b and c. */
  readonly operands: readonly Entry[];
  imm: number;
  meta: number;
  label?: Label;
  labels?: readonly Label[];
  readonly origin: number;
}

interface Label {
  /** The index of the instruction before which the label stands, once known. */
  at: number;
  used: boolean;
}

interface Block {
  readonly op: number;
  /** The target of a branch to the block: its end, or a loop's start. */
  readonly label: Label;
  /** The target of an `if` that is not taken. */
  readonly otherwise: Label | undefined;
  readonly height: number;
  readonly words: number;
}

/** Marks an operand as a word of the callee's frame. The place of this frame is known only after the translation. */
export const ARGUMENTS = 1 << 20;
const NOTHING: Entry = { operand: 0, words: 0 };

export const wordsOf = (type: ValueType | undefined) => (type === undefined ? 0 : type === 'i64' ? 2 : 1);

/** The constants of all functions, each once. */
export class Constants {
  readonly words: number[] = [];
  readonly #places = new Map<string, number>();

  operand(...words: number[]): number {
    const key = words.join();
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.words.push(...words) - words.length;
      this.#places.set(key, place);
    }
    return CONSTANTS_AREA | place;
  }
}

export class FunctionTranslator {
  readonly code: Code[] = [];
  readonly localsEnd: number;
  readonly #module: WasmModule;
  readonly #constants: Constants;
  readonly #resultWords: number;
  readonly #locals: Entry[] = [];
  readonly #stack: Entry[] = [];
  readonly #blocks: Block[] = [];
  #highest = 0;
  /** A branch leads to this index. So no instruction before it may be changed. */
  #barrier = 0;
  #reachable = true;
  /** How many blocks are open in code that cannot be reached. */
  #skipped = 0;
  #origin = 0;

  constructor(module: WasmModule, f: WasmFunction, constants: Constants) {
    this.#module = module;
    this.#constants = constants;
    this.#resultWords = wordsOf(f.type.results[0]);
    let word = FRAME_HEADER;
    for (const type of [...f.type.params, ...f.locals]) {
      this.#locals.push({ operand: word, words: wordsOf(type) });
      word += wordsOf(type);
    }
    this.localsEnd = word;
    this.#blocks.push(this.#block(BLOCK, this.#resultWords));
    for (const instruction of f.body) {
      this.#origin = instruction.offset;
      if (this.#reachable) this.#translate(instruction);
      else this.#skip(instruction);
    }
  }

  get frame(): number {
    return this.localsEnd + 2 * this.#highest;
  }

  #slot(height: number): number {
    return this.localsEnd + 2 * height;
  }

  #push(operand: number, words: number): void {
    this.#stack.push({ operand, words });
    this.#highest = Math.max(this.#highest, this.#stack.length);
  }

  #pop(): Entry {
    const entry = this.#stack.pop();
    if (!entry) throw new Error(`nothing on the stack at ${this.#origin}`);
    return entry;
  }

  #pops(count: number): Entry[] {
    return this.#stack.splice(this.#stack.length - count, count);
  }

  #emit(op: number, operands: readonly Entry[], more: Partial<Code> = {}): Code {
    const code = { op, operands, dst: 0, words: 0, imm: 0, meta: 0, origin: this.#origin, ...more };
    this.code.push(code);
    return code;
  }

  /** Emits an instruction whose result goes on the stack. */
  #produce(op: number, operands: readonly Entry[], words: number, more: Partial<Code> = {}): void {
    const dst = this.#slot(this.#stack.length);
    this.#emit(op, operands, { dst, words, ...more });
    if (words) this.#push(dst, words);
  }

  #move(dst: number, from: Entry): void {
    if (from.operand === dst) return;
    this.#emit(from.words === 2 ? OP_MOVE_WIDE : OP_MOVE, [from], { dst, words: from.words });
  }

  /** Returns the last instruction if it has put this very entry in its slot, and may still be changed. */
  #maker({ operand, words }: Entry): Code | undefined {
    const last = this.code.at(-1);
    if (!last || this.code.length <= this.#barrier || operand < this.localsEnd) return undefined;
    return last.words === words && last.dst === operand ? last : undefined;
  }

  /** Moves the entries for which `which` holds to their slots. */
  #settle(which: (operand: number) => boolean): void {
    for (const [height, entry] of this.#stack.entries()) {
      if (!which(entry.operand)) continue;
      this.#move(this.#slot(height), entry);
      this.#stack[height] = { operand: this.#slot(height), words: entry.words };
    }
  }

  #settleGlobals(): void {
    this.#settle((operand) => operand >= GLOBALS_AREA);
  }

  #block(op: number, words: number, otherwise?: Label): Block {
    // Constants have the highest bit, so they are below 0. They need no slot.
    this.#settle((operand) => operand >= 0);
    return { op, label: { at: -1, used: false }, otherwise, height: this.#stack.length, words };
  }

  #bind(label: Label): void {
    label.at = this.code.length;
    this.#barrier = this.code.length;
  }

  #jump(label: Label): void {
    label.used = true;
    this.#emit(OP_BRANCH, [], { label });
  }

  /** Returns the block that a branch leaves, or starts again; undefined if the branch returns. */
  #target(depth: number): Block {
    const block = this.#blocks.at(-1 - depth);
    if (!block) throw new Error(`no label ${depth} at ${this.#origin}`);
    return block;
  }

  /** Moves the value to where a branch to the block expects it. */
  #carry(block: Block): void {
    const top = this.#stack.at(-1);
    if (block.op !== LOOP && block.words && top) this.#move(this.#slot(block.height), top);
  }

  #branch(depth: number): void {
    const block = this.#target(depth);
    if (block === this.#blocks[0]) this.#return();
    else {
      this.#carry(block);
      this.#jump(block.label);
    }
  }

  /** Branches if the condition is not zero; with `negated`, if it is zero. */
  #branchIf(condition: Entry, label: Label, negated = 0): void {
    label.used = true;
    const maker = this.#maker(condition);
    if (maker && isTest(maker.op)) {
      Object.assign(maker, { words: 0, dst: 0, meta: (maker.meta ^ negated) | BRANCHES, label });
    } else {
      this.#emit(OP_NOT_ZERO, [condition], { meta: negated | BRANCHES, label });
    }
  }

  /** Skips `act`, the work of a branch that is taken, if the condition is zero. */
  #branchAround(condition: Entry, act: () => void): void {
    const over = { at: -1, used: false };
    this.#branchIf(condition, over, NEGATED);
    act();
    this.#bind(over);
  }

  #return(): void {
    const value = this.#resultWords ? (this.#stack.at(-1) ?? NOTHING) : NOTHING;
    this.#emit(OP_RETURN, [value], { meta: this.#resultWords });
  }

  #set(local: Entry, value: Entry): void {
    if (value.operand === local.operand) return;
    this.#settle((operand) => operand === local.operand);
    const maker = this.#maker(value);
    if (maker) maker.dst = local.operand;
    else this.#move(local.operand, value);
  }

  #end(): void {
    const block = this.#blocks.pop() as Block;
    if (this.#blocks.length === 0) {
      if (this.#reachable) this.#return();
      return;
    }
    const { label, otherwise } = block;
    if (this.#reachable && block.words) {
      this.#move(this.#slot(block.height), this.#stack.at(-1) ?? NOTHING);
    }
    if (block.op !== LOOP && label.used) {
      this.#bind(label);
      this.#reachable = true;
    }
    if (otherwise) {
      this.#bind(otherwise);
      this.#reachable = true;
    }
    this.#stack.length = block.height;
    if (block.words) this.#push(this.#slot(block.height), block.words);
  }

  /** Begins the second half of an `if`, whose first half has ended or cannot get here. */
  #else(): void {
    const block = this.#blocks.pop() as Block;
    if (this.#reachable) {
      this.#carry(block);
      this.#jump(block.label);
    }
    if (block.otherwise) this.#bind(block.otherwise);
    this.#stack.length = block.height;
    this.#blocks.push({ ...block, otherwise: undefined });
    this.#reachable = true;
  }

  #skip({ op }: Instruction): void {
    if (op === BLOCK || op === LOOP || op === IF) this.#skipped++;
    else if (op === END && this.#skipped > 0) this.#skipped--;
    else if (this.#skipped > 0) return;
    else if (op === END) this.#end();
    else if (op === ELSE) this.#else();
  }

  #translate(instruction: Instruction): void {
    const { op, a, b } = instruction;
    const access = ACCESSES.get(op);
    const numeric = NUMERIC.get(op);
    if (access) this.#access(access, b);
    else if (numeric) this.#numeric(op, numeric.shape);
    else {
      switch (op) {
        case NOP:
        // Every access is sequentially consistent here, so a fence orders nothing.
        case ATOMIC_FENCE:
          return;
        case UNREACHABLE:
          this.#emit(OP_UNREACHABLE, []);
          this.#reachable = false;
          return;
        case BLOCK:
          this.#blocks.push(this.#block(BLOCK, a));
          return;
        case LOOP: {
          const block = this.#block(LOOP, a);
          this.#emit(OP_ENTER_LOOP, []);
          this.#bind(block.label);
          this.#blocks.push(block);
          return;
        }
        case IF: {
          const condition = this.#pop();
          const otherwise = { at: -1, used: false };
          const block = this.#block(IF, a, otherwise);
          this.#branchIf(condition, otherwise, NEGATED);
          this.#blocks.push(block);
          return;
        }
        case ELSE:
          this.#else();
          return;
        case END:
          this.#end();
          return;
        case BR:
          this.#branch(a);
          this.#reachable = false;
          return;
        case BR_IF: {
          const condition = this.#pop();
          const block = this.#target(a);
          const simple = block !== this.#blocks[0] && (block.op === LOOP || !block.words);
          if (simple) this.#branchIf(condition, block.label);
          else this.#branchAround(condition, () => this.#branch(a));
          return;
        }
        case BR_TABLE:
          this.#branchTable(this.#pop(), [...(instruction.labels ?? []), a]);
          this.#reachable = false;
          return;
        case RETURN:
          this.#return();
          this.#reachable = false;
          return;
        case CALL:
          this.#call(a);
          return;
        case DROP:
          this.#pop();
          return;
        case SELECT: {
          const [yes, no, condition] = this.#pops(3);
          this.#produce(yes.words === 2 ? OP_SELECT_WIDE : OP_SELECT, [yes, no, condition], yes.words);
          return;
        }
        case LOCAL_GET:
          this.#push(this.#locals[a].operand, this.#locals[a].words);
          return;
        case LOCAL_SET:
          this.#set(this.#locals[a], this.#pop());
          return;
        case LOCAL_TEE:
          this.#set(this.#locals[a], this.#pop());
          this.#push(this.#locals[a].operand, this.#locals[a].words);
          return;
        case GLOBAL_GET:
          this.#push(GLOBALS_AREA | (2 * a), wordsOf(this.#module.globals[a].type));
          return;
        case GLOBAL_SET: {
          const value = this.#pop();
          this.#settleGlobals();
          this.#emit(value.words === 2 ? OP_SET_GLOBAL_WIDE : OP_SET_GLOBAL, [value], { imm: 2 * a });
          return;
        }
        case MEMORY_SIZE:
          this.#produce(OP_MEMORY_SIZE, [], 1);
          return;
        case I32_CONST:
          this.#push(this.#constants.operand(a), 1);
          return;
        case I64_CONST:
          this.#push(this.#constants.operand(a, b), 2);
          return;
        default:
          throw new Error(`${nameOf(op)} at ${this.#origin} is not supported`);
      }
    }
  }

  #numeric(op: number, shape: string): void {
    const operands = this.#pops(shape.length - 1);
    const [only] = operands;
    if (op === I32_WRAP_I64) {
      // The result is the low word, which is in its place already. From now on the entry has one word.
      this.#push(only.operand, 1);
      return;
    }
    const maker = op === I32_EQZ ? this.#maker(only) : undefined;
    if (maker && isTest(maker.op)) {
      maker.meta ^= NEGATED;
      this.#push(only.operand, 1);
    } else this.#produce(op, operands, shape[0] === 'l' ? 2 : 1);
  }

  #access(access: MemoryAccess, offset: number): void {
    const kind = KINDS.indexOf(access.kind);
    const operands = this.#pops({ load: 1, store: 2, rmw: 2, cmpxchg: 3, wait: 3, notify: 2 }[access.kind]);
    const wide = access.wide && access.kind !== 'wait';
    const words = access.kind === 'store' ? 0 : wide ? 2 : 1;
    this.#produce(OP_ACCESS + kind, operands, words, { imm: offset, meta: metaOf(access) });
  }

  #call(index: number): void {
    const { type } = this.#module.functions[index];
    const args = this.#pops(type.params.length);
    this.#settleGlobals();
    let word = ARGUMENTS + FRAME_HEADER;
    for (const argument of args) {
      this.#move(word, argument);
      word += argument.words;
    }
    const words = wordsOf(type.results[0]);
    // The index of the callee stands in imm until the entry of the callee is known.
    this.#produce(OP_CALL, [], words, { imm: index, meta: words });
  }

  #branchTable(index: Entry, depths: readonly number[]): void {
    // Each way has a few instructions of its own, since it may carry a value, or return.
    const ways = depths.map(() => ({ at: -1, used: true }));
    this.#emit(OP_BRANCH_TABLE, [index], { labels: ways, meta: ways.length });
    for (const [i, depth] of depths.entries()) {
      this.#bind(ways[i]);
      this.#branch(depth);
    }
  }
}

/** Says whether an instruction of register code is a comparison. */
function isTest(op: number): boolean {
  return isComparison(op) || op === OP_NOT_ZERO;
}
