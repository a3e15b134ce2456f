/**
 * The capacitor, of Dice, Capacitors, Listings 1 and 2: it lets threads through in platoons of B.
 *
 *     tickets   0 1 2 3 | 4 5 6 7 | 8 9 ...        B = 4
 *               departed  admitted  wait
 *                         grant = 8, departed = 2: two of this platoon are still inside
 *
 * It is a semaphore of B permits, whose permits come back all at once, when the last of the B has departed. So grant
 * is always a multiple of B past its first value, and who holds ticket t belongs to platoon t / B.
 *
 * Bound. Let a thread have ticket t. Whoever comes after it has a higher one; those of its own platoon are at most
 * B - 1, and the next platoon begins when this one has departed, the thread itself with it. So at most B - 1 that
 * came after it can pass a lock inside of the capacitor before it does, whatever that lock's order.
 *
 * The last to depart is alone: all tickets below grant have departed, and nobody above is admitted. So it sets
 * departed to 0 with a store, and then raises grant by B in one step.
 *
 * Two forms: threshold below 0, waiters on grant (Listing 1, ticket-semaphore.ts); else the waiting array (Listing
 * 2, twa-semaphore.ts). Why nobody sleeps for ever stands there.
 *
 * Lanes: a semaphore in many words. Tickets are drawn from one counter; who must wait does so on the grant of lane
 * ticket mod n, an object of its own. The last to depart raises the capacitor's grant, then that of one lane after
 * the other, by adding: with more lanes than B the next platoon may have departed, and come to a lane, before it. So
 * a lane's grant is never above the capacitor's, and whoever raises a lane's past a ticket wakes those who wait
 * there, if it finds after that that the ticket has been drawn. Who draws it later sees the capacitor's grant above
 * it. The order is that of one counter, and so is the bound.
 *
 * owner is for a lock around capacitor and inner lock (ownership.ts): in place of a node, 1 if its owner has arrived.
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

/** What capacitorArriveInLanes leaves to capacitorAwait. */
let drawn: i64 = 0;

/** Passes into the capacitor, blocking while it is closed. ADMITTED, ANSWER_CLOSED or ANSWER_HELD. */
export function capacitorArrive(s: usize): i32 {
  if (holds(s)) return ANSWER_HELD;
  return atomic.load<i32>(s, O_THRESHOLD) < 0 ? ticketTake(s) : twaTake(s);
}

/** Passes into the capacitor if it is open and nobody waits. ADMITTED, REFUSED or ANSWER_CLOSED. */
export function capacitorTryArrive(s: usize): i32 {
  return takeIfDue(s);
}

/** As capacitorArrive, of n lanes. ADMITTED, ANSWER_CLOSED, ANSWER_HELD, or the number of a lane, from 1 on: await there. */
export function capacitorArriveInLanes(s: usize, n: i32): i32 {
  if (holds(s)) return ANSWER_HELD;
  drawn = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(drawn);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > drawn) return ADMITTED;
  return grant < 0 ? ANSWER_CLOSED : ((drawn % (n as i64)) as i32) + 1;
}

/** Waits in a lane for the ticket drawn just now. ADMITTED or ANSWER_CLOSED. */
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

/** Leaves the capacitor; the last of a platoon lets the next one in. ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function capacitorDepart(s: usize): i32 {
  const answer = depart(s);
  if (answer !== MORE) return answer;
  const bypass = atomic.load<i32>(s, O_MAX);
  if (atomic.load<i32>(s, O_THRESHOLD) < 0) ticketGive(s, bypass);
  else twaReleaseMany(s, bypass);
  return ADMITTED;
}

/** The same of lanes: if it answers MORE, capacitorOpenLane must follow for each of them. */
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
  // The first ticket from grant on that is of this lane.
  const first = grant + (((i as i64) - (grant % lanes) + lanes) % lanes);
  if (first < min(grant + bypass, next)) atomic.notify(lane + GRANT, -1);
}

/** MORE when the platoon has departed. Of a departure too many it can tell only if nobody is inside. */
function depart(s: usize): i32 {
  // grant stands still for as long as the caller has not departed; ticket, read last, counts all that departed does.
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
 * How many have arrived and not departed, at least, if grant was read first, then departed. Nobody is left out who
 * arrived before and departs after: ticket, read last, counts it, and a platoon in between makes the answer greater.
 */
function inside(s: usize, grant: i64, departed: i32, bypass: i32): i64 {
  return atomic.load<i64>(s, TICKET) - (grant - (bypass as i64)) - (departed as i64);
}

/** Whether nobody has arrived who has not departed. */
export function capacitorIsIdle(s: usize): bool {
  const grant = atomic.load<i64>(s, GRANT);
  const departed = atomic.load<i32>(s, O_DEPARTED);
  return inside(s, grant, departed, atomic.load<i32>(s, O_MAX)) <= 0 && !holds(s);
}

/** The calling thread has got the inner lock, by way of the capacitor or not. */
export function capacitorOwn(s: usize, arrived: i32): void {
  own(s, arrived as usize);
}

/** The calling thread is about to give the inner lock back. Whether it had arrived, or ANSWER_NOT_HELD. */
export function capacitorDisown(s: usize): i32 {
  const owner = atomic.load<i64>(s, O_OWNER);
  if (!holds(s)) return ANSWER_NOT_HELD;
  disown(s);
  return (owner >> 32) as i32;
}

/** Disposes of it: every waiter is told. */
export function capacitorDispose(s: usize): void {
  if (atomic.load<i32>(s, O_THRESHOLD) < 0) ticketDispose(s);
  else twaDispose(s);
}
