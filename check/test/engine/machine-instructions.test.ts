/**
 * Each instruction, and random programs of instructions, run on the machine and in the runtime, and come to the same
 * results, traps, memory and globals.
 */
import { describe, expect, it } from 'vitest';
import { roundsInCi } from '../../../test/support/rounds.js';
import { Machine } from '../../src/engine/machine/machine.js';
import { decode } from '../../src/engine/wasm/decode.js';
import { ACCESSES, NUMERIC } from '../../src/engine/wasm/opcodes.js';
import { translate } from '../../src/engine/wasm/translate.js';
import {
  assemble,
  callMachine,
  callReal,
  type Draw,
  draws,
  instantiate,
  PAGE,
  sameWords,
  sharedMemory,
  signed,
  type TestFunction,
  type Type,
  unsigned,
  type Value,
} from './machine-support.js';

const GET = 0x20;
const END = 0x0b;
const letters = { i: 'i32', l: 'i64' } as const;
const opcode = (op: number) => (op > 0xff ? [op >> 8, ...unsigned(op & 0xff)] : [op]);

const EDGES = [0n, 1n, 2n, 31n, 32n, 33n, 63n, 64n, 0x7fn, 0x80n, 0x7fffn, 0x8000n, 0x7fffffffn, 0x80000000n]
  .concat([0xffffffffn, 0x100000000n, 0x1ffffffffn, 0x7fffffff00000000n, 0x123456789abcdef0n])
  .concat([0xfedcba9876543210n, 0x8000000000000000n, 0x7fffffffffffffffn, 0xffffffff00000000n])
  .concat([0xffffffffffffffffn, 0xfffffffffffffffen, 0xffffffff7fffffffn, 0x10000n, 0xffff0000ffffn]);
const valuesOf = (type: Type): Value[] =>
  type === 'i64'
    ? EDGES.map((value) => BigInt.asIntN(64, value))
    : [...new Set(EDGES.map((value) => Number(BigInt.asIntN(32, value))))];

function pairs(functions: readonly TestFunction[], globals: readonly Type[] = []) {
  const bytes = assemble(functions, globals);
  const memory = sharedMemory();
  const real = instantiate(new WebAssembly.Module(new Uint8Array(bytes)), memory);
  const machine = new Machine(translate(decode(bytes)), { bytes: PAGE, threads: 1, used: PAGE });
  return { real, machine, memory: new Int32Array(memory.buffer) };
}

describe('numeric instructions', () => {
  it.each([...NUMERIC].map(([op, { name, shape }]) => ({ op, name, shape })))('$name', ({ op, shape }) => {
    const [result, ...params] = [...shape].map((letter) => letters[letter as 'i' | 'l']) as [Type, ...Type[]];
    const gets = params.flatMap((_, i) => [GET, i]);
    const { real, machine } = pairs([{ params, result, locals: [], body: [...gets, ...opcode(op), END] }]);
    let traps = 0;
    for (const a of valuesOf(params[0] as Type)) {
      for (const b of params[1] ? valuesOf(params[1]) : [undefined]) {
        const args = b === undefined ? [a] : [a, b];
        const start = machine.snapshot();
        const expected = callReal(real.f0 as never, args);
        expect(callMachine(machine, 0, 0, args, result), `${args}`).toBe(expected);
        if (expected === 'trap') {
          machine.restore(start);
          traps++;
        }
      }
    }
    expect(traps > 0, 'some trap').toBe(/div|rem/.test(NUMERIC.get(op)?.name ?? ''));
  });
});

describe('accesses to memory', () => {
  const accesses = [...ACCESSES].filter(([, { kind }]) => kind !== 'wait' && kind !== 'notify');
  it.each(accesses.map(([code, access]) => ({ ...access, code })))('$name', ({ code, kind, bytes, wide }) => {
    const value: Type = wide ? 'i64' : 'i32';
    const params: Type[] = ['i32', ...Array({ load: 0, store: 1, rmw: 1, cmpxchg: 2 }[kind as 'load']).fill(value)];
    const body = [...params.flatMap((_, i) => [GET, i]), ...opcode(code), Math.log2(bytes), 8, END];
    const result = kind === 'store' ? undefined : value;
    const { real, machine, memory } = pairs([{ params, result, locals: [], body }]);
    const draw = draws(code);
    const offsets = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, PAGE - 8 - bytes, PAGE - 8 - bytes + 1, PAGE, -1, -8];
    let traps = 0;
    for (const address of offsets) {
      for (let i = 0; i < roundsInCi(40, 10); i++) {
        for (const word of [2, 3, 4, 5, PAGE / 4 - 2, PAGE / 4 - 1]) {
          memory[word] = draw(2) ? draw(2 ** 32) : draw(2) * 0xffff;
          machine.hostStore32(4 * word, memory[word] as number);
        }
        const there = new DataView(memory.buffer);
        const args: Value[] = [address];
        for (const _ of params.slice(1)) {
          const any = BigInt.asIntN(64, (BigInt(draw(2 ** 32)) << 32n) | BigInt(draw(2 ** 32)));
          args.push(wide ? any : Number(BigInt.asIntN(32, any)));
        }
        // Every other cmpxchg finds what it expects.
        if (kind === 'cmpxchg' && i % 2 && address >= 0 && address + 16 <= PAGE) {
          const found = there.getBigUint64(address + 8, true) & (2n ** BigInt(8 * bytes) - 1n);
          args[1] = wide ? BigInt.asIntN(64, found) : Number(BigInt.asIntN(32, found));
        }
        const start = machine.snapshot();
        const expected = callReal(real.f0 as never, args);
        expect(callMachine(machine, 0, 0, args, result), `${args}`).toBe(expected);
        expect(sameWords(machine.words, memory), `memory after ${args}`).toBe(true);
        if (expected === 'trap') {
          machine.restore(start);
          traps++;
        }
      }
    }
    expect(traps).toBeGreaterThan(0);
  });
});

// --- Random programs ------------------------------------------------------------------------------------

const GLOBALS: readonly Type[] = ['i32', 'i64', 'i32'];
const SCRATCH = 0xf8;

/** Draws the body of a function. Loops run down a counter, the last local, so that every program ends. */
class Author {
  readonly #draw: Draw;
  readonly #variables: readonly Type[];
  readonly #callees: readonly TestFunction[];
  readonly #result: Type | undefined;
  #depth = 0;
  /** The result types of the open blocks, innermost last; a 'loop' takes none. */
  readonly #labels: (Type | undefined | 'loop')[] = [];

  constructor(draw: Draw, variables: readonly Type[], callees: readonly TestFunction[], result: Type | undefined) {
    this.#draw = draw;
    this.#variables = variables;
    this.#callees = callees;
    this.#result = result;
  }

  body(): number[] {
    return [...this.#statements(3 + this.#draw(4)), ...(this.#result ? this.#value(this.#result) : []), END];
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#draw(items.length)] as T;
  }

  #statements(count: number): number[] {
    return Array.from({ length: count }, () => this.#statement()).flat();
  }

  /** Returns a variable of this type, but never the counter. */
  #variable(type: Type): number | undefined {
    const fitting = this.#variables.slice(0, -1).flatMap((other, i) => (other === type ? [i] : []));
    return fitting.length ? this.#pick(fitting) : undefined;
  }

  #constant(type: Type): number[] {
    const value = this.#pick(EDGES);
    return type === 'i32' ? [0x41, ...signed(BigInt.asIntN(32, value))] : [0x42, ...signed(BigInt.asIntN(64, value))];
  }

  #address(): number[] {
    return [...this.#value('i32'), 0x41, ...signed(SCRATCH), 0x71];
  }

  #access(kinds: readonly string[], wide: boolean, result: boolean): number[] {
    const fitting = [...ACCESSES].filter(([, access]) => kinds.includes(access.kind) && access.wide === wide);
    const [op, { kind, bytes }] = this.#pick(fitting);
    const type = wide ? 'i64' : 'i32';
    const operands = { load: 0, store: 1, rmw: 1, cmpxchg: 2 }[kind as 'load'];
    return [
      ...this.#address(),
      ...Array.from({ length: operands }, () => this.#value(type)).flat(),
      ...opcode(op),
      Math.log2(bytes),
      8 * this.#draw(3),
      ...(result || kind === 'store' ? [] : [0x1a]),
    ];
  }

  #nested<T>(label: Type | undefined | 'loop', inner: () => T): T {
    this.#labels.push(label);
    this.#depth++;
    const made = inner();
    this.#depth--;
    this.#labels.pop();
    return made;
  }

  #blockType(type: Type | undefined): number {
    return type === undefined ? 0x40 : type === 'i32' ? 0x7f : 0x7e;
  }

  /**
   * Returns the labels to which a branch may go that carries a value of this type, or no value. Loops are left out,
   * because they have a counter.
   */
  #labelsFor(type: Type | undefined): number[] {
    const count = this.#labels.length;
    const fitting = this.#labels.flatMap((label, i) => (label === type ? [count - 1 - i] : []));
    return this.#result === type ? [...fitting, count] : fitting;
  }

  #value(type: Type): number[] {
    this.#depth++;
    const made = this.#depth > 6 ? this.#leaf(type) : this.#pick([() => this.#leaf(type), () => this.#tree(type)])();
    this.#depth--;
    return made;
  }

  #leaf(type: Type): number[] {
    const variable = this.#variable(type);
    const kind = this.#draw(4);
    if (kind === 0) return this.#constant(type);
    if (kind === 1) return [0x23, this.#pick(type === 'i32' ? [0, 2] : [1])];
    return variable === undefined ? this.#constant(type) : [GET, variable];
  }

  #tree(type: Type): number[] {
    const wide = type === 'i64';
    const variable = this.#variable(type);
    switch (this.#draw(9)) {
      case 0:
        return [...this.#value(type), ...this.#value(type), ...this.#value('i32'), 0x1b];
      case 1: {
        const head = [...this.#value('i32'), 0x04, this.#blockType(type)];
        return this.#nested(type, () => [
          ...head,
          ...this.#statements(this.#draw(2)),
          ...this.#value(type),
          0x05,
          ...this.#statements(this.#draw(2)),
          ...this.#value(type),
          END,
        ]);
      }
      case 2:
        return this.#nested(type, () => [
          0x02,
          this.#blockType(type),
          // The block may be left before its end, with a value, and with values below it on the stack.
          ...this.#value('i32'),
          ...this.#value(type),
          ...this.#value('i32'),
          0x0d,
          this.#pick(this.#labelsFor(type)),
          0x1a,
          0x1a,
          ...this.#statements(this.#draw(2)),
          ...this.#value(type),
          END,
        ]);
      case 3:
        return variable === undefined ? this.#leaf(type) : [...this.#value(type), 0x22, variable];
      case 4:
        return this.#access(['load', 'rmw', 'cmpxchg'], wide, true);
      case 5: {
        const fitting = this.#callees.flatMap(({ result }, i) => (result === type ? [i] : []));
        if (!fitting.length) return this.#leaf(type);
        const index = this.#pick(fitting);
        const args = (this.#callees[index] as TestFunction).params.flatMap((param) => this.#value(param));
        return [...args, 0x10, index];
      }
      default: {
        const [op, { shape }] = this.#pick([...NUMERIC].filter(([, { shape }]) => letters[shape[0] as 'i'] === type));
        // Division mostly traps on such operands, so it is drawn less often.
        if (/div|rem/.test(NUMERIC.get(op)?.name ?? '') && this.#draw(4)) return this.#leaf(type);
        return [...[...shape.slice(1)].flatMap((letter) => this.#value(letters[letter as 'i'])), ...opcode(op)];
      }
    }
  }

  #statement(): number[] {
    this.#depth++;
    const made = this.#depth > 6 ? this.#simple() : this.#pick([() => this.#simple(), () => this.#compound()])();
    this.#depth--;
    return made;
  }

  #simple(): number[] {
    const type = this.#pick(['i32', 'i64'] as const);
    const variable = this.#variable(type);
    switch (this.#draw(4)) {
      case 0:
        return [...this.#value(type), 0x24, this.#pick(type === 'i32' ? [0, 2] : [1])];
      case 1:
        return this.#access(['store', 'rmw', 'cmpxchg'], type === 'i64', false);
      default:
        return variable === undefined ? [0x01] : [...this.#value(type), 0x21, variable];
    }
  }

  #compound(): number[] {
    const counter = this.#variables.length - 1;
    switch (this.#draw(7)) {
      case 0: {
        const head = [...this.#value('i32'), 0x04, 0x40];
        const otherwise = this.#draw(2) === 0;
        return this.#nested(undefined, () => [
          ...head,
          ...this.#statements(1 + this.#draw(2)),
          ...(otherwise ? [0x05, ...this.#statements(1 + this.#draw(2))] : []),
          END,
        ]);
      }
      case 1:
        return this.#nested(undefined, () => [
          0x02,
          0x40,
          ...this.#statements(1 + this.#draw(2)),
          ...this.#value('i32'),
          0x0d,
          this.#pick(this.#labelsFor(undefined)),
          ...this.#statements(1 + this.#draw(2)),
          END,
        ]);
      case 2:
        // loop: ...; if (counter > 0) { counter--; again }
        return this.#nested('loop', () => [
          0x03,
          0x40,
          ...this.#statements(1 + this.#draw(2)),
          ...[GET, counter, 0x41, 0, 0x4a, 0x04, 0x40, GET, counter, 0x41, 1, 0x6b, 0x21, counter, 0x0c, 1, END],
          END,
        ]);
      case 3:
        return this.#nested(undefined, () => {
          const labels = Array.from({ length: this.#draw(4) }, () => this.#pick(this.#labelsFor(undefined)));
          const other = this.#pick(this.#labelsFor(undefined));
          const index = [...this.#value('i32'), 0x41, 3, 0x71];
          return [0x02, 0x40, ...index, 0x0e, labels.length, ...labels, other, ...this.#statements(1), END];
        });
      case 4: {
        const head = [...this.#value('i32'), 0x04, 0x40];
        return this.#nested(undefined, () => [
          ...head,
          ...(this.#result ? this.#value(this.#result) : []),
          0x0f,
          ...this.#statements(this.#draw(2)),
          END,
        ]);
      }
      case 5: {
        if (!this.#callees.length) return this.#simple();
        const index = this.#draw(this.#callees.length);
        const { params, result } = this.#callees[index] as TestFunction;
        return [...params.flatMap((param) => this.#value(param)), 0x10, index, ...(result ? [0x1a] : [])];
      }
      default:
        return this.#nested(undefined, () => {
          const head = [0x02, 0x40, ...this.#statements(this.#draw(2))];
          return [...head, 0x0c, this.#pick(this.#labelsFor(undefined)), ...this.#statements(1), END];
        });
    }
  }
}

function randomFunctions(draw: Draw): TestFunction[] {
  const type = () => (draw(2) ? 'i32' : 'i64') as Type;
  const functions: TestFunction[] = [];
  for (let i = 0; i < 3; i++) {
    const params = Array.from({ length: draw(4) }, type);
    const result = draw(4) ? type() : undefined;
    const locals = [...Array.from({ length: draw(4) }, type), 'i32' as Type];
    const author = new Author(draw, [...params, ...locals], [...functions], result);
    // The counter is the last local. It allows three rounds in each call.
    const counter = params.length + locals.length - 1;
    functions.push({ params, result, locals, body: [0x41, 3, 0x21, counter, ...author.body()] });
  }
  return functions;
}

describe('random programs', () => {
  const PROGRAMS = roundsInCi(1000, 300);

  it('have the same outcome on both, with steps undone on the way', () => {
    let traps = 0;
    let steps = 0;
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const draw = draws(Math.imul(seed, 0x9e3779b1));
      const functions = randomFunctions(draw);
      const { real, machine, memory } = pairs(functions, GLOBALS);
      for (let round = 0; round < 4; round++) {
        const index = draw(functions.length);
        const { params, result } = functions[index] as TestFunction;
        const args = params.map((type) => valuesOf(type)[draw(valuesOf(type).length)] as Value);
        const start = machine.snapshot();
        // A detour makes some steps and undoes them. Undo leaves dead words as they are. No result may depend on them.
        const detour = () => {
          steps++;
          const mark = machine.mark();
          try {
            for (let i = draw(4); i > 0 && machine.status(0) === 1; i--) machine.step(0);
          } catch {
            // The trap comes again without the detour.
          }
          machine.undo(mark);
        };
        const expected = callReal(real[`f${index}`] as never, args);
        const found = callMachine(machine, 0, index, args, result, detour);
        if (found === 'stuck') break;
        expect(found, `seed ${seed} round ${round}`).toBe(expected);
        expect(sameWords(machine.words, memory), `memory, seed ${seed}`).toBe(true);
        for (const [g, type] of GLOBALS.entries()) {
          const { value } = real[`g${g}`] as WebAssembly.Global;
          const wide = (BigInt(machine.getHi(0, g)) << 32n) | BigInt(machine.get(0, g) >>> 0);
          expect(type === 'i32' ? machine.get(0, g) : wide, `global ${g}, seed ${seed}`).toBe(value);
        }
        if (found === 'trap') {
          // The thread cannot go on, so the next program begins from the start.
          machine.restore(start);
          traps++;
          break;
        }
      }
    }
    expect(traps).toBeGreaterThan(PROGRAMS / 20);
    expect(steps).toBeGreaterThan(10 * PROGRAMS);
  });
});
