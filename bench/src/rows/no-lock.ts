// The floors of contention: the loop of a benchmark with all its work, but without a lock or semaphore. No thread
// waits, so no lock and no semaphore can do more iterations of this work.

import { native, type Row } from './row.js';
import type { LockLike, SemaphoreLike } from './subjects.js';

/** Admits all threads at once, at no cost, because the runtime removes these calls when it compiles the loop. */
class NoLock implements LockLike, SemaphoreLike {
  lock(): void {}
  unlock(): void {}
  acquire(): void {}
  release(): void {}
}

export const NO_LOCK: readonly Row[] = [
  {
    kind: 'script',
    name: 'no lock (JavaScript)',
    family: 'JavaScript',
    apart: true,
    share: async () => ({ shared: undefined }),
    join: async () => ({ subject: new NoLock() }),
  },
  { ...native('no lock (native)', 'no-lock'), apart: true },
];
