/** The errors of this library, and the checks of arguments. */
import type { Core } from '../border/core.js';
import { badType, DisposedError, knowEverywhere, shown } from '../common/errors.js';

export * from '../common/errors.js';

/** @internal A shared object has its words for an error under this key: `the Mutex "accounts"`. */
export const described = Symbol();

/** @internal The error of a library object that has found its shared object disposed of. */
export function disposed(object: object | undefined): DisposedError {
  const { [described]: words } = (object ?? {}) as { [described]?(): string };
  return new DisposedError(`${words?.call(object) ?? 'the object'} has been disposed of`);
}

/**
 * The arena has no room left for another object, thread or waiter. Nothing was changed. The message says which option
 * of the arena makes room, and has the code that makes such an arena.
 */
export class ArenaFullError extends Error {
  /** `ArenaFullError`. */
  override readonly name = 'ArenaFullError';
}

/**
 * The call would block its thread for ever, because it waits for what this thread has, or what a promise of this thread
 * waits for: a self-deadlock. Nothing was changed. This is a mistake of the program, and to try again does not help.
 * The message says what to call instead.
 *
 * A circle of several threads is another error, the `DeadlockError` of `taketurns/report`. A task that awaits what it
 * holds itself gets no error, because the library does not know which task calls: give the wait a time-out.
 * @since 0.3.0
 */
export class SelfDeadlockError extends Error {
  /** `SelfDeadlockError`. */
  override readonly name = 'SelfDeadlockError';
}

knowEverywhere({ ArenaFullError, SelfDeadlockError });

/**
 * @internal Makes the error of a call for which a thread would wait for itself.
 * @param why says what this thread or a promise of it has or waits for.
 * @param instead says what the code does that has it.
 * @param inAsync is the call for code that does not have it, because another task of this thread does. In the code that
 * has it, this call would wait for itself too, and no error could say so.
 */
export function selfDeadlock(call: string, why: string, instead: string, inAsync: string): SelfDeadlockError {
  return new SelfDeadlockError(
    `${call}: ${why}, and would wait for itself: ${instead}. Only if another task of this thread has it, await ${inAsync}`,
  );
}

/**
 * @internal Refuses a name in the place of an argument of a class whose objects `open` finds by their names:
 * `new Mutex('accounts')`, or `Semaphore.open(4, 'pool')`. A string of a number is another mistake.
 * @param expected says what the argument is, and `rest` which arguments of `open` follow the name.
 */
export function refuseName(
  what: string,
  kind: string,
  argument: string,
  value: unknown,
  expected: string,
  rest = '',
): void {
  if (typeof value !== 'string' || !Number.isNaN(Number(value))) return;
  throw badType(`${what}: ${argument}`, expected, value, `a name comes first in ${kind}.open(${shown(value)}${rest})`);
}

/** @internal The most of each that an arena may have. */
export const MOST = { objects: 1 << 20, threads: 4095, waiters: 4_000_000 } as const;

/**
 * @internal Makes the error of an arena that has no room for another thing. The message has the code that makes an
 * arena with twice as much room.
 * @param option says how much room an arena has, and `room` is what this arena has.
 */
export function arenaFull(thing: string, option: keyof typeof MOST, room: number): ArenaFullError {
  const made = `new Arena({ ${option}: ${Math.min(2 * room, MOST[option])} })`;
  return new ArenaFullError(
    `the arena has no room for another ${thing}: let some go, or make a larger arena: ${made}, ` +
      `and for the default arena, in the main thread before all else, ${made}.makeDefault()`,
  );
}

/** @internal The error of a request for which there is no wait element. Another `thing` may need an element, too. */
export function noRoom(core: Core, thing = 'waiter'): ArenaFullError {
  return arenaFull(thing, 'waiters', core.mostElements() - 2 * core.mostObjects());
}

/** @internal The error of a call that would block a thread that must not block. */
export function mayNotBlock(instead: string): TypeError {
  return new TypeError(`this thread may not block (browsers forbid it on the main thread): use ${instead}`);
}
