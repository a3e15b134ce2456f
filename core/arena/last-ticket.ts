/**
 * The ticket that the thread took last, on whichever object. The core exports this global, and the module of the
 * algorithms shares it (scripts/build-core.mjs). JavaScript reads it, for programs that check the order of admissions.
 */
export let ticketTaken: i64 = -1;

export function setLastTicket(ticket: i64): void {
  ticketTaken = ticket;
}
