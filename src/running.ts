/** How `runExclusive` of a semaphore and of a mutex calls a function. */
import { checkType } from './errors.js';
import { dispose } from './held-permits.js';

/**
 * Waits until `hold` has given a guard, and then calls `run`. The guard gives back what it holds when the result of
 * `run` is settled. `shared.isRunning` is true until `run` has returned.
 */
export async function runHolding<T>(
  kind: string,
  shared: { isRunning?: boolean },
  hold: () => Promise<Disposable>,
  run: () => T | PromiseLike<T>,
): Promise<T> {
  checkType(`${kind}.runExclusive: run`, run, 'function', 'a function');
  const held = await hold();
  try {
    let result: T | PromiseLike<T>;
    shared.isRunning = true;
    try {
      result = run();
    } finally {
      shared.isRunning = false;
    }
    return await result;
  } finally {
    held[dispose]();
  }
}
