/** What belongs to a RateLimiter, as this thread has it: the two semaphores, and the log (rate-limiter.ts). */
import { ANSWER_FULL } from '../border/numbers.js';
import { PAUSE, TURN } from '../look/key-reading.js';
import { Reference } from '../objects/reference.js';
import { reference } from '../objects/shared-object.js';
import { common } from '../runtime/common.js';
import { arenaFull, noRoom } from '../runtime/errors.js';
import type { Membership, Shared } from '../runtime/membership.js';
import { closed } from '../runtime/promises.js';
import { Semaphore } from '../semaphore/semaphore.js';
import { clock } from './rate-clock.js';
import { logObjectsOf, RateLog } from './rate-log.js';
import { namesOf } from './table.js';

/** The first object of the log. */
const FIRST_LOG = 2;

/** What a thread has of a limiter. All its library objects share it, also those of other copies of this package. */
export interface Parts {
  readonly turn: Semaphore;
  readonly turnAt: number;
  readonly sleep: Semaphore;
  readonly log: RateLog;
  /** Keeps the thread attached to the log. */
  readonly objects: readonly Semaphore[];
  /** How many promises of this thread have the turn or wait for it. */
  promises: number;
  /** The last call of `cancelAll` in this thread: its reason, and how often all had been asked to leave then. */
  cancelled: { readonly asks: number; readonly reason: unknown } | undefined;
}

const known = common('rate-limiters', () => new WeakMap<Shared, Parts>());

/**
 * Returns what belongs to a limiter, to which this thread is attached.
 * @throws {ArenaFullError} and is attached to none of it then.
 */
export function partsOf(membership: Membership, shared: Shared): Parts {
  const found = known.get(shared);
  if (found) return found;
  const { core } = membership;
  const parent = { address: shared.address, generation: core.generation(shared.address) };
  const names = namesOf(membership);
  const made: Semaphore[] = [];
  const object = (number: number, permits: number, isRobust: boolean): Semaphore => {
    const attach = () => names.openOwn(parent, number, permits, isRobust);
    let answer = attach();
    if (answer < 0) {
      membership.sweep();
      answer = attach();
    }
    if (answer < 0)
      throw answer === ANSWER_FULL ? noRoom(core, 'attachment') : arenaFull('object', 'objects', core.mostObjects());
    const semaphore = new Semaphore(permits, new Reference(membership, answer as never));
    made.push(semaphore);
    return semaphore;
  };
  try {
    const turn = object(TURN, 1, true);
    const sleep = object(PAUSE, 0, false);
    const length = logObjectsOf(core.initial(shared.address));
    const objects = Array.from({ length }, (_, i) => object(FIRST_LOG + i, 0, false));
    const addresses = objects.map((semaphore) => semaphore[reference].address);
    const log = new RateLog(names, shared.address, addresses);
    const parts = { turn, turnAt: turn[reference].address, sleep, log, objects, promises: 0, cancelled: undefined };
    known.set(shared, parts);
    // A new limiter of this name would not know what has been taken.
    shared.stays = () => !log.isFresh(clock());
    return parts;
  } catch (error) {
    for (const semaphore of made) semaphore[closed]();
    throw error;
  }
}
