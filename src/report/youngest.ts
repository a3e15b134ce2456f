/**
 * What a thread does that has blocked for a while (watch.ts): it looks whether it waits in a circle, and whether it is
 * the one that tells of the circle. On Node, in Deno and in Bun a thread loads this file when it first looks, or when
 * it first needs the name of an object (lazily.ts).
 *
 * Who tells of a circle. All threads of the circle must find the same one, by what does not change while they wait.
 * Each word on which a thread sleeps (T_SLEEPS_ON) also says whether the thread is passive: it never looks, or it
 * cannot leave the queue although deadlocks throw in this arena. Of the other threads, the youngest waiter tells. If
 * all are passive, the youngest of them tells. If all look, not all are passive: a thread cannot leave if it locks a
 * mutex again after a wait on a condition. It was the owner when this wait began, and gave the mutex away, and the next
 * thread of the circle holds the mutex. So the wait of the next thread began later. In a circle of such threads, each
 * wait would have begun later than the one before.
 *
 * A thread may wait for several others, such as all readers of a RwLock, and so it may be in several circles. The
 * circles of `circlesIn` share no thread, and all threads find the same ones.
 */
import { DeadlockError } from './deadlock-error.js';
import { circlesIn, describe, type Found, isCertain } from './deadlocks.js';
import { lookAt, nameIn } from './look.js';
import { quoted } from './refs.js';
import { NONE, OTHERS, PERHAPS, type Verdict } from './verdicts.js';
import { View } from './view.js';
import { type Blocked, IS_PASSIVE, type Stuck, stuckIn } from './waits-for.js';

/** A circle of which the calling thread tells. */
export interface Own {
  readonly error: DeadlockError;
  /** The object for which the thread waits. */
  readonly object: number;
  /** Tells the circle from others: who waits in it, and for what. */
  readonly circle: string;
}

/** Returns the thread that tells of a circle. */
function tellerOf({ cycle, stuck }: Found): number {
  const waits = cycle.map((thread) => (stuck.get(thread) as Stuck).blocked);
  const active = waits.filter(({ thread }) => (thread.sleepsOn & IS_PASSIVE) === 0);
  const isYounger = (a: Blocked, b: Blocked): boolean =>
    a.waited === b.waited ? a.thread.thread > b.thread.thread : a.waited < b.waited;
  const all = active.length === 0 ? waits : active;
  return all.reduce((youngest, one) => (isYounger(one, youngest) ? one : youngest)).thread.thread;
}

/**
 * Looks whether the calling thread, in the middle of its wait, is in a circle of which it tells.
 * @param now milliseconds, modulo 2^32.
 */
export function ownCircle(memory: WebAssembly.Memory, thread: number, now: number): Own | Verdict {
  const look = lookAt(memory, now, 0);
  const stuck = stuckIn(look);
  const found = circlesIn(stuck).find(({ cycle }) => cycle.includes(thread));
  if (found === undefined) return NONE;
  if (tellerOf(found) !== thread) return OTHERS;
  if (!isCertain(look, found)) return PERHAPS;
  const objectOf = (one: number): number => (stuck.get(one) as Stuck).blocked.object;
  const circle = String(found.cycle.map((one) => [one, objectOf(one)]));
  return { error: new DeadlockError(describe(look, found)), object: objectOf(thread), circle };
}

/** See `Host`. */
export function nameText(memory: WebAssembly.Memory, address: number, after: string): string | undefined {
  const name = nameIn(new View(memory), address);
  return name === undefined ? undefined : quoted(name) + after;
}
