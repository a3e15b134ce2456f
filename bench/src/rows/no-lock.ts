// The floors of contention: the loop of a benchmark, with its steps inside and outside, in which no thread waits. No
// lock and no semaphore can do more iterations of that work.

import { native, type Row } from './row.js';
import type { LockLike, SemaphoreLike } from './subjects.js';

/** Admits all threads at once, at no cost: a runtime that compiles the loop removes these calls. */
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
