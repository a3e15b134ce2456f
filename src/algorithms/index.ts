/** The algorithms of the papers, each under its own name and as its listing has it. */
export { Capacitor, type CapacitorHandle, type CapacitorOptions } from './capacitor.js';
export { CapacitorLock, type CapacitorLockHandle, type CapacitorLockOptions } from './capacitor-lock.js';
export { lastTicket } from './last-ticket.js';
export type { Lock, LockOptions } from './lock.js';
export { TicketLock, type TicketLockHandle, type TicketLockOptions } from './ticket-lock.js';
export {
  TicketSemaphore,
  type TicketSemaphoreHandle,
  type TicketSemaphoreOptions,
} from './ticket-semaphore.js';
export { TtsLock, type TtsLockHandle, type TtsLockOptions } from './tts-lock.js';
export { TwaLock, type TwaLockHandle, type TwaLockOptions } from './twa-lock.js';
export { TwaSemaphore, type TwaSemaphoreHandle, type TwaSemaphoreOptions } from './twa-semaphore.js';
