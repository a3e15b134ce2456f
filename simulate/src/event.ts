/** Threads and events, as the scheduler and its strategies see them, and the errors that end a thread or a run. */

/** A thread, as the scheduler sees it. */
export interface Thread {
  readonly index: number;
  readonly events: Event[];
  /** What the library runs after the microtasks of the present event. */
  readonly soon: (() => void)[];
  isDead: boolean;
  /** Whether the thread is in an uninterruptible section, where no engine stops it. It cannot die then. */
  isSafe: boolean;
  /** Whether the runtime may end the present call by an exception while the thread sleeps. */
  mayBeCut: boolean;
  /** Runs the microtasks. */
  drain(): void;
  /** Makes the exception by which the runtime ends a call. */
  cut(): unknown;
}

export interface Event {
  /** The thread of the event. Undefined if the event happens to the program from outside. */
  readonly thread: Thread | undefined;
  /** Describes the event, for a trace. */
  label(): string;
  readonly run: () => void;
  /** Whether the library has caused the event, so it comes without delay. Before it, the library is not at rest. */
  readonly isDue: boolean;
  /** If the event is a timer: the earliest time at which it may come. */
  readonly at?: number | undefined;
  readonly isEnabled?: (() => boolean) | undefined;
  /** A number that strategies use. */
  priority: number;
}

/** The exception by which the calls of a dead thread end. */
export const KILLED = Symbol('killed');

/** The error with which a run ends if the library has done something wrong. */
export class Failure extends Error {}
