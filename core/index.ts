/**
 * What the module exports; everything else is private to it. Start reading at semaphore.ts and layout.ts. The
 * algorithms of the papers are a module of their own: algorithms/index.ts.
 */
export {
  create,
  doorbell,
  hostOf,
  id,
  isAsleep,
  lifeIfAlive,
  measure,
  mostThreads,
  open,
  register,
  threadCount,
  unregister,
} from './arena';
export {
  acquireRobust,
  attach,
  attachedTo,
  create as createObject,
  detach,
  held,
  ownersDied,
  releaseRobust,
  tellAgain,
  tryAcquireRobust,
} from './attachments';
export { giveUp, giveUpRun } from './giving-up';
export {
  balance,
  collisions,
  deaths,
  elementHeld,
  elementObject,
  elementOwner,
  elementSince,
  elementState,
  elementWaiting,
  elementWidth,
  futileWakes,
  initial,
  liveObjects,
  mostElements,
  mostObjects,
  timeouts,
  usedElements,
} from './inspect';
export {
  compete,
  forgo,
  lock,
  mutexDispose,
  ownerOf,
  queue,
  reserveLock,
  tryLock,
  turnLasted,
  unlock,
  waitersOf,
  waitsSince,
  wakeEldest,
} from './mutex';
export { draftName, openName } from './names';
export { generation, isDisposed, isRobust, maxOf } from './objects';
export { setAwake, spend } from './polling';
export { reap } from './reaping';
export { arrive, dropRun, enterRun, settle } from './runs';
export {
  acquire,
  acquireOne,
  available,
  dispose,
  enqueue,
  exceeds,
  finishRelease,
  park,
  parkFor,
  release,
  releaseOne,
  ticketTaken,
  tryAcquire,
  waiting,
} from './semaphore';
