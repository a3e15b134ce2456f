/** A thread compiles each embedded WebAssembly module once, when its first arena needs it. */
import { decode } from './decode.js';
import { compile } from './requirements.js';

/** Returns a function that compiles the module at its first call, from the text of its bytes (decode.ts). */
export function embedded(bytes: string): () => WebAssembly.Module {
  let compiled: WebAssembly.Module | undefined;
  return () => {
    compiled ??= compile(decode(bytes));
    return compiled;
  };
}

/**
 * Makes an instance of a module. Returns a copy of the exports. The exports object itself is frozen, and the library
 * replaces the functions that a thread must not call.
 */
export function instanceOf<Exports>(module: WebAssembly.Module, imports: WebAssembly.Imports): Exports {
  return { ...new WebAssembly.Instance(module, imports).exports } as Exports;
}

/**
 * Adds a property to the functions of a module. If it were assigned, V8 would turn an object of so many properties into a
 * dictionary, and each call of the core would look its function up there: a promise would take a tenth longer.
 */
export function mark(functions: object, key: symbol, value: unknown): void {
  Object.defineProperty(functions, key, { value });
}
