/** A thread compiles each embedded WebAssembly module once, when its first arena needs it. */
import { decode } from './decode.js';
import { compile } from './requirements.js';

/** Returns a function that compiles the module at its first call, from the text of its bytes (decode.ts). */
export function embedded(bytes: string): () => WebAssembly.Module {
  let compiled: WebAssembly.Module | undefined;
  return () => {
    compiled ??= compile(decode(bytes));
    return compiled;
  };
}

/**
 * Makes an instance of a module. Returns a copy of the exports, because the exports object itself is frozen and some
 * functions are replaced. Whoever reads a call such as `core.park(...)` must know what may stand there:
 *
 *     in a thread                     functions                                               by
 *     that must not block             acquire, acquireOne, acquireRobust                      membership.ts
 *                                     the blocking functions of the algorithms                papers/algorithms/compiled.ts
 *     that looks for deadlocks        park, compete, sleepInPhase, drainReaders, sleepOn      report/long-sleeps.ts
 *     that measures its waits         enqueue, queue, park, parkFor, compete, cancel,         report/measure.ts
 *                                     cancelHead, settle, releaseToOwn, finishReleaseAndSettle,
 *                                     reserveLock, unlockToOwn, cancelRun, dropRun, waitsBegin,
 *                                     waitsEnd
 *     of Deno                         the functions in which it sleeps; and all functions,    host/deno-bun.ts
 *                                     once it was terminated
 *     that has left the arena         createObject, attach, draftName, reap                   membership.ts
 *                                     waits by a key of the algorithms                        papers/algorithms/compiled.ts
 *
 * The docstring of such a function in the core says so, too, and what then stands in its place does (`@replaced`).
 * src/border/ repeats it, so an editor shows it at each call. All other functions are readonly.
 */
export function instanceOf<Exports>(module: WebAssembly.Module, imports: WebAssembly.Imports): Exports {
  return { ...new WebAssembly.Instance(module, imports).exports } as Exports;
}

/**
 * Adds a property to the functions of a module. If it were assigned, V8 would turn an object of so many properties into a
 * dictionary, and each call of the core would look its function up there: a promise would take a tenth longer.
 */
export function mark(functions: object, key: symbol, value: unknown): void {
  Object.defineProperty(functions, key, { value });
}
