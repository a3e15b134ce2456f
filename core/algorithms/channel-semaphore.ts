/**
 * The ticket semaphore over channels: Listing 4 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter waits on the channel of its ticket until grant has passed the ticket. A release moves grant and signals the
 * channels of the tickets that became due. With O_LAZY a waiter uses keyWaitLazy, and never monitors.
 */
import { chainMask } from '../memory/arena';
import { ADMITTED, ANSWER_CLOSED, GRANT, O_LAZY, O_SPIN, TICKET } from '../memory/layout';
import { closeObject } from '../memory/objects';
import { chainOf, satisfied } from './chains';
import { keyMonitor, keySignal, keySignalPolite, keyWait, keyWaitLazy } from './channels';
import { setLastTicket } from './core';
import { countFutileWake } from './counting';
import { chainSlotOf, mostChains } from './hashes';

/** Takes a permit, and blocks until it is this thread's turn. Returns ADMITTED or ANSWER_CLOSED. */
export function channelAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > ticket) return ADMITTED;
  return wait(s, ticket) > ticket ? ADMITTED : ANSWER_CLOSED;
}

function wait(s: usize, ticket: i64): i64 {
  const channel = chainOf(chainSlotOf(s, ticket));
  const polls = atomic.load<i32>(s, O_SPIN);
  const lazy = atomic.load<i32>(s, O_LAZY) !== 0;
  // No sequence is below 0, so the first lazy wait only reads the sequence.
  let sequence: i64 = -1;
  let woken = false;
  while (true) {
    if (!lazy) sequence = keyMonitor(channel);
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, ticket)) return grant;
    if (woken) countFutileWake();
    if (lazy) {
      const next = keyWaitLazy(channel, sequence, polls);
      // If they differ, the call has only read the sequence.
      woken = next === sequence;
      sequence = next;
    } else {
      keyWait(channel, sequence, polls);
      woken = true;
    }
  }
}

/** Gives n permits back. If nobody waits, it leaves the channels alone (the short-cut of Listing 2). */
export function channelRelease(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  const count = mostChains(s, min(n as i64, waiting));
  for (let i: i64 = 0; i < count; i++) keySignalPolite(chainOf(chainSlotOf(s, grant + i)));
}

/** SemaPost as in the listing: signals each time, whether a thread waits or not. */
export function channelReleaseConservative(s: usize): void {
  keySignal(chainOf(chainSlotOf(s, atomic.add<i64>(s, 1, GRANT))));
}

/** Disposes of the semaphore and signals every channel, so that each waiter reads its counter again. */
export function channelDispose(s: usize): void {
  if (!closeObject(s)) return;
  for (let key: u32 = 0; key <= chainMask; key++) keySignalPolite(chainOf(key));
}
