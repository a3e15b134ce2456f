/**
 * The exports of the module with the papers' algorithms. The module contains the parts of the core that it needs. A
 * thread has an instance of this module and an instance of the core, both over the memory of the arena. The core
 * exports some of its globals, and the two instances share these. Each instance has all other globals for itself. A
 * thread first registers through the core, and then calls adopt here. create, createObject and attachedTo are for
 * programs that run this module alone (check/).
 */
export { create } from '../arena/arena';
export { attachedTo, createObject } from '../arena/attachments';
export { closeObject, isDisposed } from '../arena/objects';
export { adopt } from '../arena/threads';
export {
  cancelWaiting,
  closeCounter,
  countDown,
  counted,
  countUp,
  tryCountDown,
} from '../kinds/counter/counter';
export { pause } from '../queue/polling';
export { prepare } from './borrowed';
export { capacitorDepart, capacitorIsIdle } from './capacitor';
export {
  addressSignal,
  addressSignalPolite,
  chainAwait,
  chainEnter,
  chainLeave,
  chainOf,
  recovery,
} from './chains';
export { keyMonitor, keySignal, keySignalPolite, keyWait, keyWaitLazy } from './channels';
export { clhLock, clhUnlock } from './clh-lock';
export {
  eventAdvance,
  eventAwait,
  eventRead,
  sequencerDispose,
  sequencerTicket,
} from './event-count';
export { hash } from './hashes';
export { laneOf, laneOpen, lanesRelease } from './lanes';
export { lifoLock, lifoTryLock, lifoUnlock } from './lifo-lock';
export { locationWait, locationWakeAll, locationWakeAllPolite, lookUp, prepareLocation } from './locations';
export { mcsLock, mcsUnlock } from './mcs-lock';
export {
  acquire as chainAcquire,
  acquire as channelAcquire,
  acquire as locationAcquire,
  dispose as chainDispose,
  dispose as channelDispose,
  dispose as eventDispose,
  dispose as locationDispose,
  release as chainRelease,
  release as channelRelease,
  release as locationRelease,
  releaseConservative as chainReleaseConservative,
  releaseConservative as channelReleaseConservative,
  releaseConservative as locationReleaseConservative,
} from './near-and-far';
export { neverPark, returnNodes } from './nodes';
export { arriveAt, closePlace, departFrom, placeOf, signalAt, sleepAt } from './places';
export {
  queueTryLock as clhTryLock,
  queueTryLock as mcsTryLock,
  queueTryLock as recipTryLock,
} from './queue-lock';
export { recipLock, recipUnlock } from './reciprocating-lock';
export { retire } from './retiring';
export {
  takeIfDue,
  ticketLock,
  ticketLockDispose,
  ticketTryLock,
  ticketUnlock,
} from './ticket-lock';
export {
  ticketAcquire,
  ticketAwait,
  ticketAwaitDelayed,
  ticketDelay,
  ticketDispose,
  ticketPost,
  ticketRelease,
} from './ticket-semaphore';
export { ttsDispose, ttsLock, ttsTryLock, ttsUnlock } from './tts-lock';
export { twaIsOnChains, twaLock, twaLockDispose, twaTryLock, twaUnlock } from './twa-lock';
export {
  twaAcquire,
  twaAcquireSequestered,
  twaAvailableSequestered,
  twaAwait,
  twaDispose,
  twaIsSequestered,
  twaPost,
  twaRelease,
  twaReleaseConservative,
} from './twa-semaphore';
