/**
 * What happens when a deadlock is found, and when a thread looks for one. The setting is a word of the arena, so all
 * threads obey the same:
 *
 *     bits 0, 1      0: warn (of a new arena), 1: throw, 2: ignore
 *     bits 2 to 31   after how many milliseconds a thread that blocks looks, plus 1; 0: the usual time
 */
import { H_DEADLOCKS } from '../border/numbers.js';

/** What happens when a thread finds that it waits in a deadlock. */
export type OnDeadlock = 'warn' | 'throw' | 'ignore';

export const CHOICES: readonly OnDeadlock[] = ['warn', 'throw', 'ignore'];
/** After so many milliseconds a thread that blocks looks for a deadlock, if nobody has chosen another time. */
export const USUAL = 1000;
/** The longest time that may be chosen: more than six days. */
export const LONGEST = 2 ** 29 - 1;

export interface Setting {
  readonly deadlocks: OnDeadlock;
  readonly after: number;
}

export function settingOf(words: Int32Array): Setting {
  const word = Atomics.load(words, H_DEADLOCKS >> 2);
  return { deadlocks: CHOICES[word & 3] ?? 'ignore', after: word >>> 2 ? (word >>> 2) - 1 : USUAL };
}

export function set(words: Int32Array, { deadlocks, after }: Setting): void {
  Atomics.store(words, H_DEADLOCKS >> 2, CHOICES.indexOf(deadlocks) | ((after + 1) << 2));
}
