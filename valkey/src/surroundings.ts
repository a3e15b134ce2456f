/** What all sessions of a space share. */
import type { Driver } from './drivers/driver.js';
import type { SpaceError } from './errors.js';
import type { Metric, SpaceEvents } from './events.js';
import type { Heartbeat } from './heartbeat.js';
import type { SharedObject } from './object.js';
import type { Checked } from './options.js';

export interface Surroundings extends Omit<Checked, 'heartbeat'> {
  readonly driver: Driver;
  /** Beats from another thread, if the user wants them. */
  heartbeat: Heartbeat | undefined;
  /** Resolves when both connections stand. Rejects if the driver gives up. */
  whenConnected(): Promise<void>;
  /** Notes what keeps the space from the server, or that nothing does. */
  note(trouble?: Error): void;
  /** The error for a call to which no answer has come within `connectTimeout`. */
  unanswered(): SpaceError;
  /** The cause that keeps the space from the server, to be put behind a text; empty if there is none. */
  lastWords(): string;
  /** Tells the listeners of the space. */
  emit<E extends keyof SpaceEvents>(event: E, ...args: SpaceEvents[E]): void;
  /** The time for a later `measure`; 0 if nobody listens for metrics. */
  stamp(): number;
  /** Tells the listeners for metrics what has happened to a request, unless nobody listened at the time of the stamp. */
  measure(event: Metric['event'], object: SharedObject, permits: number, stamp: number): void;
  /** How many functions of `runExclusive` run, and what is called when none does. */
  running: number;
  drained: () => void;
  /** Called when a session begins or ceases to be needed. */
  keepAlive(): void;
}
