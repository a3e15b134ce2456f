/**
 * The exports of the module of `taketurns/sync`. Like the module of the algorithms, this module contains the parts of
 * the core that it needs, and a thread has an instance of it over the memory of the arena. A thread first registers
 * through the core, and then calls adopt here. create, createObject and attachedTo are for programs that run this
 * module alone (check/).
 */
export { create } from '../arena/arena';
export { attachedTo, createObject } from '../arena/attachments';
export { adopt, trapIfDead } from '../arena/threads';
export { isOf, notify, notifyOne, putDown, relay, settleUp } from '../kinds/condition/condition';
export {
  announce,
  arm,
  arriveAt,
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
  phaseCount,
  phaseSeen,
  putOn,
  sleepInPhase,
  takeOff,
  waitsBegin,
  waitsEnd,
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
  readsBy,
  readToo,
  seatFor,
  shutGate,
  stampOf,
  tryRead,
  unreportedDeaths,
} from '../kinds/rw-lock/rw-lock';
export { clearSeats } from '../kinds/rw-lock/rw-lock-seats';
export { setAwake } from '../queue/polling';
