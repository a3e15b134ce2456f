/** The word of an arena that says who notices the deaths of its threads. */

// These numbers are of core/memory/layout.ts, and a unit test compares them.
/** Its address, and its value in an arena in which nobody does. */
export const KEEPER = 456;
const UNWATCHED = -1;

/** The word, for `Atomics`. */
export function keeperOf(memory: WebAssembly.Memory): Int32Array {
  return new Int32Array(memory.buffer, KEEPER, 1);
}

/** Whether deaths are to be noticed in an arena. */
export function isWatched(memory: WebAssembly.Memory): boolean {
  return Atomics.load(keeperOf(memory), 0) !== UNWATCHED;
}

/** Makes an arena one in which no deaths are noticed. */
export function unwatch(memory: WebAssembly.Memory): void {
  Atomics.store(keeperOf(memory), 0, UNWATCHED);
}
