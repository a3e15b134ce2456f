/** A kind describes a class of the library to the simulation: how an object is made, its operations, and its ghost. */
import type { Call } from '../../call.js';
import type { Ghost } from '../../ghosts.js';
import type { Operation, SignalHow, Spec } from '../../program.js';
import type { Random } from '../../random.js';
import type { Library } from '../../realm.js';
import type { Stage } from '../../stage.js';

export interface OperationKind {
  /** How often the operation is drawn, relative to the other operations. */
  readonly weight: number;
  readonly blocks?: boolean;
  /** Draws the arguments of the operation. Returns undefined if the object does not have this operation. */
  draw(random: Random, spec: Spec): Omit<Operation, 'on' | 'call'> | undefined;
  run(call: Call): void;
}

export interface Kind {
  /** The class of another object that belongs to each object of this class, such as the mutex of a condition. */
  readonly needs?: string;
  /** Whether a death leaves the object as it is for ever. No thread of a program with such an object dies. */
  readonly breaksByDeath?: boolean;
  /** Whether an object consists of several shared objects. Then its library object is not collected. */
  readonly hasParts?: boolean;
  /** Draws the arguments with which an object is made. */
  draw(random: Random): Omit<Spec, 'kind'>;
  make(library: Library, spec: Spec, arena: Library, made: readonly Library[], ghost: Ghost): Library;
  /** Makes the library object of another thread. Only classes that need more than the handle for this have `from`. */
  from?(library: Library, handle: unknown, ghost: Ghost): Library;
  ghost(stage: Stage, on: number): Ghost;
  /** Whether other threads get what a dead thread had of the object. */
  outlives(spec: Spec): boolean;
  readonly operations: Readonly<Record<string, OperationKind>>;
}

/** Kinds by the names of their classes. */
export type Kinds = Readonly<Record<string, Kind>>;

const HOW: readonly SignalHow[] = ['aborts', 'aborts', 'is shared', 'takes no listener', 'calls back'];

/** Draws how long a request may wait. */
export function patience(random: Random): Pick<Operation, 'timeout' | 'signal'> {
  const timeout = random.once(3) ? { timeout: random.below(4) } : {};
  return random.once(6) ? { ...timeout, signal: random.of(HOW) } : timeout;
}

/** Draws no arguments. */
export const plainly = (): object => ({});

/** Lets the thread's library object be collected. Each class has this operation. */
export const renew: OperationKind = {
  weight: 1,
  draw: (random) => ({ n: random.below(2) }),
  run({ stage, thread, operation: { on, n } }) {
    stage.renew(thread, on, n === 1);
  },
};

/** Disposes of the object, as programs do with each class. */
export const dispose: OperationKind = {
  weight: 0.2,
  draw: plainly,
  run(call) {
    call.ghost.disposes(() => call.object.dispose());
  },
};
