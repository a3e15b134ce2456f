/**
 * The core takes the words of a new object by position, since a module of WebAssembly gets only numbers. This file alone
 * knows their order: all others name them.
 */
import type { Core } from '../border/core.js';
import { ADAPTIVE } from '../runtime/numbers.js';

/** The words that a new object gets. An object that is found by its name must agree in most of them. */
export interface ObjectWords {
  /** O_KIND: one of KIND_*. */
  readonly kind: number;
  /** O_INITIAL. Below 0: only `openName` may find such an object, and makes none. */
  readonly permits: number;
  /** O_MAX. */
  readonly max: number;
  /** O_SPIN. Default: ADAPTIVE. */
  readonly spin?: number;
  /** O_THRESHOLD. Default: 0. */
  readonly threshold?: number;
  /** O_ROBUST: 1 if the permits of each thread are recorded, else 0. An object of the papers has its hash there. */
  readonly robust: number;
}

/** Makes an object, and attaches the thread to it. `variant` is its O_VARIANT. */
export function createObject(
  core: Core,
  { kind, permits, max, spin = ADAPTIVE, threshold = 0, robust }: ObjectWords,
  variant = 0n,
  firstTicket = 0n,
): ReturnType<Core['createObject']> {
  return core.createObject(kind, permits, max, spin, threshold, robust, variant, firstTicket);
}

/**
 * Attaches the thread to the object of the name in the draft of the thread, which has so many bytes. Makes the object if
 * there is none. `unnamed` is the number of an attachment to an object without a name, which then gets the name; or 0.
 */
export function openName(
  core: Core,
  bytes: number,
  { kind, permits, max, spin = ADAPTIVE, threshold = 0, robust }: ObjectWords,
  unnamed = 0,
): ReturnType<Core['openName']> {
  return core.openName(bytes, kind, permits, max, spin, threshold, robust, unnamed);
}
