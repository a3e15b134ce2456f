/** What surrounds the library, where it was loaded as for a browser. */

interface Modules {
  readonly timers: typeof import('node:timers');
  readonly perf_hooks: typeof import('node:perf_hooks');
  readonly worker_threads: typeof import('node:worker_threads');
}

/**
 * Returns a module of Node; undefined in a browser, in Node before 20.16 and 22.3, and in Deno, whose web workers claim to
 * be the first thread. It is Node's own whatever a test runner has put into the place of the globals.
 */
export function builtin<K extends keyof Modules>(name: K): Modules[K] | undefined {
  const { Deno, process } = globalThis as { Deno?: unknown; process?: { getBuiltinModule?(name: string): unknown } };
  return (Deno ? undefined : process?.getBuiltinModule?.(name)) as Modules[K] | undefined;
}
