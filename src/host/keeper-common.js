/**
 * What the keepers of all runtimes do (keeper-thread.js, ports-thread.js).
 *
 * A keeper keeps the memory of an arena for as long as it has the line of a living thread of the arena. An instance of
 * the core over this memory takes more room than all else here. So the keeper makes an instance for each look and each
 * death, and then drops it.
 */
import { workerData } from 'node:worker_threads';

const arenas = new Map();

/** Returns what the keeper knows of the arena in a memory, and an instance of the core; undefined if there is no arena. */
export function meet(memory) {
  const core = new WebAssembly.Instance(workerData.module, { env: { memory } }).exports;
  if (!core.open()) return undefined;
  const id = core.id();
  let arena = arenas.get(id);
  const isNew = !arena;
  if (isNew) {
    arena = { id, memory, heard: new Set() };
    arenas.set(id, arena);
    // An earlier keeper may have ended in the middle of a reap. This ends what it began (core/death/reaping.ts).
    core.reap(0, 0, 0);
  }
  return { arena, core, isNew };
}

/** Forgets an arena of which the keeper hears no thread. The next thread that attaches brings the memory again. */
export function forget(arena) {
  if (arena.heard.size === 0) arenas.delete(arena.id);
}

/** Calls a function with the index and the name of each thread that lives, and the life that distinguishes it. */
export function eachThread(core, run) {
  for (let i = core.mostThreads(); i > 0; i--) {
    const life = core.lifeIfAlive(i);
    if (life !== 0) run(i, life, core.runtimeIdOf(i));
  }
}
