/**
 * A program is plain data: shared objects, and the operations of each thread. Each operation is an event of its own.
 */

/** A shared object: its class, and the arguments with which it is made. */
export interface Spec {
  readonly kind: string;
  /** The number with which the object begins: permits, parties, a count. */
  readonly n?: number;
  readonly robust?: boolean;
  /** Whether permits are given back by separate operations of any thread, and not by the thread that has taken them. */
  readonly loose?: boolean;
  /** The number of another object that belongs to this object, such as the mutex of a condition. */
  readonly of?: number;
  /** What the callback of the object does. */
  readonly callback?: CallbackHow;
}

/** What a callback does when the library calls it. */
export type CallbackHow = 'throws' | 'calls back' | 'gives back';

/** What the signal of a request does. */
export type SignalHow = 'aborts' | 'is shared' | 'takes no listener' | 'calls back';

export interface Operation {
  /** The number of the object. */
  readonly on: number;
  readonly call: string;
  readonly n?: number;
  /** The time-out, in milliseconds. */
  readonly timeout?: number;
  readonly signal?: SignalHow;
  /** Whether the runtime may end the call while it sleeps. */
  readonly cut?: boolean;
  /** What a callback does. */
  readonly callback?: CallbackHow | undefined;
  /** What the operation later does with the lock, before it gives the lock back. */
  readonly goesOn?: 'downgrade' | 'upgrade';
}

export interface Program {
  readonly objects: readonly Spec[];
  readonly threads: readonly (readonly Operation[])[];
  /** The number of a thread that may die at any step. */
  readonly dies?: number;
}

/** Returns the name by which operations call an object. */
export function nameOf({ objects }: Program, on: number): string {
  const { kind } = objects[on] as Spec;
  const twins = objects.filter((spec) => spec.kind === kind).length > 1;
  return kind.charAt(0).toLowerCase() + kind.slice(1) + (twins ? on + 1 : '');
}

/** An operation as a line of a program. */
export function lineOf(program: Program, { on, call, n, timeout, signal, cut, callback, goesOn }: Operation): string {
  const options = [timeout !== undefined && `timeout: ${timeout}`, signal && `signal that ${signal}`].filter(Boolean);
  const values = [n, options.length > 0 && `{ ${options.join(', ')} }`].filter((value) => value || value === 0);
  const notes = [cut && 'may be cut short', callback && `its callback ${callback}`, goesOn && `then ${goesOn}`].filter(
    Boolean,
  );
  const note = notes.length > 0 ? ` // ${notes.join(', ')}` : '';
  return `${nameOf(program, on)}.${call}(${values.join(', ')})${note}`;
}

/** A program as text. The operations of a thread are separate tasks, in any order. */
export function textOf(program: Program): string {
  const lines = program.objects.map(({ kind, ...spec }, on) => {
    const given = Object.entries(spec).map(([name, value]) => `${name}: ${value}`);
    return `${nameOf(program, on)} = ${kind}(${given.join(', ')})`;
  });
  program.threads.forEach((operations, i) => {
    if (operations.length > 0) lines.push(`thread ${i + 1}:`);
    lines.push(...operations.map((operation) => `  ${lineOf(program, operation)}`));
  });
  if (program.dies !== undefined) lines.push(`thread ${program.dies} may die`);
  return lines.join('\n');
}
