/** Simulates readers of a RwLock without any writer, to count what a lock and an unlock cost a reader. */
import { type Call, type Contender, UNLIMITED } from './contender.js';

/** Looks up the seat of the reader before each call. The library remembers the seat instead. */
const inPlace = (name: string): Call => ({
  name: 'seatFor',
  next: (seat) => [{ name, args: () => [seat] }],
});

export const readers: readonly Contender[] = [
  {
    name: 'RwLock, reading',
    objects: [{ kind: 'KIND_RW_LOCK', spin: 0 }],
    enter: () => [inPlace('beginRead')],
    leave: () => [inPlace('endRead')],
    of: 'reading',
  },
  {
    name: 'Semaphore with a permit for each reader',
    objects: [{ kind: 'KIND_SEMAPHORE', spin: 0, permits: UNLIMITED }],
    enter: () => [{ name: 'acquireOne' }],
    leave: () => [{ name: 'releaseOne' }],
    of: 'reading',
  },
];
