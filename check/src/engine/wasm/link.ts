/**
 * Joins two modules in one program, for a thread that has an instance of each module. The caller names the functions of
 * the second module that the first module takes over. The functions that these functions call come along. If both
 * modules have a global of the same name, the program has this global once. This is right only for the globals that the
 * second module imports from the first, and for the globals in MAY_BE_ONE. Any other such global is refused.
 */
import type { WasmModule } from './decode.js';
import { CALL, GLOBAL_GET, GLOBAL_SET } from './opcodes.js';

/**
 * The globals that may become one. Each instance sets the globals of the arena and of the thread when it opens the
 * arena, and both instances set the same values. The other globals only say where to look first, or how often to look.
 */
const MAY_BE_ONE = /^(arena|threads)\/|^(elements|objects)\/hint$|^polling\/(near|pauses|pauseSink)$/;

/** Returns `module` with the functions that `other` exports under these names. */
export function joined(module: WasmModule, other: WasmModule, names: readonly string[]): WasmModule {
  const functions = [...module.functions];
  const globals = [...module.globals];
  const exports = new Map(module.exports);
  // Offsets of instructions are counted as if the other file followed the first.
  const end = Math.max(...functions.flatMap(({ body }) => body.map(({ offset }) => offset))) + 1;
  const known = new Map<number, number>();
  const globalOf = (index: number): number => {
    const global = other.globals[index];
    const own = globals.findIndex(({ name }) => name === global.name);
    if (own < 0 && global.isImported) throw new Error(`the first module has no ${global.name}`);
    if (own >= 0 && own < module.globals.length && !global.isImported && !MAY_BE_ONE.test(global.name))
      throw new Error(`each module has a ${global.name} of its own: a function of one must not need that of the other`);
    return own >= 0 ? own : globals.push(global) - 1;
  };
  const functionOf = (index: number): number => {
    const before = known.get(index);
    if (before !== undefined) return before;
    const { body, name, ...others } = other.functions[index];
    // Each module has its own copy of a function that both need. The two copies may differ, since the compiler may have
    // inlined other functions in one of them. So the second copy gets a name of its own.
    const rest = { ...others, name: module.functions.some((fn) => fn.name === name) ? `copy/${name}` : name };
    const at = functions.push({ ...rest, body: [] }) - 1;
    known.set(index, at);
    const moved = body.map((instruction) => {
      const { op, a, offset } = instruction;
      if (op === CALL) return { ...instruction, a: functionOf(a), offset: offset + end };
      if (op === GLOBAL_GET || op === GLOBAL_SET) return { ...instruction, a: globalOf(a), offset: offset + end };
      return { ...instruction, offset: offset + end };
    });
    functions[at] = { ...rest, body: moved };
    return at;
  };
  for (const name of names) {
    const index = other.exports.get(name);
    if (index === undefined) throw new Error(`the module exports no ${name}`);
    exports.set(name, functionOf(index));
  }
  return { ...module, functions, globals, exports };
}
