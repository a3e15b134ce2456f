// The calls of a benchmark's loop: those of a lock or a semaphore of any class.

export interface LockLike {
  lock(): void;
  unlock(): void;
}

export interface SemaphoreLike {
  acquire(): void;
  /** Releases permits. More than one at a time only if the row has `releasesMany`. */
  release(permits?: number): void;
}
