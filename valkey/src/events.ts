/** The events of a space. */
import { checkChoice, checkType } from './errors.js';

/** What has become of a request of this process: for metrics. */
export interface Metric {
  /**
   * `wait`: it stands in the server's queue; what is granted at once does not. `hold`: it was granted. `release`: permits were given
   * back. `timeout`: its time-out has passed before; a request with `{ timeout: 0 }` is none.
   */
  readonly event: 'wait' | 'hold' | 'release' | 'timeout';
  /** The name of the object. */
  readonly name: string;
  readonly kind: 'semaphore' | 'mutex' | 'rwlock';
  /** The number of permits that the request asks for, or gives back. A writer of a read-write lock has 1,048,576. */
  readonly permits: number;
  /**
   * Milliseconds by this process's monotonic clock: for `release` since the grant, otherwise since the caller asked.
   */
  readonly ms: number;
}

/** What a space tells its listeners. */
export interface SpaceEvents {
  /** A request waits, holds, gives back or has timed out. Without a listener the space measures nothing. */
  metric: [metric: Metric];
  /** The lease is lost, and with it all that the process held of these objects. */
  lost: [event: { readonly names: readonly string[]; readonly reason: string }];
  /** The session goes on after a connection was lost. */
  resumed: [];
  /** The server's data has another history: it was restarted, or a replica was promoted. */
  failover: [];
  /**
   * Something keeps the space from the server. The event comes once for each new cause. Waiting requests go on waiting.
   */
  trouble: [error: Error];
  /** The server has refused an operation and no caller can be told, or the client's strategy has given up. */
  error: [error: unknown];
}

export class Listeners {
  readonly #of: Record<keyof SpaceEvents, Set<unknown>> = {
    metric: new Set(),
    lost: new Set(),
    resumed: new Set(),
    failover: new Set(),
    trouble: new Set(),
    error: new Set(),
  };

  add(event: keyof SpaceEvents, listener: unknown): void {
    checkChoice('Space.on: event', event, Object.keys(this.#of));
    checkType('Space.on: listener', listener, 'function', 'a function');
    this.#of[event].add(listener);
  }

  delete(event: keyof SpaceEvents, listener: unknown): void {
    this.#of[event]?.delete(listener);
  }

  has(event: keyof SpaceEvents): boolean {
    return this.#of[event].size > 0;
  }

  emit<E extends keyof SpaceEvents>(event: E, ...args: SpaceEvents[E]): void {
    for (const listener of this.#of[event]) {
      // A listener that throws must not stop the session.
      queueMicrotask(() => (listener as (...args: SpaceEvents[E]) => void)(...args));
    }
  }
}
