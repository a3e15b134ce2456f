/** Calls functions where the stack is nearly exhausted. */

/**
 * Calls a function so many calls above the end of the stack, and returns its answer, or undefined if that throws. An engine
 * may not compile a function there, so it has been called before.
 */
export function nearTheEnd<T>(above: number, run: () => T): T | undefined {
  let left = Number.POSITIVE_INFINITY;
  let answer: T | undefined;
  const descend = (): void => {
    try {
      descend();
    } catch {
      if (left === Number.POSITIVE_INFINITY) left = above;
    }
    if (left-- === 0) answer = run();
  };
  descend();
  return answer;
}
