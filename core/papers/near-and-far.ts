/**
 * The ticket semaphore over chains, channels and locations, whose waiters are near or far: Listings 3 to 5 of Dice and
 * Kogan, Semaphores Augmented with a Waiting Array, with the LongTermThreshold of Listing 2, which Listings 3 to 5
 * leave out.
 *
 *     ticket - grant    below 0        admitted
 *                       0 to T - 1     near: polls grant, as often as its budget says; then waits on its chain until
 *                                      grant > ticket
 *                       T or more      far: waits on its chain until grant > ticket - T, and is near then. Before it
 *                                      parks, it polls its own word as often as its budget says, or never (FAR_PARKS)
 *
 * T is O_THRESHOLD. If T is 0, as in the printed listings, no waiter is near, and each waiter waits until grant >
 * ticket. The hash gives a ticket the same chain in both waits. The three kinds differ only in how a thread waits on a
 * chain until grant has passed a value, and in how others wake it (waitUntil, signal).
 *
 * A release moves grant from g to g + n. The tickets g to g + n - 1, the first row, become due. The tickets g + T to g
 * + T + n - 1, the second row, become near. The release signals the chains of both rows, but only for tickets that have
 * been taken: this is the short-cut of Listing 2. If n > T, the two rows overlap: some tickets that were far become due
 * at once. The release signals these only once, with the second row.
 *
 * Why no waiter sleeps for ever:
 *
 *     waiter                                        release
 *     W1  takes its ticket                          R1  moves grant
 *     W2  stands on its chain (its element is on    R2  reads ticket: which tickets of the two rows are taken
 *         the head, or it has read the sequence)    R3  signals (moves the sequence, then) detaches the chain
 *     W3  looks whether grant has passed the value
 *     W4  sleeps
 *
 * - The value of W3 is ticket - T for a far waiter, and ticket for a near waiter. grant passes ticket - T in the
 *   release that has the ticket in its second row. grant passes ticket in the release that has the ticket in its first
 *   row, or in its second row if n > T. So the release that ends one of the two waits also signals the chain of the
 *   waiter. Without the first row, a near waiter that has polled in vain and sleeps would be woken by chance only.
 * - W2 comes before W3, and R1 before R3: so the waiter sees grant, or the release finds the waiter. This holds in each
 *   of the two waits, because a waiter that has become near stands on the chain again and looks again. On a channel the
 *   sequence stands for grant, so a release moves the sequence whether a thread stands there or not.
 * - W1 comes before W3, and R1 before R2: if the release reads that the ticket is not taken, the waiter sees grant.
 * - The releasing thread neither polls nor sleeps, and a waiter that polls grant stands on no chain. (On a location its
 *   element may stay, but nobody relies on this.) So a waiter that waits to be woken by the waiter above it waits only
 *   while the waiter above runs.
 *
 * Dispose closes grant, which passes every value, and then signals every chain.
 *
 * An event count (event-count.ts) is such a semaphore without tickets: its count is grant, and a thread that awaits the
 * value v waits as the thread with ticket v - 1. It posts as if all tickets were taken.
 */

import { ADMITTED, ANSWER_CLOSED } from '../answers';
import { chainMask } from '../arena/arena';
import { closeObject } from '../arena/objects';
import { setLastTicket } from '../arena/threads';
import { GRANT, O_KIND, O_SPIN, O_THRESHOLD, TICKET } from '../arena/words';
import { KIND_CHANNEL_SEMAPHORE, KIND_LOCATION_SEMAPHORE } from '../kinds/words';
import { chainSignal, chainWait } from './chain-semaphore';
import { chainOf, satisfied } from './chains';
import { channelWait } from './channel-semaphore';
import { keySignal, keySignalPolite } from './channels';
import { chainSlotOf, mostChains } from './hashes';
import { locationWaitUntil } from './location-semaphore';
import { locationWakeAll, locationWakeAllPolite } from './locations';
import { farBudget, relax } from './relax';
import { THRESHOLD } from './words';

/**
 * SemaTake: takes a permit, and blocks until it is this thread's turn. Returns ADMITTED or ANSWER_CLOSED.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function acquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  return grant > ticket ? ADMITTED : awaitTurn(s, ticket, grant);
}

/** The rest of SemaTake, for a ticket that is not admitted by `grant`, which was read after it was taken. */
export function awaitTurn(s: usize, ticket: i64, grant: i64): i32 {
  // One load reads threshold and spin: between two loads, a release could take the line away.
  const knobs = atomic.load<i64>(s, O_SPIN);
  const threshold = (knobs >> 32) as i32;
  const near = ticket - (threshold & THRESHOLD);
  let polls = knobs as i32;
  const far = farBudget(threshold, polls);
  if (near === ticket) polls = far;
  else {
    if (!satisfied(grant, near)) grant = waitUntil(s, ticket, near, far);
    while (polls !== 0 && !satisfied(grant, ticket)) {
      polls = relax(polls);
      grant = atomic.load<i64>(s, GRANT);
    }
  }
  if (!satisfied(grant, ticket)) grant = waitUntil(s, ticket, ticket, polls);
  return grant > ticket ? ADMITTED : ANSWER_CLOSED;
}

/**
 * SemaPost for n permits. If nobody waits on a chain, it only reads the chain, but still moves its sequence or its due
 * posts.
 */
export function release(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  // This compares the old grant: with old + n the wake-up of the last waiters would be lost.
  post(s, grant, n, atomic.load<i64>(s, TICKET) - grant);
}

/**
 * The rest of SemaPost, which has moved grant by n from `grant`. `waiting` is how many tickets were taken from `grant`
 * on.
 */
export function post(s: usize, grant: i64, n: i64, waiting: i64): void {
  if (waiting <= 0) return;
  const threshold = thresholdOf(s);
  signalRow(s, grant, min(waiting, min(n, threshold)), grant + n);
  signalRow(s, grant + threshold, min(waiting - threshold, n), grant + n);
}

/** SemaPostConservative: takes no short-cut, and exchanges the head of a chain whether a thread waits or not. */
export function releaseConservative(s: usize): void {
  const grant = atomic.add<i64>(s, 1, GRANT);
  const threshold = thresholdOf(s);
  if (threshold > 0) signal(s, chainSlotOf(s, grant), grant + 1, true);
  signal(s, chainSlotOf(s, grant + threshold), grant + 1, false);
}

/** Disposes of the semaphore and signals every chain, so that each waiter looks at grant again. */
export function dispose(s: usize): void {
  if (!closeObject(s)) return;
  const grant = atomic.load<i64>(s, GRANT);
  for (let slot: u32 = 0; slot <= chainMask; slot++) signal(s, slot, grant, true);
}

function thresholdOf(s: usize): i64 {
  return (atomic.load<i32>(s, O_THRESHOLD) & THRESHOLD) as i64;
}

/** Waits on the chain of the ticket until grant has passed `value` or is closed, and returns a grant that proves it. */
function waitUntil(s: usize, ticket: i64, value: i64, polls: i32): i64 {
  const slot = chainSlotOf(s, ticket);
  const kind = atomic.load<i32>(s, O_KIND);
  if (kind === KIND_CHANNEL_SEMAPHORE) return channelWait(s, chainOf(slot), value, polls);
  if (kind === KIND_LOCATION_SEMAPHORE) return locationWaitUntil(s, chainOf(slot), value, polls);
  return chainWait(s, slot, value, polls);
}

/** Signals the chains of so many tickets in a row. */
function signalRow(s: usize, first: i64, count: i64, grant: i64): void {
  const most = mostChains(s, count);
  for (let i: i64 = 0; i < most; i++) signal(s, chainSlotOf(s, first + i), grant, true);
}

/** Wakes the waiters on a chain, after grant has come to this value. */
function signal(s: usize, slot: u32, grant: i64, polite: bool): void {
  const kind = atomic.load<i32>(s, O_KIND);
  if (kind === KIND_CHANNEL_SEMAPHORE) {
    if (polite) keySignalPolite(chainOf(slot));
    else keySignal(chainOf(slot));
  } else if (kind === KIND_LOCATION_SEMAPHORE) {
    if (polite) locationWakeAllPolite(chainOf(slot));
    else locationWakeAll(chainOf(slot));
  } else chainSignal(s, slot, grant, polite);
}
