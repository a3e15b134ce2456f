// Copied by scripts/embed.mjs from src/common/symbols.ts of taketurns.
/// <reference lib="esnext.disposable" preserve="true" />
/** The names by which `using` ends a guard. */

// Node 20 before 20.5.1 has no Symbol.dispose. The helpers of TypeScript and its polyfills all use this name.
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
