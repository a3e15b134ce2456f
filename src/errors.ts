/** The errors of this library, and the checks of arguments. */
import type { Core } from './border/core.js';
import { knowEverywhere } from './common-errors.js';

export * from './common-errors.js';

/**
 * The arena has no room left for another object, thread or waiter. Nothing was changed. The message says which option
 * of the arena makes room, and has the code that makes such an arena.
 */
export class ArenaFullError extends Error {
  /** `ArenaFullError`. */
  override readonly name = 'ArenaFullError';
}

knowEverywhere(ArenaFullError);

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
