/**
 * The first page of a RateLimiter, and how to read in it who waits, without the lock (src/rates/memory.ts tells how it
 * is used). So the waits of a limiter are those of its schedule. In the queue of its pause, where the threads sleep, one
 * sleeper stands for all promises of a thread.
 */
import { O_LIFE, R_PAGE, THREAD_MASK } from '../border/numbers.js';
import { type RateSeen, seenIn } from '../common/schedule.js';
import { timeIn } from '../runtime/rate-clock.js';
import type { View } from './view.js';

// Words of 4 bytes:
export const LOCK = 0; // and whether threads sleep until it is free
/** 1 once a thread has slept in the pause of the limiter. */
export const SLEEPS = 2;
/** How many calls of `tryTake` were refused. */
export const REFUSALS = 3;
// Floats:
export const CLOCK = 2;
/** When a thread has last looked for dead ones. */
export const TENDED = 3;
export const NUMBERS = 4;

/** Where the epoch of a thread begins in its life, and how much of it is in its number. */
const EPOCH_SHIFT = 2;
const EPOCHS = 0x7ffff;

/** Returns the number of a thread in the memory of rates: its index in the registry, and its life. */
export function whoIs(thread: number, life: number): number {
  return thread + ((life >>> EPOCH_SHIFT) & EPOCHS) * (THREAD_MASK + 1);
}

/** Reads the memory of a limiter; undefined if there is none, or if the limiter goes meanwhile. */
export function readRate<T>(
  view: View,
  object: number,
  read: (words: Int32Array, floats: Float64Array, page: number) => T,
): T | undefined {
  const generation = view.load(object + O_LIFE + 4);
  const page = view.load(object + R_PAGE) >>> 0;
  if (!view.isLive(object) || page === 0) return undefined;
  const answer = read(view.words, new Float64Array(view.words.buffer), page);
  return view.isLive(object) && view.load(object + O_LIFE + 4) === generation ? answer : undefined;
}

/** What a look sees of a rate, and the time by its clock. */
export interface RateLook extends RateSeen {
  readonly now: number;
}

/** A thread that has the lock changes the queue. It keeps the lock for microseconds. */
const TRIES = 100;

/** Returns the numbers of a RateLimiter and who waits; undefined if it has no page, or if the limiter goes meanwhile. */
export function rateAt(view: View, object: number): RateLook | undefined {
  return readRate(view, object, (words, floats, page) => {
    const lock = page / 4 + LOCK;
    for (let tries = 1; ; tries++) {
      const isFree = Atomics.load(words, lock) === 0;
      const seen = seenIn(floats, page / 8 + NUMBERS);
      // If a thread has died or stands still with the lock, what is there now is the best that there is.
      const isSame = isFree && Atomics.load(words, lock) === 0 && seen.isWhole;
      if (isSame || tries === TRIES) return { ...seen, now: timeIn(floats, page / 8 + CLOCK) };
    }
  });
}

/** Returns how many calls of `tryTake` a RateLimiter has refused. */
export function refusalsAt(view: View, object: number): number {
  return readRate(view, object, (words, _, page) => (words[page / 4 + REFUSALS] as number) >>> 0) ?? 0;
}
