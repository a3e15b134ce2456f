/** All classes that the simulation knows. */
import type { Spec } from '../program.js';
import type { Kind } from './kind.js';
import { mutex } from './mutex.js';
import { semaphore } from './semaphore.js';

export const kinds: Readonly<Record<string, Kind>> = { Semaphore: semaphore, Mutex: mutex };

export function kindOf({ kind }: Spec): Kind {
  return kinds[kind] as Kind;
}
