/**
 * A model has a small program for each of its threads, over one arena. It may have checks of its own, besides the
 * invariants that are checked in every model. The search runs each model to its end.
 */
import type { Scene, Settings } from './scene.js';

/** One step of a program. The driver calls `next` whenever the thread has no call and no access under way. */
export interface Op {
  readonly text: string;
  /**
   * Goes on with the op. Returns true when the op is done, false if it has begun a call or an access, and undefined
   * while it waits for a death.
   */
  next(scene: Scene, t: number): boolean | undefined;
  /** Whether the op may wait for a death that does not come. */
  readonly supervises?: boolean;
  /**
   * Says what becomes of the op when an exception ends its call of the core, anywhere. The thread then goes on with its
   * next op. Only the calls of an op with this function are cut short (`cuts` in scene.ts).
   */
  cut?(scene: Scene, t: number): void;
  /**
   * How many permits of the first semaphore the thread has got from the core, but has not reported to the scene yet.
   */
  granted?(scene: Scene, t: number): number;
}

/** An op that waits for permits. The checks learn from it what a sleeper waits for. */
export interface Waiting extends Op {
  readonly semaphore: number;
  readonly width: number;
}

export interface Model extends Settings {
  readonly programs: readonly (readonly Op[])[];
  /** Makes the objects before the threads start. */
  readonly objects?: (scene: Scene) => void;
  /** Checks a write to an object; `before` is the low word before the write. */
  readonly wrote?: (scene: Scene, t: number, address: number, before: number) => void;
  /** Whether the sleep of a thread, which has a time-out, may end by it now. Any may, if the model does not say. */
  readonly mayTimeOut?: (scene: Scene, t: number) => boolean;
  /** Whether a thread may make a plain access to this address, besides those to drafts of names. */
  readonly plain?: (scene: Scene, t: number, address: number) => boolean;
  /** Checks every end state. */
  readonly end?: (scene: Scene) => void;
  /** Checks a write to a word of `watched`; `before` is the low word before the write. */
  readonly written?: (scene: Scene, t: number, address: number, before: number) => void;
}
