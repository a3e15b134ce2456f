/**
 * Docstrings of the calls that count down, or set and reset. They hold for the classes of tasks and of threads alike:
 * limiting.ts says how a class inherits them.
 */

/** What takes from the count of a latch. */
export interface LatchCount {
  /**
   * Takes `n` from the count, and opens the latch if the count is then 0. Never blocks.
   * @param n 1 (the default) to the count.
   * @throws {RangeError} if the count is less than `n`; then nothing has changed.
   * @throws {DisposedError} if the latch has been disposed of.
   * @example latch.countDown();
   */
  countDown(n?: number): void;
}

/** What takes tasks off a wait group. */
export interface WaitGroupCount {
  /**
   * Takes off tasks that `add` has added. Never blocks.
   * @param n 1 (the default) to the number of pending tasks.
   * @throws {RangeError} if fewer tasks are pending; then nothing has changed.
   * @throws {DisposedError} if the wait group has been disposed of.
   * @example group.done();
   */
  done(n?: number): void;
}

/** What ends one task of a wait group. */
export interface TaskEnd {
  /**
   * Says that the task is done. Has no effect the second time. Never blocks, throws nothing.
   * @example task.done();
   */
  done(): void;
}

/** What sets and resets an event. */
export interface EventSwitch {
  /**
   * Sets the event: all who wait go on. Has no effect if the event is set already. Never blocks.
   * @throws {DisposedError} if the event has been disposed of.
   * @example event.set();
   */
  set(): void;

  /**
   * Resets the event: who begins to wait from now on waits for the next `set`. Has no effect if the event is not set.
   * Never blocks.
   * @throws {DisposedError} if the event has been disposed of.
   * @example event.reset();
   */
  reset(): void;
}
