/**
 * Channels, Listing 4 of Dice and Kogan, Semaphores Augmented with a Waiting Array: waiting in the manner of the
 * instructions MONITOR and MWAIT.
 *
 *     channel:  sequence   q ──► q+1                each signal adds one
 *               head ──► E2 ──► E1 ──► 0            a waiting chain, as in chains.ts
 *
 *     q = keyMonitor(channel);  look at the condition;  keyWait(channel, q)  until sequence is not q any more
 *
 * The sequence stands in for the condition, so waiting needs to know nothing of that, and monitoring writes nothing.
 *
 * Why nobody sleeps for ever. A signaller changes the condition, then the sequence, then detaches the chain. A waiter
 * reads the sequence before the condition, pushes, and reads the sequence again: if a signal has come since, it is
 * off again, or else the signaller sees the element. Getting off is by way 3 or 4 of chains.ts; putting back what
 * was below (way 1) would gain nothing, since those below have been signalled too.
 */
import { C_CHANNEL_HEAD, C_SEQUENCE } from '../memory/layout';
import { wake } from './chains';
import { countCollision } from './counting';
import { borrow, giveBack } from './lent';
import { park, saysOpen, shut } from './parking';

/** The sequence now: for keyWait, after a look at the condition. */
export function keyMonitor(channel: usize): i64 {
  return atomic.load<i64>(channel, C_SEQUENCE);
}

/** Waits until the sequence is not this one any more. */
export function keyWait(channel: usize, sequence: i64, polls: i32): void {
  while (keyMonitor(channel) === sequence) waitOnce(channel, sequence, polls);
}

/**
 * The same in the lazy form: returns at once if the sequence is another, and else after one wake-up, whomever that
 * was meant for. The sequence to wait with next: with any at first, the first call only learns it.
 */
export function keyWaitLazy(channel: usize, sequence: i64, polls: i32): i64 {
  const now = keyMonitor(channel);
  return now === sequence ? waitOnce(channel, sequence, polls) : now;
}

/** One time on the chain. The sequence as it was when the thread had pushed itself. */
function waitOnce(channel: usize, sequence: i64, polls: i32): i64 {
  const e = borrow();
  shut(e);
  let below = atomic.xchg<u32>(channel, e as u32, C_CHANNEL_HEAD) as usize;
  if (below !== 0) countCollision();
  const now = keyMonitor(channel);
  if (now !== sequence && !saysOpen(e)) {
    // The newer ones are taken off before the older are woken, or those would come back on top of them.
    const newer = detach(channel);
    wake(below, 0, 0);
    wake(newer, 0, 0);
    below = 0;
  }
  park(e, now === sequence ? polls : 0);
  wake(below, 0, 0);
  giveBack(e);
  return now;
}

function detach(channel: usize): usize {
  return atomic.xchg<u32>(channel, 0, C_CHANNEL_HEAD) as usize;
}

/** The condition has changed: wakes who waits on the channel. */
export function keySignal(channel: usize): void {
  atomic.add<i64>(channel, 1, C_SEQUENCE);
  wake(detach(channel), 0, 0);
}

/** The same, but a chain on which nobody waits is only read. */
export function keySignalPolite(channel: usize): void {
  atomic.add<i64>(channel, 1, C_SEQUENCE);
  if (atomic.load<u32>(channel, C_CHANNEL_HEAD) !== 0) wake(detach(channel), 0, 0);
}
