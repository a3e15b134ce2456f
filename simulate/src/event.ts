/** Threads and events, as the scheduler and its strategies see them, and how a run is ended. */

/** A thread, as the scheduler sees it. */
export interface Thread {
  readonly index: number;
  readonly events: Event[];
  /** What the library runs after the microtasks of the present event. */
  readonly soon: (() => void)[];
  isDead: boolean;
  /** Whether the thread is where no engine stops it: a death waits. */
  isSafe: boolean;
  /** Whether the runtime may end the present call by an exception while the thread sleeps. */
  mayBeCut: boolean;
  /** Runs the microtasks. */
  drain(): void;
  /** The exception that ends a call. */
  cut(): unknown;
}

export interface Event {
  /** Undefined if it happens to the program from outside. */
  readonly thread: Thread | undefined;
  /** What it is, for a trace. */
  label(): string;
  readonly run: () => void;
  /** Whether the library brings it about by itself, now: a thread is not at rest before. */
  readonly isDue: boolean;
  /** The clock when it may come at the earliest, if it is a timer. */
  readonly at?: number | undefined;
  readonly isEnabled?: (() => boolean) | undefined;
  /** Used by strategies. */
  priority: number;
}

/** Is thrown out of a thread that has died. */
export const KILLED = Symbol('killed');

/** Something that must not be. */
export class Failure extends Error {}
