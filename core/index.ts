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
export { create, id, measure, open } from './memory/arena';
export { attach, attachedTo, createObject, detach } from './memory/attachments';
export { reserveSecond, usedElements } from './memory/elements';
export { draftName, openName } from './memory/names';
export { generation, isDisposed, isRobust, maxOf } from './memory/objects';
export { doorbell, hostOf, isAsleep, lifeIfAlive, mostThreads, threadCount, trapIfDead } from './memory/threads';
export { disposeAgain, held, restoreOwnerDeaths } from './primitives/kinds';
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
} from './primitives/mutex';
export { cancelHead, compete, reserveLock } from './primitives/mutex-head';
export { turnLasted } from './primitives/mutex-pace';
export { ownersDied } from './primitives/robust';
export { acquireOne, available, exceeds, releaseOne } from './primitives/semaphore';
export { cancel, cancelRun } from './queue/cancelling';
export { askAll, asks, dispose } from './queue/closing';
export { enqueue, park, parkFor } from './queue/parking';
export { setAwake, spend } from './queue/polling';
export { finishRelease } from './queue/releasing';
export { arrive, dropRun, enterRun, settle } from './queue/runs';
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
} from './queue/tickets';
