/**
 * What the module of the papers' algorithms exports. It is an instance of its own over the arena's memory, with
 * globals of its own, and compiles in what it needs of the core. A thread that has registered through the core
 * calls adopt first. create, createObject and attachedTo are for programs that run this module alone (check/).
 */
export { adopt, create, measure } from '../arena';
export { attachedTo, create as createObject } from '../attachments';
export {
  capacitorArrive,
  capacitorArriveInLanes,
  capacitorAwait,
  capacitorDepart,
  capacitorDepartFromLanes,
  capacitorDisown,
  capacitorDispose,
  capacitorIsIdle,
  capacitorOpenLane,
  capacitorOwn,
  capacitorTryArrive,
} from './capacitor';
export { holds } from './ownership';
export { ticketLock, ticketLockDispose, ticketTryLock, ticketUnlock } from './ticket-lock';
export { ticketAcquire, ticketDispose, ticketRelease } from './ticket-semaphore';
export { ttsDispose, ttsLock, ttsTryLock, ttsUnlock } from './tts-lock';
export { twaLock, twaLockDispose, twaTryLock, twaUnlock } from './twa-lock';
export { twaAcquire, twaDispose, twaRelease, twaReleaseConservative } from './twa-semaphore';
