/**
 * The capacitor, of Dice, Capacitors, Listings 1 and 2: it lets threads through in platoons of B.
 *
 *     tickets   0 1 2 3 | 4 5 6 7 | 8 9 ...        B = 4
 *               departed  admitted  wait
 *                         grant = 8, departed = 2: two of this platoon are still inside
 *
 * It is a semaphore of B permits that come back all at once, when the last of the B threads has departed. So grant is
 * always a multiple of B past its first value, and the thread with ticket t belongs to platoon t / B.
 *
 * Bound. Let a thread have ticket t. Threads that come after it have higher tickets. At most B - 1 of them are in its
 * own platoon, and the next platoon begins when this one has departed, the thread itself with it. So at most B - 1
 * later threads can pass a lock inside the capacitor before it does, whatever the order of that lock.
 *
 * The last thread to depart is alone: all tickets below grant have departed, and none above is admitted. So it sets
 * departed to 0 with a store, and then raises grant by B in one step.
 *
 * There are two forms. If threshold is below 0, waiters wait on grant (Listing 1, ticket-semaphore.ts), and otherwise
 * in the waiting array (Listing 2, twa-semaphore.ts). Those files say why no waiter sleeps for ever.
 *
 * Lanes: the semaphore has several words. Threads draw tickets from one counter, and wait on the grant of lane ticket
 * mod n, which is an object of its own. The last thread to depart raises the grant of the capacitor, then that of one
 * lane after the other. It adds, since with more lanes than B the next platoon may have departed and come to a lane
 * before it. So the grant of a lane is never above that of the capacitor. A thread that raises the grant of a lane past
 * a ticket wakes the waiters there if it then finds that the ticket has been drawn. A thread that draws the ticket
 * later finds the grant of the capacitor above it. Order and bound are those of one counter.
 *
 * owner serves a lock around capacitor and inner lock (ownership.ts). Its node is 1 if the owner has arrived.
 */
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  GRANT,
  MORE,
  O_DEPARTED,
  O_MAX,
  O_OWNER,
  O_SPIN,
  O_THRESHOLD,
  TICKET,
} from '../memory/layout';
import { setLastTicket } from './core';
import { disown, holds, own } from './ownership';
import { relax } from './relax';
import { takeIfDue } from './ticket-lock';
import { ticketDispose, ticketGive, ticketTake } from './ticket-semaphore';
import { twaDispose, twaReleaseMany, twaTake } from './twa-semaphore';

/** The ticket that capacitorArriveInLanes leaves to capacitorAwait. */
let drawn: i64 = 0;

/** Passes into the capacitor, and blocks while it is closed. Returns ADMITTED, ANSWER_CLOSED or ANSWER_HELD. */
export function capacitorArrive(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  return atomic.load<i32>(s, O_THRESHOLD) < 0 ? ticketTake(s) : twaTake(s);
}

/** Passes into the capacitor if it is open and nobody waits. Returns ADMITTED, REFUSED or ANSWER_CLOSED. */
export function capacitorTryArrive(s: usize): i32 {
  return takeIfDue(s);
}

/** As capacitorArrive, with n lanes. A lane, from 1 on, may be the result: capacitorAwait must follow for it. */
export function capacitorArriveInLanes(s: usize, n: i32): i32 {
  if (holds(s)) return ANSWER_HELD;
  drawn = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(drawn);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > drawn) return ADMITTED;
  return grant < 0 ? ANSWER_CLOSED : ((drawn % (n as i64)) as i32) + 1;
}

/** Waits in a lane for the ticket drawn just now. Returns ADMITTED or ANSWER_CLOSED. */
export function capacitorAwait(lane: usize): i32 {
  let polls = atomic.load<i32>(lane, O_SPIN);
  while (true) {
    const grant = atomic.load<i64>(lane, GRANT);
    if (grant > drawn) return ADMITTED;
    if (grant < 0) return ANSWER_CLOSED;
    if (polls !== 0) polls = relax(polls);
    else atomic.wait<i64>(lane + GRANT, grant, -1);
  }
}

/** Leaves the capacitor; the last of a platoon admits the next one. ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function capacitorDepart(s: usize): i32 {
  const answer = depart(s);
  if (answer !== MORE) return answer;
  const bypass = atomic.load<i32>(s, O_MAX);
  if (atomic.load<i32>(s, O_THRESHOLD) < 0) ticketGive(s, bypass);
  else twaReleaseMany(s, bypass);
  return ADMITTED;
}

/** As capacitorDepart, with lanes. If it returns MORE, capacitorOpenLane must follow for each of them. */
export function capacitorDepartFromLanes(s: usize): i32 {
  const answer = depart(s);
  if (answer === MORE) atomic.add<i64>(s, atomic.load<i32>(s, O_MAX), GRANT);
  return answer;
}

/** Lets the next platoon into lane i of n. */
export function capacitorOpenLane(s: usize, lane: usize, i: i32, n: i32): void {
  const bypass = atomic.load<i32>(s, O_MAX) as i64;
  const grant = atomic.add<i64>(lane, bypass, GRANT);
  const next = atomic.load<i64>(s, TICKET);
  const lanes = n as i64;
  // The first ticket of this lane from grant on.
  const first = grant + (((i as i64) - (grant % lanes) + lanes) % lanes);
  if (first < min(grant + bypass, next)) atomic.notify(lane + GRANT, -1);
}

/** Returns MORE when the whole platoon has departed. It detects a departure too many only if nobody is inside. */
function depart(s: usize): i32 {
  // grant stands still until the caller departs. ticket is read last, and so counts every thread that departed counts.
  const grant = atomic.load<i64>(s, GRANT);
  if (grant < 0) return ADMITTED;
  const bypass = atomic.load<i32>(s, O_MAX);
  const departed = atomic.load<i32>(s, O_DEPARTED);
  if (inside(s, grant, departed, bypass) <= 0) return ANSWER_NOT_HELD;
  if (atomic.add<i32>(s, 1, O_DEPARTED) + 1 < bypass) return ADMITTED;
  atomic.store<i32>(s, 0, O_DEPARTED);
  return MORE;
}

/**
 * Returns how many threads have arrived and not departed, or more. The caller reads grant first, then departed. A
 * thread that arrived before and departs after is counted, since ticket is read last. A platoon in between adds B.
 */
function inside(s: usize, grant: i64, departed: i32, bypass: i32): i64 {
  return atomic.load<i64>(s, TICKET) - (grant - (bypass as i64)) - (departed as i64);
}

/** Whether every thread that has arrived has departed. */
export function capacitorIsIdle(s: usize): bool {
  const grant = atomic.load<i64>(s, GRANT);
  const departed = atomic.load<i32>(s, O_DEPARTED);
  return inside(s, grant, departed, atomic.load<i32>(s, O_MAX)) <= 0 && !holds(s);
}

/** Called when the calling thread has got the inner lock, by way of the capacitor or not. */
export function capacitorOwn(s: usize, arrived: i32): void {
  own(s, arrived as usize);
}

/** Called before the calling thread gives the inner lock back. Returns whether it had arrived, or ANSWER_NOT_HELD. */
export function capacitorDisown(s: usize): i32 {
  const owner = atomic.load<i64>(s, O_OWNER);
  if (!holds(s)) return ANSWER_NOT_HELD;
  disown(s);
  return (owner >> 32) as i32;
}

/** Disposes of the capacitor, and wakes its waiters. */
export function capacitorDispose(s: usize): void {
  if (atomic.load<i32>(s, O_THRESHOLD) < 0) ticketDispose(s);
  else twaDispose(s);
}
