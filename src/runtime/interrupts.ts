/**
 * A thread may survive an exception that ends its wait for a mutex: an interrupt by the embedder, such as the `timeout`
 * of node:vm, or an exhausted stack. No code of the library sees it, and the request stays in the queue: if it is the
 * head, or becomes it, all behind it wait. The next call of the thread that has to wait cancels it
 * (core/queue/pending-call.ts). In case there is no such call, a microtask does so, as soon as the thread has returned
 * to its event loop.
 */

/**
 * Returns a function for a thread to call when it is about to wait. `recover` then runs as soon as the thread has
 * returned to its event loop: once, however often it has waited by then.
 */
export function afterInterrupt(recover: () => void): () => void {
  let isExpected = false;
  const run = (): void => {
    isExpected = false;
    recover();
  };
  return () => {
    if (isExpected) return;
    // The order matters: if an exhausted stack lets this fail, the next call tries again.
    Promise.resolve().then(run);
    isExpected = true;
  };
}
