/**
 * A thread may survive an exception that ends its wait for a mutex: an interrupt by the embedder, such as the `timeout`
 * of node:vm, or an exhausted stack. No code of the library sees the exception, and the request stays in the queue. If
 * the request is the head, or becomes the head, all requests behind it wait. The next call of the thread that has to
 * wait cancels the request (core/queue/pending-call.ts). If no such call comes, a microtask cancels it as soon as the
 * thread has returned to its event loop.
 */

/**
 * Returns a function that a thread calls when it is about to wait. `recover` then runs as soon as the thread has
 * returned to its event loop. It runs once, however often the thread has waited until then.
 */
export function afterInterrupt(recover: () => void): () => void {
  let isExpected = false;
  const run = (): void => {
    isExpected = false;
    recover();
  };
  return () => {
    if (isExpected) return;
    // The order matters: if an exhausted stack makes this call fail, the next call tries again.
    Promise.resolve().then(run);
    isExpected = true;
  };
}
