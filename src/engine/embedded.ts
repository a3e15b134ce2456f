/** The embedded WebAssembly modules: each is compiled once a thread, when the first arena needs it. */

import { decode } from './decode.js';

/**
 * How to get an instance of the module in these bytes (decode.ts): its exports, as a copy, because the exports object
 * is frozen and what a thread must not call, or not any more, is replaced.
 */
export function embedded<Exports>(bytes: string): (imports: WebAssembly.Imports) => Exports {
  let compiled: WebAssembly.Module | undefined;
  return (imports) => {
    compiled ??= compile(bytes);
    return { ...new WebAssembly.Instance(compiled, imports).exports } as Exports;
  };
}

function compile(bytes: string): WebAssembly.Module {
  if (typeof WebAssembly === 'undefined' || typeof SharedArrayBuffer === 'undefined') {
    throw new Error(
      'taketurns needs WebAssembly and SharedArrayBuffer. A browser page has shared memory only when it is ' +
        'cross-origin isolated: serve it with the headers Cross-Origin-Opener-Policy: same-origin and ' +
        'Cross-Origin-Embedder-Policy: require-corp',
    );
  }
  return new WebAssembly.Module(decode(bytes));
}
