/** Real threads, each of which calls a method of a shared object. */
import { type Member, team } from './team.js';

interface Shared {
  readonly handle: unknown;
}

export interface Callers {
  readonly members: readonly Member[];
  /**
   * Has one thread call a method. Returns what the call returns. If the call fails, rejects with an error of the same
   * name.
   */
  call<T = unknown>(thread: number, object: Shared, method: string, ...args: unknown[]): Promise<T>;
  /** Has each of the first `count` threads call the method. */
  calls<T = unknown>(count: number, object: Shared, method: string, ...args: unknown[]): Promise<T>[];
  /**
   * Has one thread run a function body. The body sees `object`, the shared `words`, and `kept`, where the scripts of
   * this thread keep values for later scripts.
   */
  run<T = unknown>(thread: number, object: Shared, code: string, words?: Int32Array): Promise<T>;
}

/** Starts `count` threads for the tests of a file. A thread makes its calls in the order of the requests. */
export function callers(count: number): Callers {
  const members = team(count);
  const call = <T>(thread: number, { handle }: Shared, method: string, ...args: unknown[]): Promise<T> =>
    (members[thread] as Member).run<T>('call', { handle, method, args });
  return {
    members,
    call,
    calls: (count, ...what) => Array.from({ length: count }, (_, thread) => call(thread, ...what)),
    run: (thread, { handle }, code, words) => (members[thread] as Member).run('script', { handle, code, words }),
  };
}
