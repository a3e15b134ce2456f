/**
 * What a process loads to serve a space. Only one process of a space serves, so the others load it some time after they
 * have joined (later.ts).
 */
import { others } from './directory.js';
import type { Folder } from './generations.js';
import { readJournal } from './journal.js';

export { Broker } from './broker.js';

/** The largest ticket that the space has given since other starts of the machine, as far as their journals are there. */
export function lastTicket(folder: Folder): number {
  let last = 0;
  for (const other of others(folder)) {
    try {
      const told = readJournal(other, Number.POSITIVE_INFINITY, true);
      last = Math.max(last, typeof told === 'object' ? told.ticket : told);
    } catch {
      // There is no such space, or its journal cannot be read.
    }
  }
  return last;
}
