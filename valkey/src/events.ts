/** What a space tells, and to whom. */
import { bad, checkFunction } from './errors.js';

/** What a space tells its listeners. */
export interface SpaceEvents {
  /** The lease is lost, and with it what the process held of these objects. */
  lost: [event: { readonly names: readonly string[]; readonly reason: string }];
  /** The session goes on after a connection was lost. */
  resumed: [];
  /** The server's data has another history: it was restarted, or a replica was promoted. */
  failover: [];
  /** Something stands in the way of the server: once for each that is another. Who waits goes on waiting. */
  trouble: [error: Error];
  /** The server has refused something of which no caller can be told, or the client's strategy has given up. */
  error: [error: unknown];
}

export class Listeners {
  readonly #of: Record<keyof SpaceEvents, Set<unknown>> = {
    lost: new Set(),
    resumed: new Set(),
    failover: new Set(),
    trouble: new Set(),
    error: new Set(),
  };

  add(event: keyof SpaceEvents, listener: unknown): void {
    if (!Object.hasOwn(this.#of, event)) {
      throw bad('string', 'Space.on: event', Object.keys(this.#of).join(', '), event);
    }
    checkFunction('Space.on: listener', listener);
    this.#of[event].add(listener);
  }

  delete(event: keyof SpaceEvents, listener: unknown): void {
    this.#of[event]?.delete(listener);
  }

  emit<E extends keyof SpaceEvents>(event: E, ...args: SpaceEvents[E]): void {
    for (const listener of this.#of[event]) {
      // A listener that throws must not stop the session.
      queueMicrotask(() => (listener as (...args: SpaceEvents[E]) => void)(...args));
    }
  }
}
