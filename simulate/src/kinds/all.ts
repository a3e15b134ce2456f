/** All classes that the simulation knows. */
import type { Spec } from '../program.js';
import { atomicSemaphore } from './atomic-semaphore.js';
import { barrier } from './barrier.js';
import { condition } from './condition.js';
import { countingSemaphore } from './counter.js';
import { event } from './event.js';
import { type Kind, renew } from './kind.js';
import { latch } from './latch.js';
import { eventCount, locks, semaphores } from './listing.js';
import { mutex } from './mutex.js';
import { once } from './once.js';
import { rwLock } from './rw-lock.js';
import { semaphore } from './semaphore.js';
import { waitGroup } from './wait-group.js';

const all: Readonly<Record<string, Kind>> = {
  Semaphore: semaphore,
  Mutex: mutex,
  Condition: condition,
  RwLock: rwLock,
  Once: once,
  Event: event,
  Barrier: barrier,
  Latch: latch,
  WaitGroup: waitGroup,
  CountingSemaphore: countingSemaphore,
  AtomicSemaphore: atomicSemaphore,
  EventCount: eventCount,
  ...locks,
  ...semaphores,
};

export const kinds: Readonly<Record<string, Kind>> = Object.fromEntries(
  Object.entries(all).map(([name, kind]) => [
    name,
    { ...kind, operations: { ...kind.operations, ...(kind.hasParts ? {} : { renew }) } },
  ]),
);

/** The names from which programs draw the classes of their objects; those of `taketurns/algorithms` less often. */
export const names: readonly string[] = Object.entries(kinds).flatMap(([name, { breaksByDeath }]) =>
  Array<string>(breaksByDeath ? 1 : 4).fill(name),
);

export function kindOf({ kind }: Spec): Kind {
  return kinds[kind] as Kind;
}
