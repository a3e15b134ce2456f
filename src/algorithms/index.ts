/** The algorithms of the papers, each under its own name and as its listing has it. */
export { ChainSemaphore, type ChainSemaphoreHandle, type ChainSemaphoreOptions } from './chain-semaphore.js';
export { lastTicket } from './last-ticket.js';
export {
  TicketSemaphore,
  type TicketSemaphoreHandle,
  type TicketSemaphoreOptions,
} from './ticket-semaphore.js';
export { TwaSemaphore, type TwaSemaphoreHandle, type TwaSemaphoreOptions } from './twa-semaphore.js';
