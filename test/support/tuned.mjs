/**
 * Objects that wait as a test wants it. The library has no options for this: a waiter measures how long polling is worth
 * it, and the counters of a semaphore begin at 0.
 */
import { readFileSync } from 'node:fs';

const at = JSON.parse(readFileSync(new URL('../../build/words.json', import.meta.url), 'utf8'));

/**
 * Tunes a new object that nobody has used yet, and returns it.
 *
 * @template {{ readonly handle: { readonly arena: { readonly memory: { readonly buffer: ArrayBufferLike } }, readonly address: number } }} T
 * @param {T} object
 * @param {{ spin?: number | undefined, firstTicket?: bigint | undefined }} how `spin`: how often a waiter polls before it
 * parks. `firstTicket`: the first value of the two counters of a semaphore.
 * @returns {T}
 */
export function tuned(object, { spin, firstTicket }) {
  const { arena, address } = object.handle;
  const { buffer } = arena.memory;
  if (spin !== undefined) new Int32Array(buffer)[(address + at.O_SPIN) / 4] = spin;
  if (firstTicket !== undefined) {
    const counters = new BigInt64Array(buffer);
    counters[(address + at.TICKET) / 8] += firstTicket;
    counters[(address + at.GRANT) / 8] += firstTicket;
  }
  return object;
}
