/** All classes that the simulation knows. */
import type { Spec } from '../program.js';
import { barrier } from './barrier.js';
import { condition } from './condition.js';
import { countingSemaphore } from './counter.js';
import { event } from './event.js';
import type { Kind } from './kind.js';
import { latch } from './latch.js';
import { mutex } from './mutex.js';
import { once } from './once.js';
import { rwLock } from './rw-lock.js';
import { semaphore } from './semaphore.js';
import { waitGroup } from './wait-group.js';

export const kinds: Readonly<Record<string, Kind>> = {
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
};

export function kindOf({ kind }: Spec): Kind {
  return kinds[kind] as Kind;
}
