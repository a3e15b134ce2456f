// Copied by scripts/embed.mjs from src/common/limiting.ts of taketurns.
/**
 * `limit`: a function that waits for its turn before each call of the function of the user. All classes with `limit`,
 * in `taketurns` and `taketurns-processes`, make it here: the build of `taketurns-processes` copies this file.
 */
import { checkType, checkWait, type Wait } from './errors.js';

/** What `limit` returns for a function with this `this`, these arguments and this result. */
export type Limited<This, Arguments extends unknown[], T> = (this: This, ...args: Arguments) => Promise<Awaited<T>>;

/**
 * Checks the arguments of `limit`, and returns its function.
 * @param enter makes `call` in its turn. It gets the options of the wait, and the arguments of the call.
 */
export function limited<This, Arguments extends unknown[], T, Options extends Wait>(
  kind: string,
  run: (this: This, ...args: Arguments) => T,
  options: Options | undefined,
  enter: (call: () => T, options: Options | undefined, args: Arguments) => Promise<unknown>,
): Limited<This, Arguments, T> {
  checkType(`${kind}.limit: run`, run, 'function', 'a function');
  const wait = options === undefined ? options : kept(kind, options);
  return function (...args) {
    return enter(() => run.apply(this, args), wait, args) as Promise<Awaited<T>>;
  };
}

/**
 * Returns the options as they are now, so that each later call waits by the options that were checked. If the signal is
 * aborted already, `limit` does not throw: each call then rejects with the reason of the signal.
 */
function kept<Options extends Wait>(kind: string, options: Options): Options {
  checkWait(`${kind}.limit`, options);
  const { timeout, signal } = options;
  return { timeout, signal } as Options;
}
