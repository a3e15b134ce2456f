/**
 * The name of a thread, for reports. The names lie behind the elements of an arena, 32 bytes for each thread:
 *
 *     life       4 bytes    of the thread whose name it is. So a thread has not the name of an earlier thread
 *     name      28 bytes    UTF-8, and zeros
 *
 * Only the thread itself writes its label. It first stores 0 as the life, then the name, and its life last. A reader
 * loads the life before and after the name: between two loads that give the same life, nobody has written another
 * thread's name. While a thread changes its name, it has none.
 */
import { ALIVE, H_END, H_THREADS, LIFE_STATE } from '../border/numbers.js';
import type { View } from './view.js';

const LABEL_SIZE = 32;
const ROOM = LABEL_SIZE - 4;

/** Returns the address where the labels end. */
export function endOfLabels(words: Int32Array): number {
  return Atomics.load(words, H_END >> 2) + (Atomics.load(words, H_THREADS >> 2) + 1) * LABEL_SIZE;
}

/** Returns the address of the label of a thread; 0 in an arena that has no room for labels. */
function labelAt(words: Int32Array, thread: number): number {
  return endOfLabels(words) > words.byteLength ? 0 : Atomics.load(words, H_END >> 2) + thread * LABEL_SIZE;
}

/** Writes the name of the calling thread, which is alive and has this life. A longer name is cut off. */
export function label(words: Int32Array, thread: number, life: number, name: string): void {
  const at = labelAt(words, thread);
  if (at === 0) return;
  // UTF-8 has no code for half of a surrogate pair.
  const encode = (characters: readonly string[]): string =>
    unescape(encodeURIComponent(characters.join('').replace(/[\ud800-\udfff]/gu, '?')));
  const characters = [...name].slice(0, ROOM);
  while (encode(characters).length > ROOM) characters.pop();
  const bytes = new Uint8Array(ROOM);
  bytes.set(Uint8Array.from(encode(characters), (byte) => byte.charCodeAt(0)));
  Atomics.store(words, at >>> 2, 0);
  for (const [i, word] of new Int32Array(bytes.buffer).entries()) Atomics.store(words, (at >>> 2) + 1 + i, word);
  Atomics.store(words, at >>> 2, life);
}

/**
 * Returns the name of the thread with this life, in whatever state; undefined if it has none, or is gone and another
 * thread has its place.
 */
export function labelOf(view: View, thread: number, life: number): string | undefined {
  const at = labelAt(view.words, thread);
  const alive = (life & ~LIFE_STATE) | ALIVE;
  if (at === 0 || view.load(at) !== alive) return undefined;
  const name = view.text(at + 4, ROOM).replace(/\0+$/, '');
  return view.load(at) === alive && name !== '' ? name : undefined;
}
