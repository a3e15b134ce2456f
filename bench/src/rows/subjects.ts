// The calls of a benchmark's loop: those of a lock or a semaphore of any class.

export interface LockLike {
  lock(): void;
  unlock(): void;
}

export interface SemaphoreLike {
  acquire(): void;
  /** More than one permit at a time only if the row says so. */
  release(permits?: number): void;
}
