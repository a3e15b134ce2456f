/** If a program has the types of the platform, they fit the types of the package. */
import { Arena, type ArenaHandle, Semaphore } from 'taketurns';

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
export const handle: ArenaHandle = { kind: 'Arena', memory, isDefault: false };
export const pages: number = handle.memory instanceof WebAssembly.Memory ? handle.memory.grow(0) : 0;
new Semaphore(1).acquire(1, { signal: AbortSignal.timeout(1) });
new Semaphore(1).acquire(1, { signal: new AbortController().signal });
Arena.default.watch(new Worker('worker.js'), Arena.default.thread);
// @ts-expect-error a controller is no signal
new Semaphore(1).acquire(1, { signal: new AbortController() });
