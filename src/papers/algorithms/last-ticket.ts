/** A thread can ask for its last ticket. Tests and measurements learn the order of admissions from such tickets. */
import type { Arena } from '../../arena/arena.js';
import { membershipOf } from '../../runtime/own-arenas.js';

/**
 * Returns the last ticket that the calling thread took on any object of the arena (default: `Arena.default`), or -1n if
 * the thread has taken none. A `Sequencer` does not count here. The tickets show the order of admissions: on a
 * semaphore with one permit, if threads take one permit at a time, the ticket of each admission is one more than the
 * ticket of the admission before. Never blocks.
 * @throws {TypeError} for an arena that is not one.
 * @example console.log(lastTicket());
 */
export function lastTicket(arena?: Arena): bigint {
  return membershipOf('lastTicket', arena).core.ticketTaken.value;
}
