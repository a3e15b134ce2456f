/**
 * The modules of the core as the simulation runs them. They are the modules that ship, with two changes:
 *
 * - `memory.atomic.wait32`, `memory.atomic.wait64` and `memory.atomic.notify` are calls of imports. So the scheduler
 *   decides who sleeps and who wakes.
 * - An additional export `reset` gives every global its first value. So one instance serves many runs.
 */
import { readFileSync } from 'node:fs';
import { made } from './library.js';

/** The modules. Each module may import globals of the modules before it. */
export const MODULES = ['core', 'sync', 'channel', 'algorithms'] as const;
export type ModuleName = (typeof MODULES)[number];

/** Returns the text of a module (WAT) with the two changes. */
export function changed(wat: string): string {
  const globals = [...wat.matchAll(/\n \(global (\S+) \(mut i(32|64)\) \(i\2\.const (-?\d+)\)\)/g)];
  const sets = globals.map(([, name, bits, value]) => `(global.set ${name} (i${bits}.const ${value}))`);
  const memory = /\n \(import "env" "memory"[^\n]*/;
  if (!memory.test(wat)) throw new Error('an unknown module');
  return wat
    .replace(
      memory,
      (line) => `${line}
 (import "env" "wait" (func $wait (param i32 i32 i64) (result i32)))
 (import "env" "notify" (func $notify (param i32 i32 i32) (result i32)))
 (import "env" "wait64" (func $wait64 (param i32 i32 i64 i64) (result i32)))`,
    )
    .replace(/\(memory\.atomic\.wait32(?! offset)/g, '(call $wait')
    .replace(/\(memory\.atomic\.wait64(?: offset=(\d+))?/g, (_, offset) => `(call $wait64 (i32.const ${offset ?? 0})`)
    .replace(/\(memory\.atomic\.notify(?: offset=(\d+))?/g, (_, offset) => `(call $notify (i32.const ${offset ?? 0})`)
    .replace(/\)\s*$/, ` (export "reset" (func $reset))\n (func $reset ${sets.join(' ')})\n)\n`);
}

/** Returns the bytes of a changed module. */
export async function assembled(name: ModuleName): Promise<Uint8Array> {
  const { default: binaryen } = await import('assemblyscript/binaryen');
  const wat = readFileSync(new URL(`../../build/${name}.wat`, import.meta.url), 'utf8');
  const module = binaryen.parseText(changed(wat));
  module.setFeatures(binaryen.Features.Atomics | binaryen.Features.BulkMemory | binaryen.Features.MutableGlobals);
  if (!module.validate()) throw new Error(`${name}: not valid`);
  return module.emitBinary();
}

const compiled = new Map<ModuleName, WebAssembly.Module>();

/** Returns a module that `prepare` has made. */
export function moduleOf(name: ModuleName): WebAssembly.Module {
  let module = compiled.get(name);
  module ??= new WebAssembly.Module(readFileSync(new URL(`${name}.wasm`, made)));
  compiled.set(name, module);
  return module;
}
