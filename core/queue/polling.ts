/**
 * How long a waiter stays awake before it sleeps. docs/waiting.md has the argument, what-was-tried.md the rest.
 *
 *     a waiter polls      for about as long as a park and a wake-up cost: `turns` of pause(), which each thread measures
 *                         for itself (src/engine/awake.ts)
 *     only in a short     with more waiters than `near`, and a few, their threads outnumber the processors by so much that
 *     queue               whoever polls only keeps a processor from the one whose turn it is
 *     it is woken early   if it sleeps and at most `near` are before it: it is awake, and polls, when its turn comes
 *     polls in vain       are counted in the object. While they are, waiters poll in full for TRIAL of each PERIOD of
 *                         them, all at the same time, and for the rest a 16th of that; then nobody is woken early either
 *
 * Waiters try again together, not one by one: a queue in which all sleep gets rid of that only if several stay awake.
 *
 * The count is a hint: it is loaded and stored, not added to, and may lose what others do meanwhile. Whatever it says
 * only decides how long somebody polls, and whether somebody is woken who will sleep again. No safety rests on it.
 */
import { GRANT, O_SPIN, O_VAIN, TICKET } from '../memory/layout';
import { pause } from './pause';

/** In place of a number of polls: the waiters of the object decide for themselves. */
const ADAPTIVE: i32 = -1;
/** Waiters whose polls are in vain go through periods of so many. */
const PERIOD: i32 = 512;
/** The first so many of a period poll in full. */
const TRIAL: i32 = 128;
/** What is left of a waiter's polls otherwise: shifted by this. */
const VAIN_SHIFT: i32 = 4;
/** The count of vain polls goes round within this. */
const COUNT_MASK: i32 = 0xffff;
/** So many waiters more than `near` are a crowd. */
const CROWD: i64 = 2;
/** How many turns of pause() last as long as a park and a wake-up. */
let turns: i32 = 0;
/** How many waiters stay awake at most. */
export let near: i64 = 0;

/** Told by the host, after it has measured (spend). */
export function setAwake(turnsOfPause: i32, waiters: i32): void {
  turns = turnsOfPause;
  near = waiters as i64;
}

/** So many turns, for the host's clock. */
export function spend(count: i32): void {
  for (let i = 0; i < count; i++) pause();
}

export function isAdaptive(o: usize): bool {
  return atomic.load<i32>(o, O_SPIN) === ADAPTIVE;
}

/** How often a waiter of the object polls before it sleeps. */
export function pollsOf(o: usize): i32 {
  const spin = atomic.load<i32>(o, O_SPIN);
  if (spin !== ADAPTIVE) return spin;
  return isVain(o) ? turns >> VAIN_SHIFT : turns;
}

/** Whether polling for this object has lately been in vain, and is not being tried again. */
export function isVain(o: usize): bool {
  return atomic.load<i32>(o, O_VAIN) % PERIOD >= TRIAL;
}

/** Whether so many wait in the queue of the object that polling is vain, if each waits for so many permits. */
export function isCrowded(o: usize, width: i64): bool {
  return atomic.load<i64>(o, TICKET) - atomic.load<i64>(o, GRANT) > (near + CROWD) * width;
}

/** A waiter has polled for nothing. */
export function pollsWereVain(o: usize): void {
  atomic.store<i32>(o, (atomic.load<i32>(o, O_VAIN) + 1) & COUNT_MASK, O_VAIN);
}

/** A waiter has polled, and need not sleep. */
export function pollsPaid(o: usize): void {
  if (atomic.load<i32>(o, O_VAIN) !== 0) atomic.store<i32>(o, 0, O_VAIN);
}
