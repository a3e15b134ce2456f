/**
 * Docstrings of the calls that return guards. They hold for the classes of tasks and of threads alike: limiting.ts says
 * how a class inherits them.
 */
import type { PermitsRequest, WaitOptions } from './waits.js';

/** The calls of a semaphore that take permits at once, or return a guard without blocking the thread. */
export interface SemaphoreGuards<Guard> {
  /**
   * Takes permits if they are free and no request waits. Never blocks, never overtakes a waiter.
   * @param permits 1 (the default) to `max`.
   * @returns whether it has taken them.
   * @throws {RangeError | TypeError} for a bad number.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @example if (pool.tryAcquire(2)) pool.release(2);
   */
  tryAcquire(permits?: number): boolean;

  /**
   * As `tryAcquire`, but it returns a guard that gives the permits back, or undefined:
   * `using held = pool.tryHold(2)`. Never blocks, and throws what `tryAcquire` throws.
   */
  tryHold(permits?: number): Guard | undefined;

  /**
   * Takes all permits that are free at one moment, unless a request waits. `release` gives them back. Never blocks.
   * @returns how many it has taken; 0 if none is free.
   * @throws {DisposedError} if the semaphore has been disposed of.
   * @example pool.release(pool.drain());
   */
  drain(): number;

  /**
   * Takes permits by `acquireAsync`: the promise is fulfilled with a guard that gives them back. Never blocks the
   * thread.
   * @param request the number of permits, 1 (the default) to `max`; and a time-out and a signal, without which the
   * promise may wait for ever. Each may be left out.
   * @returns a promise. It rejects as that of `acquireAsync` does.
   * @example await using held = await pool.holdAsync(2, { timeout: 50 });
   */
  holdAsync(...request: PermitsRequest): Promise<Guard>;
}

/** The calls of a mutex that return a guard without blocking the thread. */
export interface MutexGuards<Guard> {
  /**
   * Locks by `tryLock`. Never blocks.
   * @returns a guard that unlocks, or undefined: `using held = mutex.tryHold(); if (held) work()`.
   * @throws what `tryLock` throws.
   */
  tryHold(): Guard | undefined;

  /**
   * Locks by `lockAsync`: the promise is fulfilled with a guard that unlocks. Never blocks the thread.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects as that of `lockAsync` does.
   * @example await using held = await mutex.holdAsync({ timeout: 50 });
   */
  holdAsync(options?: WaitOptions): Promise<Guard>;
}

/** The calls of a lock for readers and writers that return a guard without blocking the thread. */
export interface RwLockGuards<Reading, Writing, ReadOptions> {
  /**
   * Locks by `lockReadAsync`: the promise is fulfilled with a guard that unlocks. Never blocks the thread.
   * @param options a time-out and a signal, without which the promise may wait for ever; and `within` which guard it
   * reads.
   * @returns a promise. It rejects as that of `lockReadAsync` does.
   * @example await using held = await lock.readAsync({ timeout: 50 });
   */
  readAsync(options?: ReadOptions): Promise<Reading>;

  /**
   * Locks by `tryLockRead`. Never blocks.
   * @returns a guard that unlocks, or undefined: `using held = lock.tryRead(); if (held) look()`.
   * @throws what `tryLockRead` throws.
   */
  tryRead(): Reading | undefined;

  /**
   * Locks by `lockWriteAsync`: the promise is fulfilled with a guard that unlocks. Never blocks the thread.
   * @param options a time-out and a signal; without them the promise may wait for ever.
   * @returns a promise. It rejects as that of `lockWriteAsync` does.
   * @example await using held = await lock.writeAsync({ timeout: 50 });
   */
  writeAsync(options?: WaitOptions): Promise<Writing>;

  /**
   * Locks by `tryLockWrite`. Never blocks.
   * @returns a guard that unlocks, or undefined: `using held = lock.tryWrite(); if (held) change()`.
   * @throws what `tryLockWrite` throws.
   */
  tryWrite(): Writing | undefined;
}
