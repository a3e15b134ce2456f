/**
 * How threads wait over channels: Listing 4 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 * near-and-far.ts has the semaphore itself, and channels.ts the signals.
 *
 * A waiter waits on the channel of its ticket until grant has passed a value. With O_LAZY it uses keyWaitLazy, and
 * never monitors.
 */
import { GRANT } from '../arena/words';
import { satisfied } from './chains';
import { keyMonitor, keyWait, keyWaitLazy } from './channels';
import { countFutileWake } from './counting';
import { O_LAZY } from './words';

/** Waits until grant has passed `value` or is closed, and returns grant. */
export function channelWait(s: usize, channel: usize, value: i64, polls: i32): i64 {
  const lazy = atomic.load<i32>(s, O_LAZY) !== 0;
  // No sequence is below 0, so the first lazy wait only reads the sequence.
  let sequence: i64 = -1;
  let woken = false;
  while (true) {
    if (!lazy) sequence = keyMonitor(channel);
    const grant = atomic.load<i64>(s, GRANT);
    if (satisfied(grant, value)) return grant;
    if (woken) countFutileWake();
    if (lazy) {
      const next = keyWaitLazy(channel, sequence, polls);
      // If the two sequences differ, the call has only read the sequence.
      woken = next === sequence;
      sequence = next;
    } else {
      keyWait(channel, sequence, polls);
      woken = true;
    }
  }
}
