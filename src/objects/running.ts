/** How `runExclusive` of a semaphore and of a mutex calls a function. */

import { dispose } from '../common/symbols.js';
import { checkType } from '../runtime/errors.js';

/**
 * Waits until `hold` has given a guard, and then calls `run`. The guard gives back what it holds when the result of
 * `run` is settled. `shared.isRunning` is true until `run` has returned.
 */
export function runHolding<T>(
  kind: string,
  shared: { isRunning?: boolean },
  hold: () => Promise<Disposable>,
  run: () => T | PromiseLike<T>,
): Promise<T> {
  try {
    checkType(`${kind}.runExclusive: run`, run, 'function', 'a function');
  } catch (error) {
    return Promise.reject(error);
  }
  return hold().then((held) => callHolding(held, run, shared));
}

/**
 * Calls `run`, and gives back by `held` when the result is settled. The promises are chained by hand, because an async
 * function would make more of them.
 */
export function callHolding<T>(
  held: Disposable,
  run: () => T | PromiseLike<T>,
  shared: { isRunning?: boolean } = {},
): T | Promise<T> {
  let result: T | PromiseLike<T>;
  try {
    shared.isRunning = true;
    result = run();
  } catch (error) {
    held[dispose]();
    throw error;
  } finally {
    shared.isRunning = false;
  }
  // Only an object or a function can be a promise.
  if (Object(result) === result) return settled(held, result);
  held[dispose]();
  return result as T;
}

/** Gives back when the promise `result` is settled. */
async function settled<T>(held: Disposable, result: T | PromiseLike<T>): Promise<T> {
  try {
    return await result;
  } finally {
    held[dispose]();
  }
}
