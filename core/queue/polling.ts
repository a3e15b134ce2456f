/**
 * Polling: how long a waiter polls before it sleeps. docs/waiting.md says why.
 *
 *     a waiter polls      for about as long as a park and a wake-up take: `pauses` calls of pause(). Each thread
 *                         measures for itself how many calls take this time (setAwake)
 *     only in a short     in a queue of a few more than `near` waiters there are more threads than processors. There a
 *     queue               polling thread only keeps a processor from the thread that is due next
 *     less behind         in a queue of more than `near` waiters not all can run. There a waiter with others before it
 *     others              polls a quarter as often, and so leaves its processor to those before it
 *     on one of two       grant, if the waiter is one of the next two in the queue: this is the fastest way. Otherwise
 *     words               its own element, which is written only by the thread that admits the waiter. So at most two
 *                         waiters poll one cache line, however many waiters poll
 *     it is woken early   if it sleeps, and fewer than `near` and AHEAD waiters are before it. So the waiter is awake
 *                         and polls when it becomes due. In a convoy, in which the first waiter sleeps, all near
 *                         waiters are woken. A waiter that goes to sleep leaves a mark in the object. A releasing
 *                         thread takes the mark off and looks for sleepers, and leaves the mark again if it finds one
 *     vain polls          are counted in the object, and PERIOD of them are a period. While the count is not 0, all
 *                         waiters poll in full during the first TRIAL vain polls of each period. In the rest of a
 *                         period they poll a 16th as often, and none of them is woken early
 *
 * All waiters of a queue try full polls again at the same time, and not one by one. If a single waiter stayed awake
 * while all others sleep, its polls would be in vain again.
 *
 * The count of vain polls is a hint. A thread loads the count and then stores it, and may overwrite what other threads
 * store meanwhile. The count only decides how long a waiter polls, and whether a waiter is woken that will sleep again.
 * No safety rests on the count.
 *
 * Between two polls a waiter pauses. WebAssembly has no PAUSE, so a few dependent steps stand in for it. They last long
 * enough that polls do not load the line at full speed, and are short enough that a waiter sees a hand-over soon.
 */
import { GRANT, O_SLEEPERS, O_SPIN, O_VAIN_POLLS, TICKET } from '../arena/words';

/** The steps of a pause. */
const STEPS: u32 = 8;
export let pauseSink: u32 = 1;

/** O_SPIN in place of a number of polls: each waiter decides for itself. */
const ADAPTIVE: i32 = -1;
/** The length of a period, in vain polls. */
const PERIOD: i32 = 512;
/** Waiters poll in full for this many vain polls of a period. */
const TRIAL: i32 = 128;
/** In the rest of a period, the number of polls is shifted right by this. */
const VAIN_SHIFT: i32 = 4;
/** The bits of the count of vain polls, which wraps round. */
const COUNT_MASK: i32 = 0xffff;
/** In a queue of more than `near` waiters, the number of polls of all but the next one is shifted right by this. */
const BEHIND_SHIFT: i32 = 2;
/** A queue is crowded if it has more than `near` + CROWD waiters. */
const CROWD: i64 = 2;
/** A waiter is woken early when fewer than so many requests of its width are before it. In a convoy, `near` counts. */
export const AHEAD: i64 = 16;
/** How many calls of pause() last as long as a park and a wake-up. */
let pauses: i32 = 0;
/** A waiter is near, and polls, if at most so many requests of its width are before it. */
export let near: i64 = 0;

export function pause(): void {
  let x = pauseSink;
  for (let i: u32 = 0; i < STEPS; i++) x = x * 1664525 + 1013904223;
  pauseSink = x;
}

/**
 * Sets `pauses` and `near`. The runtime side calls this when the thread attaches, for a usual duration of pause(), and
 * whenever it has measured pause() by the clock (spend): first when the thread is about to wait.
 */
export function setAwake(pausesOfPoll: i32, waiters: i32): void {
  pauses = pausesOfPoll;
  near = waiters as i64;
}

/** Spends so many calls of pause(), so that the caller can measure how long they take. */
export function spend(count: i32): void {
  for (let i = 0; i < count; i++) pause();
}

export function isAdaptive(o: usize): bool {
  return atomic.load<i32>(o, O_SPIN) === ADAPTIVE;
}

/** Returns how often a waiter of the object polls before it sleeps. */
export function pollsOf(o: usize): i32 {
  const spin = atomic.load<i32>(o, O_SPIN);
  if (spin !== ADAPTIVE) return spin;
  return isVain(o) ? pauses >> VAIN_SHIFT : pauses;
}

/** Returns whether polls of this object were in vain lately, and waiters do not try full polls again now. */
export function isVain(o: usize): bool {
  return atomic.load<i32>(o, O_VAIN_POLLS) % PERIOD >= TRIAL;
}

/** Returns whether waiters are to be woken early: some may sleep, and polls do not seem hopeless (isVain). */
export function mayWake(o: usize): bool {
  return atomic.load<i32>(o, O_SLEEPERS) !== 0 && !isVain(o);
}

/** Records that a waiter goes to sleep. */
export function markSleeper(o: usize): void {
  if (atomic.load<i32>(o, O_SLEEPERS) === 0) atomic.store<i32>(o, 1, O_SLEEPERS);
}

/** Takes the mark of a sleeper off. The caller then looks for sleepers, and records one again if it finds one. */
export function noSleepers(o: usize): void {
  atomic.store<i32>(o, 0, O_SLEEPERS);
}

/** Returns whether more than near + CROWD requests of this width are queued, so that nobody polls or is woken early. */
export function isCrowded(o: usize, width: i64): bool {
  return atomic.load<i64>(o, TICKET) - atomic.load<i64>(o, GRANT) > (near + CROWD) * width;
}

/** Returns how often a waiter polls that has just come into the queue. `start` is the first ticket of its request. */
export function pollsOnArrival(o: usize, start: i64, width: i64): i32 {
  const grant = atomic.load<i64>(o, GRANT);
  const ahead = start - grant;
  if (isCrowded(o, width) || ahead > near * width) return 0;
  const isLong = atomic.load<i64>(o, TICKET) - grant > near * width;
  return pollsOf(o) >> (isLong && ahead > 0 && isAdaptive(o) ? BEHIND_SHIFT : 0);
}

/** Records that a waiter has polled in vain. */
export function pollsWereVain(o: usize): void {
  atomic.store<i32>(o, (atomic.load<i32>(o, O_VAIN_POLLS) + 1) & COUNT_MASK, O_VAIN_POLLS);
}

/** Records that a waiter has polled and need not sleep. */
export function pollsPaid(o: usize): void {
  if (atomic.load<i32>(o, O_VAIN_POLLS) !== 0) atomic.store<i32>(o, 0, O_VAIN_POLLS);
}
