/** What the module exports; everything else is private to it. Start reading at semaphore.ts and layout.ts. */
export { create, doorbell, id, measure, open, register, threadCount, unregister } from './arena';
export { giveUp, giveUpRun } from './giving-up';
export { draftName, openName } from './names';
export { attachObject, createObject, detachObject, disposeObject, generation, maxOf } from './objects';
export { arrive, dropRun, enterRun, settle } from './runs';
export {
  acquire,
  available,
  exceeds,
  finishRelease,
  lastTicket,
  park,
  parkFor,
  release,
  tryAcquire,
  waiting,
} from './semaphore';
export { ticketAcquire, ticketRelease } from './ticket-semaphore';
export { twaAcquire, twaRelease, twaReleaseConservative } from './twa-semaphore';
