/** Helpers for tests of order: they tell which promises are settled. */
import { turn } from './until.js';

export interface Settling<T> {
  readonly label: T;
  state: 'pending' | 'fulfilled' | 'rejected';
  error: unknown;
}

/** Watches a promise, and logs its label when it is fulfilled. */
export function watch<T>(promise: Promise<unknown>, label: T, log: T[] = []): Settling<T> {
  const settling: Settling<T> = { label, state: 'pending', error: undefined };
  promise.then(
    () => {
      settling.state = 'fulfilled';
      log.push(label);
    },
    (error) => {
      settling.state = 'rejected';
      settling.error = error;
    },
  );
  return settling;
}

/** Returns whether a promise is settled after an iteration of the event loop. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settling = watch(promise, '');
  await turn();
  return settling.state !== 'pending';
}
