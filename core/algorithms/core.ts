/**
 * Besides the memory, the algorithms share one global with the thread's instance of the core. The core exports this
 * global and this module imports it, so that there is one last ticket, whichever module took it.
 */
declare let ticketTaken: i64;

export function setLastTicket(ticket: i64): void {
  ticketTaken = ticket;
}

export function lastTicket(): i64 {
  return ticketTaken;
}
