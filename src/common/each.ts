/** `then` calls a function in a microtask. A test may have replaced `queueMicrotask`. */
const settled = Promise.resolve();

/**
 * Calls all functions of a list, also if one of them throws: its error goes on to the caller, and the function and those
 * behind it are called in a microtask. So an exhausted stack cuts short none of them. A function may be called twice, so
 * the second call must have no effect if the first one had its effect. What joins a Set meanwhile is called too, and what
 * leaves it is not.
 */
export function callEach(functions: Iterable<() => void>): void {
  const left = functions[Symbol.iterator]();
  let next = left.next();
  if (next.done) return;
  const go = (): void => {
    while (!next.done) {
      const call = next.value;
      call();
      next = left.next();
    }
  };
  const rest = (): void => {
    try {
      go();
    } finally {
      if (!next.done) {
        // It has thrown twice.
        next = left.next();
        settled.then(rest);
      }
    }
  };
  // Before the first call: later there may be no stack for this.
  settled.then(rest);
  go();
}
