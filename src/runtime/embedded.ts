/** A thread compiles each embedded WebAssembly module once, when its first arena needs it. */
import { decode } from './decode.js';
import { compile } from './requirements.js';

/**
 * How to get an instance of the module in these bytes (decode.ts): its exports, as a copy, because the exports object
 * is frozen and what a thread must not call, or not any more, is replaced.
 */
export function embedded<Exports>(bytes: string): (imports: WebAssembly.Imports) => Exports {
  let compiled: WebAssembly.Module | undefined;
  return (imports) => {
    compiled ??= compile(decode(bytes));
    return { ...new WebAssembly.Instance(compiled, imports).exports } as Exports;
  };
}
