/**
 * The gate of an element, with park and unpark. Source: the waiting strategies of Dice and Kogan, Semaphores Augmented
 * with a Waiting Array.
 *
 *     park(e)          SHUT ──► PARKED ──► asleep    the waiter calls it, and only for its own element
 *     unpark(e, says)  SHUT, PARKED ──► open         only the one thread that has to wake the waiter calls it. The value
 *                                                    of an open gate is `says`, which tells the waiter why it was woken
 *
 * Park and unpark name a thread, not an address: an element stands for the one thread that owns it, and the waking
 * thread must know the element. If the unpark comes before the park, it is not lost, because the gate stays open until
 * the next wait shuts it. The papers keep a flag beside park and unpark; here the gate is also this flag.
 *
 * A thread that opens the gate accesses the element by an exchange, and then at most by a notify. Between the two the
 * owner may go on, and may sleep on the same word in another wait. Then the notify wakes the owner in vain, and the
 * owner looks at the gate again.
 */

import { relax } from './relax';
import { E_GATE, E_PASSED, PARKED, SHUT } from './words';

/** Shuts the gate, before the element becomes known to other threads. */
export function shut(e: usize): void {
  atomic.store<u32>(e, SHUT, E_GATE);
}

/** Returns what the gate says if it is open, else 0. */
export function saysOpen(e: usize): u32 {
  const gate = atomic.load<u32>(e, E_GATE);
  return gate > PARKED ? gate : 0;
}

/** Waits for the gate to open, and returns what it says. Polls `polls` times (relax.ts), and then sleeps. */
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

/** Opens the gate of a waiter for any object, and passes on the value that the counter of this object had. */
export function unparkWith(e: usize, object: usize, counter: i64): void {
  atomic.xchg<i64>(e, counter, E_PASSED);
  unpark(e, object as u32);
}
