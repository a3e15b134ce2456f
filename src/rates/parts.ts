/** What a thread has of a RateLimiter: queue.ts. */
import { ANSWER_FULL } from '../border/numbers.js';
import { PAUSE } from '../look/key-reading.js';
import { draftOf } from '../objects/name-draft.js';
import { Reference } from '../objects/reference.js';
import { common } from '../runtime/common.js';
import { arenaFull, noRoom } from '../runtime/errors.js';
import { askCollector, type Membership, type Shared } from '../runtime/membership.js';
import { Semaphore } from '../semaphore/semaphore.js';
import { RateMemory } from './memory.js';
import { RateQueue } from './queue.js';

// Copies of this package in one thread share these, as they share the memberships.
const { known, made } = common('rate-limiters', () => ({
  known: new WeakMap<Shared, RateQueue>(),
  /** How many limiters this thread has come to since it last asked for a collection. */
  made: { count: 0 },
}));
/** After so many limiters a thread asks for a collection: those whose permits do not count any more go then. */
const MANY = 1024;

/**
 * Returns what this thread has of a limiter, to which it is attached.
 * @param full makes the error of an arena that has no page for the limiter.
 * @throws {ArenaFullError}
 */
export function queueOf(membership: Membership, shared: Shared, full: () => Error): RateQueue {
  const found = known.get(shared);
  if (found) return found;
  if (++made.count > MANY) {
    made.count = 0;
    askCollector();
  }
  const { core } = membership;
  const { address } = shared;
  const parent = { address, generation: core.generation(address) };
  const names = draftOf(membership);
  const memory = newMemory();
  const queue = new RateQueue(membership, memory, address, openPause);
  known.set(shared, queue);
  // A new limiter of this name would not know what has been taken.
  shared.stays = () => !queue.isFresh;
  shared.detached = () => queue.detached();
  return queue;

  function newMemory(): RateMemory {
    try {
      return new RateMemory(membership, names, address, full);
    } catch {
      // The arena is full: some of its objects may go.
      membership.sweep();
      return new RateMemory(membership, names, address, full);
    }
  }

  function openPause(isInLock: boolean): Semaphore {
    const attach = () => names.openOwn(parent, PAUSE, 0, false);
    let answer = attach();
    if (answer < 0 && !isInLock) {
      membership.sweep();
      answer = attach();
    }
    if (answer < 0)
      throw answer === ANSWER_FULL ? noRoom(core, 'attachment') : arenaFull('object', 'objects', core.mostObjects());
    return new Semaphore(0, new Reference(membership, answer as never));
  }
}
