/** A thread can ask for its last ticket, to count the order of admissions. */
import type { Arena } from '../arena.js';
import { membershipOf } from '../own-arenas.js';

/**
 * Returns the last ticket that the calling thread took on any semaphore of the arena (default: `Arena.default`), or -1n
 * before the first. It serves to count the order of admissions: with one permit, and threads that take one at a time,
 * the ticket of each admission is one more than the last. Never blocks.
 * @throws `TypeError` for an arena that is not one.
 */
export function lastTicket(arena?: Arena): bigint {
  return membershipOf(arena).core.ticketTaken.value;
}
