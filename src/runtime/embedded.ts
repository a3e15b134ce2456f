/** A thread compiles each embedded WebAssembly module once, when its first arena needs it. */
import { decode } from './decode.js';
import { compile } from './requirements.js';

/**
 * Returns a function that makes an instance of the module in these bytes (decode.ts). It returns a copy of the exports,
 * because the exports object is frozen and functions that a thread must not call are replaced.
 */
export function embedded<Exports>(bytes: string): (imports: WebAssembly.Imports) => Exports {
  let compiled: WebAssembly.Module | undefined;
  return (imports) => {
    compiled ??= compile(decode(bytes));
    return { ...new WebAssembly.Instance(compiled, imports).exports } as Exports;
  };
}
