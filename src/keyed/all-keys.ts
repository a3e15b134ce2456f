/** All keys of a table, in whatever threads: what is out of each and who waits, and how to reach them all. */
import { GOES, KIND_SEMAPHORE } from '../border/numbers.js';
import type { KeyStats } from '../common/keys.js';
import { emptyQueue } from '../look/elements.js';
import { type KeyObject, keysOf } from '../look/key-reading.js';
import { lookAt } from '../look/look.js';
import { permitsAt } from '../look/permits.js';
import { timestamp } from '../runtime/clock.js';
import type { Table } from './table.js';

/**
 * Returns the keys of a table that are held or waited for. The numbers are exact only while all threads rest. It looks at
 * every waiter of the arena.
 */
export function countsOf(table: Table): KeyStats[] {
  const { membership, names } = table;
  const look = lookAt(membership.memory, timestamp(), 0);
  return keysOf(names, table).flatMap(({ key, address }) => {
    const { out } = permitsAt(look.view, address, look.queues.get(address) ?? emptyQueue(look.view, address));
    const waiting = look.waitingOf(address);
    return out > 0 || waiting > 0 ? [{ key, out: Math.max(out, 0), waiting }] : [];
  });
}

/** Asks all requests that wait for a key, which this thread may not have at hand, to leave. */
export function askAllOf({ membership: { core } }: Table, { address, generation }: KeyObject): void {
  const attachment = core.attach(address, generation, KIND_SEMAPHORE);
  if (attachment < 0) return;
  core.askAll(address);
  core.letGo(attachment, GOES);
}
