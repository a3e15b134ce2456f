/** What the sessions of a space share: the options, the driver, and functions of the space. space/space.ts makes it. */
import type { AnswerTimes } from '../drivers/answer-times.js';
import type { Driver, Script } from '../drivers/driver.js';
import type { SpaceError } from '../errors.js';
import type { Metric, SpaceEvents } from '../events.js';
import type { Heartbeat } from '../heartbeat/heartbeat.js';
import type { Checked } from '../options.js';
import type { SharedObject } from './shared-object.js';

export interface Surroundings extends Omit<Checked, 'heartbeat'> {
  readonly driver: Driver;
  /** What the server runs. A broker has it as code of its own. */
  readonly script: Script;
  /** How long the server takes to answer. */
  readonly answers: AnswerTimes;
  /** The thread that beats, if the user wants one. */
  heartbeat: Heartbeat | undefined;
  /** Resolves when both connections to the server are up. Rejects if the driver gives up. */
  whenConnected(): Promise<void>;
  /** Notes what keeps the space from the server. Without an argument, notes that nothing does. */
  note(trouble?: Error): void;
  /** The error for a call that was made at this time and got no answer within `connectTimeout`. */
  unanswered(since: number): SpaceError;
  /** The words to add to an error text: a colon and what keeps the space from the server; empty if nothing does. */
  lastWords(): string;
  /** Tells the listeners of the space. */
  emit<E extends keyof SpaceEvents>(event: E, ...args: SpaceEvents[E]): void;
  /** The present time, for a later `measure`; 0 if nobody listens for metrics. */
  stamp(): number;
  /**
   * Tells the listeners for metrics what has happened to a request, unless nobody listened at the time of the stamp.
   */
  measure(event: Metric['event'], object: SharedObject, permits: number, stamp: number): void;
  /**
   * The same of a request for permits of a rate: of a rate, or of the rates of a name and their keys. at: when it has
   * happened; by default now.
   */
  measureRate(event: Metric['event'], name: string, permits: number, stamp: number, at?: number): void;
  /** How many functions of `runExclusive` and `limit` run, or wait for their permits. */
  running: number;
  /** Is called when the last of these functions has ended, or has got no permits. */
  drained: () => void;
  /** Is called when a session begins or ceases to be needed. */
  keepAlive(): void;
}
