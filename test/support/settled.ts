/** The state of promises, for tests of order. */

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
