/**
 * A thread may survive an exception that ends its wait for a mutex: an interrupt by the embedder, such as the `timeout`
 * of node:vm, or an exhausted stack. No code of the library sees it, and the request stays in the queue: if it is the
 * head, or becomes it, all behind it wait. The next call of the thread that has to wait cancels it
 * (core/queue/pending-call.ts). In case there is no such call, a microtask does so, as soon as the thread has returned
 * to its event loop. A request that is cancelled leaves its wait element in the queue, and the thread needs another one.
 * If the arena has none, the thread tries again until it has.
 */
import { ANSWER_FULL } from '../border/numbers.js';
import { setTimeout } from './clock.js';

/** Milliseconds until the next try in an arena that is full. */
const PAUSE = 10;

/**
 * Returns a function for a thread to call when it is about to wait. `recover` then runs as soon as the thread has
 * returned to its event loop: once, however often it has waited by then, and again while it answers ANSWER_FULL.
 */
export function afterInterrupt(recover: () => unknown): () => void {
  let isExpected = false;
  const run = (): void => {
    isExpected = false;
    if (recover() === ANSWER_FULL) setTimeout(run, PAUSE);
  };
  return () => {
    if (isExpected) return;
    // The order matters: if an exhausted stack lets this fail, the next call tries again.
    Promise.resolve().then(run);
    isExpected = true;
  };
}
