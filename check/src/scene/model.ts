/**
 * A model: a small program for each thread, over one arena, and what is to be checked beside the invariants of every
 * scene. The search runs each model to its end.
 */
import type { Scene, Settings } from './scene.js';

/** One step of a program: called whenever its thread has nothing under way. */
export interface Op {
  readonly text: string;
  /** True: done. False: it has begun a call or an access. Undefined: it waits for a death, and is asked again then. */
  next(scene: Scene, t: number): boolean | undefined;
  /** Whether it may wait for a death that does not come. */
  readonly supervises?: boolean;
  /** How many permits of the first semaphore the core has said are the thread's, and the scene has not been told of yet. */
  granted?(scene: Scene, t: number): number;
}

/** An op that waits for permits: the checks can tell what a sleeper waits for. */
export interface Waiting extends Op {
  readonly semaphore: number;
  readonly width: number;
}

export interface Model extends Settings {
  readonly programs: readonly (readonly Op[])[];
  /** Makes the objects, before the threads start. */
  readonly objects?: (scene: Scene) => void;
  /** A check of the model's own after a write to an object; what its low word was before. */
  readonly wrote?: (scene: Scene, t: number, address: number, before: number) => void;
  /** A check of the model's own in every end state. */
  readonly end?: (scene: Scene) => void;
  /** Told of each write to a word of `watched`: what stood in its low half before. */
  readonly written?: (scene: Scene, t: number, address: number, before: number) => void;
}
