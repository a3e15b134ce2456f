/**
 * A thread may survive an exception that ends its wait: an interrupt by the embedder, such as the `timeout` of node:vm,
 * or an exhausted stack. No code of the library sees the exception, and the thread is still counted among those who
 * wait: in a queue, at a phase, or at an object of `taketurns/algorithms`. If it is the head of a queue, or becomes the
 * head, all requests behind it wait. The next call of the thread that has to wait puts this in order
 * (core/queue/pending-call.ts for a queue). If no such call comes, a microtask does so as soon as the thread has
 * returned to its event loop.
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
