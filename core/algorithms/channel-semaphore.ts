/**
 * The ticket semaphore over channels: Listing 4 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 * A waiter waits on the channel of its ticket until grant has passed that; a release moves grant and signals the
 * channels of the tickets that became due. With O_LAZY it waits by keyWaitLazy, and never monitors.
 */
import { bucketMask } from '../memory/arena';
import { ADMITTED, ANSWER_CLOSED, GRANT, O_LAZY, O_SPIN, TICKET } from '../memory/layout';
import { closeObject } from '../memory/objects';
import { chainOf, satisfied } from './chains';
import { keyMonitor, keySignal, keySignalPolite, keyWait, keyWaitLazy } from './channels';
import { setLastTicket } from './core';
import { countFutileWake } from './counting';
import { mostTickets, slotOf } from './hashes';

/** Takes a permit, blocking until it is this thread's turn. ADMITTED or ANSWER_CLOSED. */
export function channelAcquire(s: usize): i32 {
  const ticket = atomic.add<i64>(s, 1, TICKET);
  setLastTicket(ticket);
  const grant = atomic.load<i64>(s, GRANT);
  if (grant > ticket) return ADMITTED;
  return wait(s, ticket) > ticket ? ADMITTED : ANSWER_CLOSED;
}

function wait(s: usize, ticket: i64): i64 {
  const channel = chainOf(slotOf(s, ticket));
  const polls = atomic.load<i32>(s, O_SPIN);
  const lazy = atomic.load<i32>(s, O_LAZY) !== 0;
  // No sequence is below 0, so the first lazy wait only learns it.
  let sequence: i64 = -1;
  let woken = false;
  while (true) {
    if (!lazy) sequence = keyMonitor(channel);
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, ticket)) return grant;
    if (woken) countFutileWake();
    if (lazy) {
      const next = keyWaitLazy(channel, sequence, polls);
      // Else it has only learnt it.
      woken = next === sequence;
      sequence = next;
    } else {
      keyWait(channel, sequence, polls);
      woken = true;
    }
  }
}

/** Gives n permits back. With nobody waiting, the channels are left alone (the short-cut of Listing 2). */
export function channelRelease(s: usize, n: i32): void {
  const grant = atomic.add<i64>(s, n, GRANT);
  const waiting = atomic.load<i64>(s, TICKET) - grant;
  const count = mostTickets(s, min(n as i64, waiting));
  for (let i: i64 = 0; i < count; i++) keySignalPolite(chainOf(slotOf(s, grant + i)));
}

/** SemaPost as the listing has it: signals each time, whether anybody waits or not. */
export function channelReleaseConservative(s: usize): void {
  keySignal(chainOf(slotOf(s, atomic.add<i64>(s, 1, GRANT))));
}

/** Disposes of it and signals every channel: whoever waits anywhere looks at its counter again. */
export function channelDispose(s: usize): void {
  if (!closeObject(s)) return;
  for (let key: u32 = 0; key <= bucketMask; key++) keySignalPolite(chainOf(key));
}
