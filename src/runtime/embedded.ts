/** A thread compiles each embedded WebAssembly module once, when its first arena needs it. */
import { decode } from './decode.js';
import { compile } from './requirements.js';

/** Returns a function that gives the module in these bytes (decode.ts). */
export function embedded(bytes: string): () => WebAssembly.Module {
  let compiled: WebAssembly.Module | undefined;
  return () => {
    compiled ??= compile(decode(bytes));
    return compiled;
  };
}

/**
 * Makes an instance of a module. It returns a copy of the exports, because the exports object is frozen and functions
 * that a thread must not call are replaced.
 */
export function instanceOf<Exports>(module: WebAssembly.Module, imports: WebAssembly.Imports): Exports {
  return { ...new WebAssembly.Instance(module, imports).exports } as Exports;
}
