/**
 * A thread may survive an exception that ends its wait for a mutex: an interrupt by the embedder, such as the `timeout`
 * of node:vm, or an exhausted stack. No code of the library sees it, and the request stays in line: if it is the head,
 * or becomes it, all behind it wait. The next call of the thread that has to wait cancels it
 * (core/queue/pending-call.ts). In case there is no such call, a microtask does so, as soon as the thread has returned
 * to its event loop. The thread asks for the microtask before it waits, once until that runs.
 */
import { CLOSED_OBJECT, type Core } from './core.js';

/** What of an attachment this needs. */
interface Interruptible {
  readonly core: Core;
  /** Whether the microtask is still to run. */
  isInterruptible: boolean;
}

/** Is called when the thread is about to wait for a mutex. */
export function expectInterrupt(attachment: Interruptible): void {
  if (attachment.isInterruptible) return;
  // The order matters: if an exhausted stack lets this fail, the next call tries again.
  Promise.resolve().then(() => {
    attachment.isInterruptible = false;
    // This call does nothing but complete an interrupted one, since the object is always disposed of.
    attachment.core.tryLock(CLOSED_OBJECT);
  });
  attachment.isInterruptible = true;
}
