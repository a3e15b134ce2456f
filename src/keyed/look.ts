/** A look at all keys of a table, in whatever threads: what is out of each and who waits, and how to reach them all. */
import { GOES, GRANT, KIND_SEMAPHORE, O_INITIAL, TICKET, TOMBSTONE, WAITING } from '../border/numbers.js';
import type { KeyStats } from '../common/keys.js';
import { type KeyObject, keysOf } from '../objects/key-reading.js';
import type { Membership } from '../runtime/membership.js';
import type { Table } from './table.js';

interface Waits {
  waiting: number;
  /** The permits for which they wait, and those of cancelled requests that still stand in the queue. */
  permits: number;
}

/** Returns, by the address of an object, the requests that wait. It looks at every waiter of the arena. */
function waitsIn({ core }: Membership): Map<number, Waits> {
  const found = new Map<number, Waits>();
  for (let i = core.usedElements() - 1; i >= 0; i--) {
    const state = core.elementState(i);
    if (state < WAITING || state > TOMBSTONE) continue;
    const object = core.elementObject(i);
    const waits = found.get(object) ?? { waiting: 0, permits: 0 };
    found.set(object, waits);
    if (state === TOMBSTONE) waits.permits += Number(core.elementWidth(i, 1));
    else {
      const waiting = core.elementWaiting(i);
      waits.waiting += waiting;
      waits.permits += waiting * Number(core.elementWidth(i, 0));
    }
  }
  return found;
}

/** Returns the keys of a table that are held or waited for. The numbers are exact only while all threads rest. */
export function countsOf(table: Table): KeyStats[] {
  const { membership, names } = table;
  const { words } = names;
  const waits = waitsIn(membership);
  const counts: KeyStats[] = [];
  for (const key of keysOf(names, table)) {
    const load = (word: number): number => Atomics.load(words, (key.address + word) >> 2);
    const balance = (load(GRANT) - load(TICKET)) | 0;
    const { waiting, permits } = waits.get(key.address) ?? { waiting: 0, permits: 0 };
    const out = load(O_INITIAL) - balance - permits;
    if (out > 0 || waiting > 0) counts.push({ key: key.key, out: Math.max(out, 0), waiting });
  }
  return counts;
}

/** Asks all requests that wait for a key, which this thread may not have at hand, to leave. */
export function askAllOf({ membership: { core } }: Table, { address, generation }: KeyObject): void {
  const attachment = core.attach(address, generation, KIND_SEMAPHORE);
  if (attachment < 0) return;
  core.askAll(address);
  core.letGo(attachment, GOES);
}
