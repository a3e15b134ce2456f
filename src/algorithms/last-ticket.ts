/** A thread can ask for the ticket that it took last, to count the order of admissions. */
import { type Arena, attachmentOf } from '../arena.js';

/**
 * The ticket that the calling thread took last on any semaphore of the arena (default: `Arena.default`);
 * -1n before the first. For those who count the order of admissions: with one permit, and every thread
 * taking one at a time, each admission's ticket is one more than the last. Never blocks.
 * @throws {TypeError} for an arena that is none.
 */
export function lastTicket(arena?: Arena): bigint {
  return attachmentOf(arena).core.ticketTaken.value;
}
