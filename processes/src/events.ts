/** The events of a space. */
import { checkChoice, checkType } from './errors.js';
import { microtask } from './runtime/ticks.js';

/** What has become of a request of this process. Metrics are made of this. */
export interface Metric {
  /**
   * `wait`: the request stands in the server's queue, because it was not granted at once. `hold`: the request was
   * granted. `release`: permits were given back. `timeout`: the time-out passed before a grant; a request with
   * `{ timeout: 0 }` has no such event.
   *
   * Of a rate: `wait`: the request was told a date that lies ahead. `begin`: its permits go. `late`: the process was too
   * busy to begin at the date, so the request asks again. `timeout`: the request was refused, because its date is later
   * than its time-out allows; also with `{ timeout: 0 }` and by `tryTake`.
   */
  readonly event: 'wait' | 'hold' | 'release' | 'timeout' | 'begin' | 'late';
  /** The name of the object. */
  readonly name: string;
  readonly kind: 'semaphore' | 'mutex' | 'rwlock' | 'ratelimiter' | 'keyedratelimiter';
  /** The number of permits that the request asks for or gives back: 1,048,576 for a writer of a read-write lock. */
  readonly permits: number;
  /**
   * Milliseconds by this process's monotonic clock. For `release` they count from the grant, and for the other events
   * from the moment when the caller asked.
   */
  readonly ms: number;
}

/** What a space tells its listeners. */
export interface SpaceEvents {
  /** A request waits, was granted, gives back or has timed out. Without a listener the space measures nothing. */
  metric: [metric: Metric];
  /** What the process held of these objects is lost: with the lease, by a revocation or by a failover. */
  lost: [event: { readonly names: readonly string[]; readonly reason: string }];
  /** A session goes on after a connection was lost. */
  resumed: [];
  /** The server's data has another history: the server was restarted, or a replica was promoted. */
  failover: [];
  /**
   * Something keeps the space from reaching or using the server. The event comes once for each new cause. Waiting
   * requests go on waiting.
   */
  trouble: [error: Error];
  /** The server has refused an operation and no caller can be told, or the client's retry strategy has given up. */
  error: [error: unknown];
}

/** The listeners of a space, by events. */
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
    this.#check('Space.on', event, listener);
    this.#of[event].add(listener);
  }

  delete(event: keyof SpaceEvents, listener: unknown): void {
    this.#check('Space.off', event, listener);
    this.#of[event].delete(listener);
  }

  #check(what: string, event: keyof SpaceEvents, listener: unknown): void {
    checkChoice(`${what}: event`, event, Object.keys(this.#of));
    checkType(`${what}: listener`, listener, 'function', 'a function');
  }

  has(event: keyof SpaceEvents): boolean {
    return this.#of[event].size > 0;
  }

  emit<E extends keyof SpaceEvents>(event: E, ...args: SpaceEvents[E]): void {
    for (const listener of this.#of[event]) {
      // A listener that throws must not stop the session, so it runs in a microtask of its own.
      microtask(() => (listener as (...args: SpaceEvents[E]) => void)(...args));
    }
  }
}
