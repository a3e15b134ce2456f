/** The errors of this library, and the checks of arguments. */
import type { Core } from './border/core.js';
import { knowEverywhere } from './common-errors.js';

export * from './common-errors.js';

/**
 * The arena has no room left for another object, thread or waiter. Nothing was changed. The message says which option of
 * the arena makes room, and has the code that makes such an arena.
 */
export class ArenaFullError extends Error {
  /** `ArenaFullError`. */
  override readonly name = 'ArenaFullError';
}

knowEverywhere(ArenaFullError);

/** @internal The error of an arena that is full. */
export function arenaFull(thing: string, advice: string): ArenaFullError {
  return new ArenaFullError(`the arena has no room for another ${thing}: ${advice}`);
}

/** @internal The most of each that an arena may have. */
export const MOST = { objects: 1 << 20, threads: 4095, waiters: 4_000_000 } as const;

/** @internal Says how to make an arena with twice as much room, in code to paste. `room` is what the arena has now. */
export function more(room: { readonly [option in keyof typeof MOST]?: number }): string {
  const options = Object.keys(room) as (keyof typeof MOST)[];
  const larger = options.map((option) => `${option}: ${Math.min(2 * (room[option] as number), MOST[option])}`);
  const made = `new Arena({ ${larger.join(', ')} })`;
  return `make it with more \`${options.join('` or `')}\`: ${made} (if it is the default arena, the main thread does this before all else: ${made}.makeDefault())`;
}

/** @internal How many waiters the arena has room for. Its threads may have a few of them. */
export function roomForWaiters(core: Core): number {
  return core.mostElements() - 2 * core.mostObjects();
}

/** @internal The error of an arena that has no room for another object. */
export function noRoomForObject(core: Core): ArenaFullError {
  return arenaFull('object', `dispose of some, or ${more({ objects: core.mostObjects() })}`);
}

/** @internal The error of a request, or of an attachment, for which there is no element. */
export function noRoom(core: Core, thing = 'waiter'): ArenaFullError {
  return arenaFull(thing, more({ waiters: roomForWaiters(core) }));
}

/** @internal The error of a call that would block a thread that must not block. */
export function mayNotBlock(instead: string): TypeError {
  return new TypeError(`this thread may not block (browsers forbid it on the main thread): use ${instead}`);
}
