/**
 * This is the package entry for the algorithms of the papers. The code of each algorithm follows its listing in the
 * paper. docs/papers/algorithms.md says in what the code differs from the listing.
 * @module algorithms
 */

export { SelfDeadlockError } from '../../runtime/errors.js';
export type { Policy, PolicyOptions } from '../policies.js';
export { Capacitor, type CapacitorHandle, type CapacitorOptions } from './capacitor.js';
export { CapacitorLock, type CapacitorLockHandle, type CapacitorLockOptions } from './capacitor-lock.js';
export { ChainSemaphore, type ChainSemaphoreHandle, type ChainSemaphoreOptions } from './chain-semaphore.js';
export {
  ChannelSemaphore,
  type ChannelSemaphoreHandle,
  type ChannelSemaphoreOptions,
} from './channel-semaphore.js';
export { ClhLock, type ClhLockHandle, type ClhLockOptions } from './clh-lock.js';
export { EventCount, type EventCountHandle, type EventCountOptions } from './event-count.js';
export type { Hash, HashedOptions } from './hash.js';
export type { KeyWaitOptions, KeyWakeOptions, LocationWaitOptions } from './keys.js';
export { lastTicket } from './last-ticket.js';
export { LifoLock, type LifoLockHandle, type LifoLockOptions } from './lifo-lock.js';
export type { ListingOptions } from './listing.js';
export {
  LocationSemaphore,
  type LocationSemaphoreHandle,
  type LocationSemaphoreOptions,
} from './location-semaphore.js';
export type { Lock, LockOptions } from './lock.js';
export { McsLock, type McsLockHandle, type McsLockOptions } from './mcs-lock.js';
export {
  MultilaneSemaphore,
  type MultilaneSemaphoreHandle,
  type MultilaneSemaphoreOptions,
} from './multilane-semaphore.js';
export type { InnerName, InnerSemaphore } from './platoons.js';
export {
  ReciprocatingLock,
  type ReciprocatingLockHandle,
  type ReciprocatingLockOptions,
} from './reciprocating-lock.js';
export { Sequencer, type SequencerHandle, type SequencerOptions } from './sequencer.js';
export { TicketLock, type TicketLockHandle, type TicketLockOptions } from './ticket-lock.js';
export {
  TicketSemaphore,
  type TicketSemaphoreHandle,
  type TicketSemaphoreOptions,
} from './ticket-semaphore.js';
export { TtsLock, type TtsLockHandle, type TtsLockOptions } from './tts-lock.js';
export { TwaLock, type TwaLockHandle, type TwaLockOptions } from './twa-lock.js';
export { TwaSemaphore, type TwaSemaphoreHandle, type TwaSemaphoreOptions } from './twa-semaphore.js';
export type { WaitChannel } from './wait-channel.js';
export type { WaitLocation } from './wait-location.js';
export {
  type AddressWaitOptions,
  addressSignal,
  addressSignalPolite,
  addressWaitUntil,
  channelOf,
  keyMonitor,
  keySignal,
  keySignalPolite,
  keyWait,
  keyWaitLazy,
  locationOf,
  locationWait,
  locationWakeAll,
  locationWakeAllPolite,
} from './waiting.js';
