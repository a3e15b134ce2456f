/**
 * The stacks of threads that block, in words. In report mode each thread tells the reporter its stack when it has blocked
 * for a second (long-sleeps.ts): nobody can take the stack of a worker that sleeps.
 */
import { type ThreadRef, threadText } from './refs.js';

/** Where a thread blocks. */
export interface ThreadStack extends ThreadRef {
  /** The calls, the innermost first. */
  readonly stack: readonly string[];
}

/** The calls of this package, however it was installed. */
const OWN =
  /[\\/]taketurns[\\/](dist|src)[\\/]|[\\/]dist[\\/]node[\\/](core|algorithms|channel|counters|keyed|measure|metrics|p0514|reporting|sync|youngest)\.cjs:/;

/** Returns the lines of a stack as engines write it, from the first call outside of this package on. */
export function linesOf(stack: string): string[] {
  const lines = stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^at |@/.test(line) && !/wasm/.test(line));
  return lines.slice(lines.findLastIndex((line) => OWN.test(line)) + 1);
}

/** Returns in words where a thread blocks, for example `thread 2 (threadId 1) waits at transfer (file:///app.js:7:8)`. */
export function stackText(one: ThreadStack): string {
  return `${threadText(one)} waits ${one.stack[0] ?? 'at an unknown place'}`;
}
