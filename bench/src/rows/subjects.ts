// What the loops of a benchmark call: a lock or a semaphore, of whichever class.

export interface LockLike {
  lock(): void;
  unlock(): void;
}

export interface SemaphoreLike {
  acquire(): void;
  /** More than one permit at a time: only where the row says so. */
  release(permits?: number): void;
}
