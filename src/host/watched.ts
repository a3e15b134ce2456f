/** What the ways to notice deaths share: the word of an arena that names its keeper, and the names of threads. */
import { KEEPER, UNWATCHED } from '../border/numbers.js';

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

/** A name for a thread to which the runtime gives none: below 0, and almost surely different for each thread. */
export function randomName(): number {
  return -1 - Math.floor(Math.random() * 2 ** 31);
}
