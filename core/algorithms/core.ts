/**
 * What the algorithms share with the thread's instance of the core besides the memory: a global that the core
 * exports and this module imports, so that there is one last ticket, whichever of the two took it.
 */
declare let ticketTaken: i64;

export function setLastTicket(ticket: i64): void {
  ticketTaken = ticket;
}

export function lastTicket(): i64 {
  return ticketTaken;
}
