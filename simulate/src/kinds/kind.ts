/** A kind describes a class of the library to the simulation: how an object is made, its operations, and its ghost. */
import type { Call } from '../call.js';
import type { Ghost } from '../ghosts.js';
import type { Operation, SignalHow, Spec } from '../program.js';
import type { Random } from '../random.js';
import type { Library } from '../realm.js';
import type { Stage } from '../stage.js';

export interface OperationKind {
  /** How often the operation is drawn, relative to the others. */
  readonly weight: number;
  readonly blocks?: boolean;
  /** Draws what the operation is called with. Returns undefined if the object does not have this operation. */
  draw(random: Random, spec: Spec): Omit<Operation, 'on' | 'call'> | undefined;
  run(call: Call): void;
}

export interface Kind {
  /** The class of another object that an object of this class is made with. */
  readonly needs?: string;
  /**
   * Whether a program with such an object has no other, and no thread of it dies. A wait that gives up looks again and
   * again for what a signal has handed on. It would do so for ever if that signal cannot go on.
   */
  readonly isAlone?: boolean;
  /** Draws what an object is made with. */
  draw(random: Random): Omit<Spec, 'kind'>;
  make(library: Library, spec: Spec, arena: Library, made: readonly Library[], ghost: Ghost): Library;
  /** Makes the library object of another thread, if it needs more than the handle. */
  from?(library: Library, handle: unknown, ghost: Ghost): Library;
  ghost(stage: Stage, on: number): Ghost;
  /** Whether others get what a dead thread had of the object. */
  outlives(spec: Spec): boolean;
  readonly operations: Readonly<Record<string, OperationKind>>;
}

const HOW: readonly SignalHow[] = ['aborts', 'aborts', 'is shared', 'takes no listener', 'calls back'];

/** Draws how long a request may wait. */
export function patience(random: Random): Pick<Operation, 'timeout' | 'signal'> {
  const timeout = random.once(3) ? { timeout: random.below(4) } : {};
  return random.once(6) ? { ...timeout, signal: random.of(HOW) } : timeout;
}

/** Draws nothing. */
export const plainly = (): object => ({});

/** Disposes of the object, as programs do with each class. */
export const dispose: OperationKind = {
  weight: 0.2,
  draw: plainly,
  run(call) {
    call.ghost.disposes(() => call.object.dispose());
  },
};
