/** A thread compiles the core once, and has an instance of it over the memory of each of its arenas. */
import type { Core } from '../border/core.js';
import { coreBytes } from './core-bytes.js';
import { embedded, instanceOf } from './embedded.js';

/** Returns the compiled core. */
export const coreModule = embedded(coreBytes);

/** Makes an instance of the core for the calling thread, over the memory. */
export function instantiate(memory: WebAssembly.Memory): Core {
  return instanceOf<Core>(coreModule(), { env: { memory } });
}
