/**
 * What a thread does that has blocked for a while (long-sleeps.ts): it looks whether it waits in a circle, and whether it is
 * the one that tells of the circle. If it is in no circle, it looks whether its wait is likely to be a mistake. On Node, in Deno and in Bun a thread loads this file when it first looks, or when
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
 *
 * A circle over several arenas. A thread that finds no circle in the arena in which it waits also looks at the other
 * arenas to which it is attached, and takes the shortest circle in which it is itself. Only a thread that is attached
 * to all arenas of the circle sees it, and the youngest of these tells. Another of them may be attached to more arenas,
 * and so take another circle, of which in turn a younger thread tells. That goes on to younger and younger threads, so
 * one of them tells. If no thread is attached to all arenas of a circle, only the reporter sees it (reporter.ts).
 */
import { KIND_MUTEX, KIND_SEMAPHORE } from '../border/numbers.js';
import { type Look, lookAt, together } from '../look/look.js';
import { calledAt } from '../look/names.js';
import { View } from '../look/view.js';
import { DeadlockError } from './deadlock-error.js';
import { circlesIn, circleThrough, confirmed, type Found, looksOf } from './deadlocks.js';
import { objectRef, objectText, nameText as textOfName, threadRef, threadText } from './refs.js';
import { NONE, OTHERS, PERHAPS, type Verdict } from './verdicts.js';
import { type Blocked, blockedOn, holdersOf, IS_PASSIVE, type Stuck, stuckIn } from './waits-for.js';

/** A circle of which the calling thread tells. */
export interface Own {
  readonly error: DeadlockError;
  /** The object for which the thread waits. */
  readonly object: number;
  /** Tells the circle from others: who waits in it, and for what. */
  readonly circle: string;
}

/** Returns which thread tells of a circle, by its number in all looks. */
function tellerOf(found: Found): number {
  const arenas = [...looksOf(found)];
  const waits = found.cycle.map((who) => (found.stuck.get(who) as Stuck).blocked);
  const seeing = waits.filter(({ who }) => arenas.every((look) => isIn(look, who)));
  const active = seeing.filter(({ thread }) => (thread.sleepsOn & IS_PASSIVE) === 0);
  // A thread has the same threadId in all arenas.
  const orderOf = ({ thread }: Blocked): number => thread.threadId ?? -thread.thread;
  const isYounger = (a: Blocked, b: Blocked): boolean =>
    a.waited === b.waited ? orderOf(a) > orderOf(b) : a.waited < b.waited;
  const all = active.length === 0 ? seeing : active;
  return all.reduce((youngest, one) => (isYounger(one, youngest) ? one : youngest)).who;
}

function isIn(look: Look, who: number): boolean {
  for (const { thread, isDead } of look.threads.values()) if (!isDead && look.whoOf(thread) === who) return true;
  return false;
}

/**
 * Looks whether the calling thread, in the middle of its wait, is in a circle of which it tells.
 * @param memory of the arena in which it waits.
 * @param others of the other arenas to which it is attached.
 * @param now milliseconds, modulo 2^32.
 */
export function ownCircle(
  memory: WebAssembly.Memory,
  thread: number,
  now: number,
  others: readonly WebAssembly.Memory[],
): Own | Verdict {
  const look = lookAt(memory, now, 0);
  const found = circlesIn(stuckIn(look)).find(({ cycle }) => cycle.includes(thread));
  if (found !== undefined) return verdictOf([look], found, thread);
  if (others.length === 0) return NONE;
  const looks = together([look, ...others.map((other) => lookAt(other, now, 0))]);
  const stuck = stuckIn(...looks);
  const who = look.whoOf(thread);
  const cycle = stuck.has(who) ? circleThrough(stuck, who) : undefined;
  if (cycle === undefined) return NONE;
  const circle = { cycle, behind: [], stuck };
  // A circle in one arena shares a thread with another one there, of which somebody tells.
  return looksOf(circle).size > 1 ? verdictOf(looks, circle, who) : NONE;
}

function verdictOf(looks: readonly Look[], found: Found, who: number): Own | Verdict {
  if (tellerOf(found) !== who) return OTHERS;
  const deadlock = confirmed(looks, found);
  if (deadlock === undefined) return PERHAPS;
  const objectOf = (one: number): number => (found.stuck.get(one) as Stuck).blocked.object;
  const circle = String(found.cycle.map((one) => [one, objectOf(one)]));
  return { error: new DeadlockError(deadlock), object: objectOf(who), circle };
}

/** How many requests of a queue a thread looks at for a promise of its own. */
const MOST = 1000;

/**
 * Says what is likely to be a mistake about the wait of the calling thread; undefined if it is likely to be none. What
 * is certain to be a mistake is an error before the thread blocks.
 * @param now milliseconds, modulo 2^32.
 * @param isMain whether the thread is the first one of the program.
 */
export function likelyMistake(
  memory: WebAssembly.Memory,
  thread: number,
  now: number,
  isMain: boolean,
): string | undefined {
  const look = lookAt(memory, now, MOST);
  const own = look.threads.get(thread);
  const blocked = own && blockedOn(look, own);
  if (blocked === undefined || (blocked.kind !== KIND_MUTEX && blocked.kind !== KIND_SEMAPHORE)) return undefined;
  const what = objectText(objectRef(look, blocked.object));
  const call = blocked.kind === KIND_MUTEX ? 'lockAsync' : 'acquireAsync';
  if (isBehindItself(look, blocked))
    return (
      `${threadText(threadRef(look, thread))} has blocked for ${blocked.waited} ms, and waits for ${what} behind a ` +
      `promise of its own. While the thread blocks, the promise cannot go on. Call ${call} for both`
    );
  if (!isMain) return undefined;
  const holders = holdersOf(look, blocked.object, blocked.kind, blocked.how, thread) ?? [];
  const held = holders.map((holder) => threadText(threadRef(look, holder.thread))).join(', ');
  return (
    `the main thread has blocked for ${blocked.waited} ms, and waits for ${what}${held && `, held by ${held}`}. ` +
    'Meanwhile it runs no timer, and hears no message and no signal. The call also blocks if it is awaited. A promise ' +
    `does not block: await ${call}()`
  );
}

/** Whether a promise of the thread stands before the request for which it blocks. */
function isBehindItself(look: Look, { thread, object, how }: Blocked): boolean {
  if (how !== 'queue') return false;
  const queue = look.queues.get(object)?.list ?? [];
  const at = queue.find((request) => request.thread === thread.thread && !request.isAsync)?.at ?? 0;
  return queue.some((request) => request.thread === thread.thread && request.isAsync && request.at < at);
}

/** See `Host`. */
export function nameText(memory: WebAssembly.Memory, address: number, after: string): string | undefined {
  const name = textOfName(calledAt(new View(memory), address));
  return name === undefined ? undefined : name + after;
}
