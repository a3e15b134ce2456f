/**
 * What happens when a deadlock is found, when a thread looks for one, and whether threads count their waits
 * (measure.ts). The setting is a word of the arena, so all threads obey the same:
 *
 *     bits 0, 1      0: warn (of a new arena), 1: throw, 2: ignore
 *     bit 2          whether threads count their waits
 *     bits 3 to 31   after how many milliseconds a thread that blocks looks, plus 1; 0: the usual time
 */
import { H_DEADLOCKS } from '../border/numbers.js';

/** What happens when a thread finds that it waits in a deadlock. */
export type OnDeadlock = 'warn' | 'throw' | 'ignore';

export const CHOICES: readonly OnDeadlock[] = ['warn', 'throw', 'ignore'];
/** After so many milliseconds a thread that blocks looks for a deadlock, if nobody has chosen another time. */
export const USUAL = 1000;
/** The longest time that may be chosen: more than six days. */
export const LONGEST = 2 ** 29 - 2;
const CHOICE = 3;
const MEASURED = 4;
/** The place of the lowest bit of the time. */
const TIME = 3;

export interface Setting {
  readonly deadlocks: OnDeadlock;
  readonly after: number;
}

export function settingOf(words: Int32Array): Setting {
  const word = Atomics.load(words, H_DEADLOCKS >> 2);
  const time = word >>> TIME;
  return { deadlocks: CHOICES[word & CHOICE] ?? 'ignore', after: time ? time - 1 : USUAL };
}

/** Sets what is given. What is undefined stays as it is, also if another thread sets it at the same time. */
export function set(words: Int32Array, deadlocks: OnDeadlock | undefined, after: number | undefined): void {
  let [kept, bits] = [-1, 0];
  if (deadlocks !== undefined) {
    kept &= ~CHOICE;
    bits |= CHOICES.indexOf(deadlocks);
  }
  if (after !== undefined) {
    kept &= CHOICE | MEASURED;
    bits |= (after + 1) << TIME;
  }
  let before: number;
  do before = Atomics.load(words, H_DEADLOCKS >> 2);
  while (Atomics.compareExchange(words, H_DEADLOCKS >> 2, before, (before & kept) | bits) !== before);
}

/** Whether threads count their waits. */
export function isMeasured(words: Int32Array): boolean {
  return (Atomics.load(words, H_DEADLOCKS >> 2) & MEASURED) !== 0;
}

/** Makes threads count their waits. */
export function measureAll(words: Int32Array): void {
  Atomics.or(words, H_DEADLOCKS >> 2, MEASURED);
}
