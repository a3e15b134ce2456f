/**
 * The exports of the module; everything else is private to it. Start reading at queue/tickets.ts and memory/layout.ts.
 *
 *     memory/        the layout of the arena, and the pools in it: threads, elements, objects, attachments, names
 *     queue/         one queue for all primitives: tickets, parking, waking, cancelling, promises
 *     primitives/    semaphore, mutex, counter, and kinds.ts, the one file that knows them all
 *     death/         registration of threads, and the work that a thread leaves when it ends or dies
 *     inspect.ts     the numbers that diagnostics read
 *     algorithms/    the listings and locks of the papers, which are a module of their own: algorithms/index.ts
 *
 * Each layer imports only from itself and the layers above it in this list. kinds.ts is the one exception: memory/ and
 * queue/ ask it where the kind of an object matters.
 */

export { create, id, measure, open } from './arena/arena';
export { attach, attachedTo, createObject, detach } from './arena/attachments';
export { reserveSecond, usedElements } from './arena/elements';
export { draftName, openName } from './arena/names';
export { generation, isDisposed, isRobust, maxOf } from './arena/objects';
export { doorbell, hostOf, isAsleep, lifeIfAlive, mostThreads, threadCount, trapIfDead } from './arena/threads';
export { reap } from './death/reaping';
export { register, unregister } from './death/registry';
export {
  added,
  balance,
  deaths,
  elementHeld,
  elementObject,
  elementOwner,
  elementSince,
  elementStart,
  elementState,
  elementWaiting,
  elementWidth,
  initial,
  liveObjects,
  mostElements,
  mostObjects,
  timeouts,
  waiting,
} from './inspect';
export { disposeAgain, held, restoreOwnerDeaths } from './kinds/kinds';
export {
  lock,
  mutexDispose,
  ownerOf,
  queue,
  tryLock,
  unlock,
  waitersOf,
  waitsSince,
  wakeHead,
} from './kinds/mutex/mutex';
export { cancelHead, compete, reserveLock } from './kinds/mutex/mutex-head';
export { turnLasted } from './kinds/mutex/mutex-pace';
export { ownersDied } from './kinds/semaphore/robust';
export { acquireOne, available, exceeds, releaseOne } from './kinds/semaphore/semaphore';
export { cancel, cancelRun } from './line/cancelling';
export { askAll, asks, dispose } from './line/closing';
export { enqueue, park, parkFor } from './line/parking';
export { setAwake, spend } from './line/polling';
export { finishRelease } from './line/releasing';
export { arrive, dropRun, enterRun, settle } from './line/runs';
export {
  acquire,
  acquireRobust,
  add,
  drain,
  reduce,
  release,
  releaseRobust,
  ticketTaken,
  tryAcquire,
  tryAcquireRobust,
} from './line/tickets';
