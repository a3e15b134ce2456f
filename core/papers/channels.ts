/**
 * Channels, Listing 4 of Dice and Kogan, Semaphores Augmented with a Waiting Array: waiting in the manner of the
 * instructions MONITOR and MWAIT.
 *
 *     channel:  sequence   q ──► q+1                each signal adds one
 *               head ──► E2 ──► E1 ──► 0            a waiting chain, as in chains.ts
 *
 *     q = keyMonitor(channel);  look at the condition;  keyWait(channel, q)  until sequence is not q any more
 *
 * A waiter compares the sequence, and not the condition. So the functions of this file need not know the condition.
 * keyMonitor only reads, so a thread that monitors and then does not wait need not undo anything.
 *
 * Why no waiter sleeps for ever. A signalling thread changes the condition, then the sequence, then detaches the chain.
 * A waiter reads the sequence before the condition, pushes, and reads the sequence again. If a signal has come since,
 * the waiter takes its element off; otherwise the signalling thread sees the element. The waiter takes its element off
 * by way 3 or 4 of chains.ts. Way 1 would gain nothing, because the waiters below have been signalled too.
 */

import { borrow, giveBack } from './borrowed';
import { wake } from './chains';
import { countCollision } from './counting';
import { park, saysOpen, shut } from './gate';
import { C_CHANNEL_HEAD, C_SEQUENCE } from './words';

/**
 * Returns the sequence for keyWait. The caller looks at the condition after that.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that has left the arena
 */
export function keyMonitor(channel: usize): i64 {
  return atomic.load<i64>(channel, C_SEQUENCE);
}

/**
 * Waits until the sequence is not this one any more.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block or has left the arena
 */
export function keyWait(channel: usize, sequence: i64, polls: i32): void {
  while (keyMonitor(channel) === sequence) waitOnce(channel, sequence, polls);
}

/**
 * The lazy form of keyWait: returns at once if the channel has another sequence, and otherwise after one wake-up, which
 * may be meant for others. Returns the sequence for the next call. A first call, with a value that no sequence has,
 * only reads the sequence.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block or has left the arena
 */
export function keyWaitLazy(channel: usize, sequence: i64, polls: i32): i64 {
  const now = keyMonitor(channel);
  return now === sequence ? waitOnce(channel, sequence, polls) : now;
}

/** Waits once on the chain. Returns the sequence as it was when the thread had pushed its element. */
function waitOnce(channel: usize, sequence: i64, polls: i32): i64 {
  const e = borrow();
  shut(e);
  let below = atomic.xchg<u32>(channel, e as u32, C_CHANNEL_HEAD) as usize;
  if (below !== 0) countCollision();
  const now = keyMonitor(channel);
  if (now !== sequence && !saysOpen(e)) {
    // Detach the newer elements before waking the older ones, which could come back on top of them.
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

/** Detaches the whole chain. Returns its top element, or 0. */
function detach(channel: usize): usize {
  return atomic.xchg<u32>(channel, 0, C_CHANNEL_HEAD) as usize;
}

/**
 * Wakes the waiters on the channel, after the condition has changed.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that has left the arena
 */
export function keySignal(channel: usize): void {
  atomic.add<i64>(channel, 1, C_SEQUENCE);
  wake(detach(channel), 0, 0);
}

/**
 * Does the same as keySignal, but only reads a chain on which nobody waits.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that has left the arena
 */
export function keySignalPolite(channel: usize): void {
  atomic.add<i64>(channel, 1, C_SEQUENCE);
  if (atomic.load<u32>(channel, C_CHANNEL_HEAD) !== 0) wake(detach(channel), 0, 0);
}
