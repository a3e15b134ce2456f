/**
 * What the module exports; everything else is private to it. Start reading at semaphore.ts and layout.ts. The
 * algorithms of the papers are a module of their own: algorithms/index.ts.
 */
export { create, doorbell, id, measure, open, register, threadCount, unregister } from './arena';
export { giveUp, giveUpRun } from './giving-up';
export { draftName, openName } from './names';
export { attachObject, createObject, detachObject, generation, maxOf } from './objects';
export { arrive, dropRun, enterRun, settle } from './runs';
export {
  acquire,
  available,
  dispose,
  exceeds,
  finishRelease,
  park,
  parkFor,
  release,
  ticketTaken,
  tryAcquire,
  waiting,
} from './semaphore';
