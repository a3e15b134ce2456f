/** Gives this thread a second core over the arena of a handle. The arena takes this core for one more thread. */
import { readFileSync } from 'node:fs';
import { BroadcastChannel, threadId } from 'node:worker_threads';

const { KIND_SEMAPHORE } = JSON.parse(readFileSync(new URL('../../build/words.json', import.meta.url), 'utf8'));
let module;
const cores = new Map();
const lines = [];

export function coreOf(handle) {
  const { memory } = handle.arena;
  const id = new BigInt64Array(memory.buffer)[1];
  if (!cores.has(id)) {
    module ??= new WebAssembly.Module(readFileSync(new URL('../../build/core.wasm', import.meta.url)));
    // Without this channel the keeper would take the thread for dead (src/host/keeper.ts).
    const line = new BroadcastChannel(`taketurns:${id}:${threadId + 1}`);
    line.unref();
    lines.push(line);
    const core = new WebAssembly.Instance(module, { env: { memory } }).exports;
    if (!core.open() || core.register(threadId + 1) < 0) throw new Error('no place in the arena');
    cores.set(id, core);
  }
  return cores.get(id);
}

/** Returns this core, after it has attached to the semaphore. */
export function attached(handle) {
  const core = coreOf(handle);
  if (core.attach(handle.address, handle.generation, KIND_SEMAPHORE) < 0) throw new Error('it cannot be attached to');
  return core;
}
