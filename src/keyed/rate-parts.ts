/** What belongs to a RateLimiter, as this thread has it: the two semaphores, and the log (rate-limiter.ts). */
import { ANSWER_FULL } from '../border/numbers.js';
import { arenaFull, noRoom } from '../errors.js';
import { Reference } from '../reference.js';
import { common } from '../runtime/common.js';
import type { Membership, Shared } from '../runtime/membership.js';
import { Semaphore } from '../semaphore.js';
import { logObjectsOf, RateLog } from './rate-log.js';
import { namesOf } from './table.js';

/** What belongs to a limiter, in the order of its numbers: the turn, the place to sleep, and the objects of the log. */
const TURN = 0;
const SLEEP = 1;
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
}

const known = common('rate-limiters', () => new WeakMap<Shared, Parts>());

/** Returns what belongs to a limiter, to which this thread is attached. */
export function partsOf(membership: Membership, shared: Shared): Parts {
  const found = known.get(shared);
  if (found) return found;
  const { core } = membership;
  const parent = { address: shared.address, generation: core.generation(shared.address) };
  const names = namesOf(membership);
  const object = (number: number, permits: number, isRobust: boolean): readonly [Semaphore, number] => {
    const attach = () => names.openOwn(parent, number, permits, isRobust);
    let answer = attach();
    if (answer < 0) {
      membership.sweep();
      answer = attach();
    }
    if (answer < 0)
      throw answer === ANSWER_FULL ? noRoom(core, 'attachment') : arenaFull('object', 'objects', core.mostObjects());
    const reference = new Reference(membership, answer as never);
    return [new Semaphore(permits, reference), reference.address];
  };
  const [turn, turnAt] = object(TURN, 1, true);
  const [sleep] = object(SLEEP, 0, false);
  const logs = Array.from({ length: logObjectsOf(core.initial(shared.address)) }, (_, i) =>
    object(FIRST_LOG + i, 0, false),
  );
  const log = new RateLog(
    names,
    shared.address,
    logs.map(([, address]) => address),
  );
  const parts = { turn, turnAt, sleep, log, objects: logs.map(([semaphore]) => semaphore), promises: 0 };
  known.set(shared, parts);
  return parts;
}
