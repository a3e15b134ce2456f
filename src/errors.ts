/** The errors of this library, and the checks of arguments. */
import { knowEverywhere } from './common-errors.js';

export * from './common-errors.js';

/** The arena has no room left for another object, name, thread or waiter. Nothing was changed. */
export class ArenaFullError extends Error {
  /** `ArenaFullError`. */
  override readonly name = 'ArenaFullError';
}

knowEverywhere(ArenaFullError);

/** @internal The error of an arena that is full. */
export function arenaFull(thing: string, advice: string): ArenaFullError {
  return new ArenaFullError(`the arena has no room for another ${thing}: ${advice}`);
}

/**
 * @internal Makes the error of an arena that has no room for another thing of this kind. The program can make room by
 * disposing of some. `option` names the option of the arena that says how many there may be.
 */
export function tooMany(thing: string, option: string): ArenaFullError {
  return arenaFull(thing, `dispose of some, or make it with more \`${option}\``);
}

/** @internal The error of a request for which there is no wait element. */
export function noRoom(): ArenaFullError {
  return arenaFull('waiter', 'make it with more `waiters`');
}

/** @internal The error of a call that would block a thread that must not block. */
export function mayNotBlock(instead: string): TypeError {
  return new TypeError(`this thread may not block (browsers forbid it on the main thread): use ${instead}`);
}
