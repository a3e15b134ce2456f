/**
 * Translates a module to a program (code.ts). First each function is translated (translate-function.ts). Then all
 * functions go into one image, with their constants, branch tables and lists of live words.
 */
import {
  FRAME_HEADER,
  GLOBALS_AREA,
  KINDS,
  OP_ACCESS,
  OP_BRANCH,
  OP_BRANCH_TABLE,
  OP_CALL,
  OP_RETURN,
  OP_UNREACHABLE,
  type Program,
  type RegisterFunction,
  STRIDE,
  WAIT,
} from './code.js';
import type { WasmModule } from './decode.js';
import { type Flow, liveness } from './liveness.js';
import type { ValueType } from './opcodes.js';
import { ARGUMENTS, Constants, FunctionTranslator, wordsOf } from './translate-function.js';

/** Says whether control goes on with the instruction that follows. */
function fallsThrough(op: number): boolean {
  return op !== OP_BRANCH && op !== OP_BRANCH_TABLE && op !== OP_RETURN && op !== OP_UNREACHABLE;
}

function hasLiveList(op: number): boolean {
  return op === OP_CALL || (op >= OP_ACCESS && op < OP_ACCESS + KINDS.length);
}

/** Returns the words of values of these types. */
const sum = (types: readonly ValueType[]) => types.reduce((words, type) => words + wordsOf(type), 0);

/** How often a function may be on the stack. It is there twice only if functions call each other in a circle. */
const TURNS = 2;

/** Returns the words of the deepest stack. */
function deepest(functions: readonly { frame: number; callees: readonly number[] }[]): number {
  const depth = (index: number, path: readonly number[]): number => {
    if (path.filter((other) => other === index).length === TURNS) return 0;
    const { frame, callees } = functions[index];
    return frame + Math.max(0, ...callees.map((callee) => depth(callee, [...path, index])));
  };
  return Math.max(0, ...functions.map((_, index) => depth(index, [])));
}

export function translate(module: WasmModule): Program {
  const constants = new Constants();
  const translated = module.functions.map((f) => {
    const { code, frame, localsEnd } = new FunctionTranslator(module, f, constants);
    return { code, frame, localsEnd, paramsEnd: FRAME_HEADER + sum(f.type.params) };
  });
  let size = STRIDE;
  const functions: RegisterFunction[] = translated.map(({ code, frame, localsEnd, paramsEnd }, i) => {
    const { name, type } = module.functions[i];
    const entry = size;
    size += code.length * STRIDE;
    return { name, entry, end: size, params: type.params, paramsEnd, localsEnd, frame };
  });

  const tables = translated.flatMap(({ code }) => code.flatMap(({ labels }) => labels ?? []));
  const constantsAt = size;
  const targetsAt = constantsAt + constants.words.length;
  const liveAt = targetsAt + tables.length;
  const code = new Int32Array(size);
  const origins = new Int32Array(size / STRIDE);
  const owners = new Int32Array(size / STRIDE);
  const live: number[] = [];
  const targets: number[] = [];
  const list = (words: readonly number[]) => live.push(words.length, ...words);
  for (const [index, { code: body, frame }] of translated.entries()) {
    const { entry } = functions[index];
    const place = (word: number) => (word >= ARGUMENTS && word < GLOBALS_AREA ? word - ARGUMENTS + frame : word);
    const flow = body.map((instruction, i): Flow => {
      const { op, label, labels, dst, words, operands, imm } = instruction;
      const reads = operands
        .filter(({ operand }) => operand >= 0 && operand < GLOBALS_AREA)
        .map(({ operand, words }) => [operand, words] as const);
      if (op === OP_CALL) reads.push([frame + FRAME_HEADER, functions[imm].paramsEnd - FRAME_HEADER]);
      const next = [...(labels ?? (label ? [label] : []))].map(({ at }) => at);
      if (fallsThrough(op)) next.push(i + 1);
      return { reads, writes: [place(dst), words], next };
    });
    const alive = liveness(flow);
    for (const [i, instruction] of body.entries()) {
      const { op, dst, operands, label, labels, meta, origin } = instruction;
      const pc = entry + i * STRIDE;
      let [a, b, c] = [0, 1, 2].map((k) => operands[k]?.operand ?? 0);
      let { imm } = instruction;
      if (label) imm = entry + label.at * STRIDE;
      if (labels) imm = targetsAt + targets.push(...labels.map(({ at }) => entry + at * STRIDE)) - labels.length;
      if (op === OP_CALL) {
        const callee = functions[imm];
        [a, b, c] = [callee.localsEnd, frame, callee.paramsEnd];
        imm = callee.entry;
      }
      code.set([op, place(dst), a, b, c, imm, meta, liveAt + live.length], pc);
      if (hasLiveList(op)) {
        const { before, across } = alive(i);
        if (op !== OP_CALL) list(before);
        if (op === OP_CALL || op === OP_ACCESS + WAIT) list(across);
      }
      origins[pc / STRIDE] = origin;
      owners[pc / STRIDE] = index;
    }
  }
  const calls = translated.map(({ code: body, frame }) => ({
    frame,
    callees: [...new Set(body.filter(({ op }) => op === OP_CALL).map(({ imm }) => imm))],
  }));
  return {
    image: Int32Array.from([...code, ...constants.words, ...targets, ...live]),
    codeEnd: size,
    constantsAt,
    origins,
    owners,
    functions,
    globals: module.globals,
    exports: module.exports,
    answers: new Map(),
    start: module.start,
    stack: deepest(calls),
    widest: Math.max(...functions.map(({ frame }) => frame)),
  };
}
