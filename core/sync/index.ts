/**
 * The exports of the module of `taketurns/sync`. Like the module of the algorithms, it is an instance of its own over
 * the arena's memory, and the parts of the core that it needs are compiled into it. A thread that has registered
 * through the core calls adopt first. create, createObject and attachedTo are for programs that run this module alone
 * (check/).
 */
export { create } from '../arena/arena';
export { attachedTo, createObject } from '../arena/attachments';
export { adopt, trapIfDead } from '../arena/threads';
export { isOf, notify, notifyOne, putDown, relay, settleUp, waitingFor } from '../kinds/condition/condition';
export {
  announce,
  arm,
  arriveAt,
  attachmentAfter,
  awaitZero,
  begin,
  breakPhase,
  deathsOf,
  disposePhase,
  dropTask,
  end,
  finishAction,
  heldByAttachment,
  isFull,
  leaveBarrier,
  noteWaits,
  phaseCount,
  phaseSeen,
  putOn,
  sleepInPhase,
  takeOff,
  threadOfAttachment,
  waitsBy,
  waitsSinceBy,
  wasBroken,
} from '../kinds/phase/phase';
export {
  announceDrain,
  beginRead,
  drainReaders,
  drainSeen,
  endRead,
  endReadWait,
  giveUpRead,
  hasDied,
  isDrained,
  isStamp,
  openGate,
  placeFor,
  readsBy,
  readToo,
  shutGate,
  stampOf,
  tryRead,
  unreportedDeaths,
} from '../kinds/rw-lock/rw-lock';
export { clearPlaces } from '../kinds/rw-lock/rw-lock-places';
export { setAwake } from '../queue/polling';
