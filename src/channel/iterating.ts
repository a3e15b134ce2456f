/** Iterators that end when a channel or a watch is closed. */
import { ClosedError } from './closed-error.js';

/** Returns an iterator whose values are those of `next`, until it throws a ClosedError. */
export function iterate<T>(next: () => T): IterableIterator<T> {
  return {
    next: (): IteratorResult<T> => {
      try {
        return { value: next(), done: false };
      } catch (error) {
        return endOf(error);
      }
    },
    [Symbol.iterator]() {
      return this;
    },
  };
}

/** As `iterate`, with promises. */
export function iterateAsync<T>(next: () => Promise<T>): AsyncIterableIterator<T> {
  return {
    next: async (): Promise<IteratorResult<T>> => {
      try {
        return { value: await next(), done: false };
      } catch (error) {
        return endOf(error);
      }
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Returns what ends an iteration; throws any other error. */
function endOf(error: unknown): IteratorResult<never> {
  if (error instanceof ClosedError) return { value: undefined, done: true };
  throw error;
}
