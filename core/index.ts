/**
 * The exports of the core. Nothing else of the core can be called from outside. Start reading at queue/queue.ts and
 * arena/words.ts.
 *
 *     arena/         where things lie, and the pools: threads, elements, objects, attachments, names
 *     queue/         the one queue in which waiters of every kind stand: queue.ts has the life of a request, and runs.ts what
 *                    promises have besides
 *     kinds/         a folder for each kind of object; words.ts, the table of all kinds and what is true of each; and
 *                    kinds.ts, the one file that calls the functions of all kinds
 *     death/         registration of threads, and the work that a thread leaves when it ends or dies
 *     inspect.ts     the numbers that diagnostics read
 *     answers.ts     what the exports answer
 *     papers/        the listings and locks of the papers, which are a module of their own: papers/index.ts
 *     channel/       the module of taketurns/channel, which has the channel and the watch: channel/index.ts
 *     sync/          the module of taketurns/sync, which has other kinds: sync/index.ts
 *
 * Each folder imports only from itself and from the folders above it in this list. .dependency-cruiser.mjs has the
 * rules. These folders may import more, or less:
 *
 *     all            may import the constants of answers.ts. All but arena/ may import those of the words.ts of any folder
 *     queue/         calls functions of kinds/kinds.ts where the kind of an object matters, and knows nothing else of the
 *                    kinds
 *     death/         and inspect.ts import of kinds/ only kinds.ts
 *     papers/        imports arena/, and of queue/ only waiting-array.ts and polling.ts. Its index.ts also exports functions
 *                    of kinds/counter/
 *     sync/          is index.ts alone, which only exports
 *
 * The words of a folder, which are the offsets of what it keeps in shared memory, are in its words.ts.
 */

export { create, id, open } from './arena/arena';
export { attach, attachedTo, createObject } from './arena/attachments';
export { reserveSecond, usedElements } from './arena/elements';
export { draftName, openName } from './arena/names';
export { generation, isDisposed, isRobust, keep, maxOf } from './arena/objects';
export {
  doorbell,
  isAsleep,
  lifeIfAlive,
  mostThreads,
  runtimeIdOf,
  threadCount,
  ticketTaken,
  trapIfDead,
} from './arena/threads';
export { reap } from './death/reaping';
export { register, unregister } from './death/registry';
export {
  added,
  available,
  balance,
  deaths,
  initial,
  liveObjects,
  mostElements,
  mostObjects,
  timeouts,
  waiting,
} from './inspect';
export { disposeAgain, held, letGo, restoreOwnerDeaths } from './kinds/kinds';
export {
  lock,
  mutexDispose,
  ownerOf,
  queue,
  tryLock,
  unlock,
  waitersOf,
  wakeHead,
} from './kinds/mutex/mutex';
export { cancelHead, compete, reserveLock, unlockToOwn } from './kinds/mutex/mutex-head';
export { turnLasted } from './kinds/mutex/mutex-pace';
export { ownersDied } from './kinds/semaphore/robust';
export { askAll, asks, dispose } from './queue/closing';
export { grantBefore as before, grantLate as late, pendingCall as pending, released } from './queue/pending-call';
export { setAwake, spend } from './queue/polling';
export {
  acquire,
  acquireOne,
  acquireRobust,
  add,
  cancel,
  drain,
  enqueue,
  exceeds,
  finishPendingCall,
  finishRelease,
  park,
  parkFor,
  reduce,
  release,
  releaseOne,
  releaseOneWithin,
  releaseRobust,
  releaseWithin,
  tryAcquire,
  tryAcquireRobust,
  waitsSince,
} from './queue/queue';
export {
  arrive,
  cancelRun,
  dropRun,
  enterRun,
  finishCancelRun,
  finishReleaseAndSettle,
  releaseToOwn,
  settle,
} from './queue/runs';
