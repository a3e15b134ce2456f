/**
 * A thread may survive an exception that ends a call of the library anywhere: an interrupt by the embedder, such as the
 * `timeout` of node:vm, or an exhausted stack. No code of the library sees the exception. The call is cut, and a request
 * of the thread may still stand in a queue, or a place may still be claimed: then others wait for a call that is over.
 *
 * The rule: what a cut call waits for may be given up, and what nobody was told of may be passed on. What the program was
 * told that it has is never passed on, because the program goes on and uses it.
 *
 * So each thing that can be left midway has a note of its own, which is written before the call can be cut. Who finds the
 * note ends what the cut call has left: the next call of the thread on the same thing, or what follows when the thread
 * has returned to its event loop.
 *
 *     what was cut                          the note                ended by                 if no call follows
 *     a wait or a release in a queue        pendingCall (core)      recover (core)           membership.ts, for a mutex
 *     promises that the core has decided    class Settlement        #pay, HeadPromise.flush  the rest (doorbell.ts)
 *     a wait for a notification             E_HELD (core)           #giveUp, condition.ts    condition.ts
 *     a change of the side of a RwLock      acts, side.ts           recover, side.ts         rw-lock.ts
 *     a wait for a phase                    #blocks                 [uncountBlocked]         phase-object.ts
 *     the action of a barrier               #acts, barrier.ts       breakPhase (core)        barrier.ts
 *     the function of a Once                #runs                   #end, once.ts            once.ts
 *     a claimed place of a channel          E_TOOK_COUNT (core)     #endCut, endpoint.ts     endpoint.ts
 *     a select for which the thread blocks  blocking, select.ts     abandon, select.ts       select.ts
 *     a condition called on a chain         onChain (papers)        waiting.ts               waiting.ts
 *     a reap                                the reaper (core)       reap (core)              arena.ts
 *     a change of a rate                    the lock, the journal   rates/memory.ts          rates/queue.ts
 *     a wait for a rate                     #blocked, #lost         #endCut, rates/queue.ts  rates/queue.ts
 *     a call that counts until its end      #ended                  #endCut, rates/queue.ts  rates/queue.ts
 *     what a rate has decided for promises  #decisions              #tellAll, queue.ts       rates/queue.ts
 *     a change of the rate of a key         #head, and the lock     rates/keyed-memory.ts    rates/keyed-memory.ts
 *     the making of a limiter's memory      R_LOCK                  first-page.ts            first-page.ts
 *
 * Only a wait on a condition also looks for stack beforehand (common/has-stack.ts): it must lock its mutex again however it
 * ends.
 */

import { host } from '#host';

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
    host.afterTurn(run);
    isExpected = true;
  };
}
