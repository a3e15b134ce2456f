/**
 * Park and unpark. Source: the waiting strategies of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 *     park(e)          SHUT ──► PARKED ──► asleep             who waits: its own element alone
 *     unpark(e, says)  SHUT, PARKED ──► open, which says why  the one thread that has it to wake
 *
 * They are about identities, not addresses: an element stands for the one thread that owns it, and who wakes must
 * know it. An unpark that comes before the park is not lost, since the gate stays open until the next wait shuts
 * it. So the gate is also the flag that the papers keep beside it.
 *
 * The exchange that opens is the last access to the element but for the notify. By then the owner may have gone on,
 * and be asleep on the same word in a wait of its own: that notify wakes it in vain, and it looks at the gate again.
 */
import { E_GATE, E_PASSED, PARKED, SHUT } from '../memory/layout';
import { relax } from './relax';

/** Shuts the gate, before the element becomes known to others. */
export function shut(e: usize): void {
  atomic.store<u32>(e, SHUT, E_GATE);
}

/** What the gate says if it is open, else 0. */
export function saysOpen(e: usize): u32 {
  const gate = atomic.load<u32>(e, E_GATE);
  return gate > PARKED ? gate : 0;
}

/** Waits for the gate to open: stays awake for so many turns (relax.ts), and sleeps then. What it says. */
export function park(e: usize, polls: i32): u32 {
  while (true) {
    const gate = atomic.load<u32>(e, E_GATE);
    if (gate > PARKED) return gate;
    if (polls !== 0) polls = relax(polls);
    else if (gate === PARKED || atomic.cmpxchg<u32>(e, SHUT, PARKED, E_GATE) === SHUT) {
      atomic.wait<u32>(e + E_GATE, PARKED, -1);
    }
  }
}

/** Opens the gate: `says` is above PARKED. */
export function unpark(e: usize, says: u32): void {
  if (atomic.xchg<u32>(e, says, E_GATE) === PARKED) atomic.notify(e + E_GATE, -1);
}

/** Opens the gate of who waits for any object, and passes on what the counter of this one was. */
export function unparkWith(e: usize, object: usize, counter: i64): void {
  atomic.xchg<i64>(e, counter, E_PASSED);
  unpark(e, object as u32);
}
