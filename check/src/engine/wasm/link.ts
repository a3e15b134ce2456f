/**
 * Joins two modules in one program, for a thread that has an instance of each. Only functions that call nothing and use
 * no global are taken over: these are the same in any module.
 */
import type { WasmModule } from './decode.js';
import { CALL, GLOBAL_GET, GLOBAL_SET } from './opcodes.js';

/** Returns the module with some functions that another exports. */
export function withLeaves(module: WasmModule, other: WasmModule, names: readonly string[]): WasmModule {
  const functions = [...module.functions];
  const exports = new Map(module.exports);
  // Offsets of instructions are counted as if the other file followed the first.
  const end = Math.max(...functions.flatMap(({ body }) => body.map(({ offset }) => offset))) + 1;
  for (const name of names) {
    const index = other.exports.get(name);
    if (index === undefined) throw new Error(`the module exports no ${name}`);
    const leaf = other.functions[index];
    if (leaf.body.some(({ op }) => op === CALL || op === GLOBAL_GET || op === GLOBAL_SET))
      throw new Error(`${leaf.name} calls another function, or uses a global`);
    const body = leaf.body.map((instruction) => ({ ...instruction, offset: instruction.offset + end }));
    exports.set(name, functions.push({ ...leaf, body }) - 1);
  }
  return { ...module, functions, exports };
}
