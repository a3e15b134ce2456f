/** Iterators that end when a channel or a watch is closed. */
import { isClosedAt } from './closed-error.js';

/** Returns an iterator whose values are those of `next`, until it throws the ClosedError of this end. */
export function iterate<T>(end: object, next: () => T): IterableIterator<T> {
  return {
    next: (): IteratorResult<T> => {
      try {
        return { value: next(), done: false };
      } catch (error) {
        return endOf(end, error);
      }
    },
    [Symbol.iterator]() {
      return this;
    },
  };
}

/** As `iterate`, with promises. */
export function iterateAsync<T>(end: object, next: () => Promise<T>): AsyncIterableIterator<T> {
  return {
    next: async (): Promise<IteratorResult<T>> => {
      try {
        return { value: await next(), done: false };
      } catch (error) {
        return endOf(end, error);
      }
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Returns what ends an iteration; throws any other error. */
function endOf(end: object, error: unknown): IteratorResult<never> {
  if (isClosedAt(end, error)) return { value: undefined, done: true };
  throw error;
}
