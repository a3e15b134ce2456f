import { knowEverywhere } from '../common/errors.js';
import type { Deadlock } from './deadlocks.js';

/**
 * The thread waited in a deadlock of an arena in which deadlocks throw. The request has left the queue, and holds
 * nothing. The thread still holds all that it held before the call: it should give some of it back.
 * @since 0.3.0
 */
export class DeadlockError extends Error {
  /** `DeadlockError`. */
  override readonly name = 'DeadlockError';
  /** The threads that waited for one another. */
  readonly deadlock: Deadlock;

  /** @internal */
  constructor(deadlock: Deadlock) {
    super(deadlock.text);
    this.deadlock = deadlock;
  }
}

knowEverywhere({ DeadlockError });
