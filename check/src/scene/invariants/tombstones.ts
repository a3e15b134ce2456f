/**
 * The invariants of tombstones. At the end grant has passed no tombstone, no tombstone is half claimed or half merged,
 * and no two tombstones have neighbouring tickets.
 */
import { Violation } from '../../engine/search/violation.js';
import { CLAIMED, E_END, E_START, ELEMENT_SIZE, MERGING, STATE_MASK, TOMBSTONE } from '../layout.js';
import { type Arena, objectIn } from '../set-up.js';
import { nameAt, valueAt } from '../trace-text.js';
import type { Permits } from './permits.js';

/** Returns the sum of the widths of a semaphore's tombstones. Throws a Violation if one of them is wrong. */
export function tombstones(arena: Arena, permits: Permits, semaphore: number, address: number): number {
  const { elements, end } = arena.regions;
  const { words } = arena.machine;
  const starts = new Set<number>();
  const ends = new Set<number>();
  let width = 0;
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    const state = words[e >> 2] & STATE_MASK;
    if (objectIn(arena, e) !== address) continue;
    if (state === CLAIMED || state === MERGING)
      throw new Violation(`${nameAt(arena, e)} stays ${valueAt(arena, e, 8)}`);
    if (state !== TOMBSTONE) continue;
    const start = words[(e + E_START) >> 2];
    if (permits.grantMinus(semaphore, start, words[(e + E_START + 4) >> 2]) > 0) {
      throw new Violation(`the tombstone ${nameAt(arena, e)} has been passed, and its permits are lost`);
    }
    width += (words[(e + E_END) >> 2] - start) | 0;
    starts.add(start);
    ends.add(words[(e + E_END) >> 2]);
  }
  for (const start of starts) {
    if (ends.has(start)) throw new Violation(`two tombstones stand side by side, at ticket ${start}`);
  }
  return width;
}
