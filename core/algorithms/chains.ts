/**
 * Waiting chains, Listing 3 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 *     chain.head ──► E3 ──► E2 ──► E1 ──► 0        a stack: push one by exchange, detach all by exchange
 *                    gate   gate   gate            each thread polls, then sleeps on the gate of its own element
 *
 * The links are in nobody's memory but the waiters' own registers: whoever pushes learns what is below it, and that
 * is whom it wakes when its own gate opens. So a notifier opens the first gate only, and the wake-up runs down the
 * chain from waiter to waiter. An element's gate is opened once for each time it is pushed: by the notifier that
 * detached it, if it was on top, else by the waiter above.
 *
 * Why nobody sleeps for ever. A waiter pushes, then looks at the counter; a notifier changes the counter, then
 * detaches. Either the waiter sees the change, or the notifier sees the element. A waiter that sees it must get its
 * element off before it goes, and has four ways, in this order:
 *
 *     1 undone    it is still on top: cmpxchg puts back what was below
 *     2 detached  the chain is empty, so somebody has taken it off: its gate will open
 *     3 open      the gate is open already
 *     4 flushed   others are above it, or came after: it detaches them all and wakes them; its gate will open
 *
 * In 2 to 4 it wakes who was below. The cmpxchg of 1 cannot be deceived: nobody else pushes this element, so as long
 * as it is on top, all below it is as it was.
 *
 * Passing: a notifier may pass the counter's value, with the object it is of, down the chain. A waiter for that same
 * object whose turn it proves need not read the counter. The value may be old; counters only grow until they are
 * closed, so what it proves stays true, and when it proves nothing the waiter reads for itself.
 */
import { bucketMask, chains } from '../memory/arena';
import { C_HEAD, E_BELOW, E_PASSED, GRANT, LINE, OPEN } from '../memory/layout';
import { countCollision, countFutileWake } from './counting';
import { borrow, giveBack } from './lent';
import { park, saysOpen, shut, unpark, unparkWith } from './parking';

/** The way out that this thread took last, 1 to 4; for tests and models. */
export let recovery: i32 = 0;

export function chainOf(key: u32): usize {
  return chains + ((key & bucketMask) as usize) * LINE;
}

/** Whether who waits for the counter to pass `value` need not wait any more: it has, or it is closed. */
export function satisfied(counter: i64, value: i64): bool {
  return counter > value || counter < 0;
}

function push(chain: usize, e: usize): usize {
  shut(e);
  return atomic.xchg<u32>(chain, e as u32, C_HEAD) as usize;
}

function detach(chain: usize): usize {
  return atomic.xchg<u32>(chain, 0, C_HEAD) as usize;
}

/** Opens the first gate of a detached chain, if there is one. With an object, its counter's value is passed on. */
export function wake(e: usize, about: usize, counter: i64): void {
  if (e === 0) return;
  if (about) unparkWith(e, about, counter);
  else unpark(e, OPEN);
}

/** Gets an element off the chain that this thread has pushed and need not wait on. */
function recover(chain: usize, e: usize, below: usize, about: usize, counter: i64): void {
  const top = atomic.cmpxchg<u32>(chain, e as u32, below as u32, C_HEAD) as usize;
  if (top === e) {
    recovery = 1;
    return;
  }
  if (top === 0) {
    recovery = 2;
    wake(below, about, counter);
  } else if (saysOpen(e)) {
    recovery = 3;
    wake(below, about, counter);
    return;
  } else {
    recovery = 4;
    // The newer ones are taken off before the older are woken, or those would come back on top of them.
    const newer = detach(chain);
    wake(below, about, counter);
    wake(newer, about, counter);
  }
  // Whoever has detached it is about to open it, or those above it are.
  park(e, 0);
}

/**
 * Waits until the counter of the object has passed `value`, or is closed: the counter then. The caller has looked,
 * and found neither. With `passes`, values are passed along the chain.
 */
export function addressWaitUntil(key: u32, object: usize, value: i64, polls: i32, passes: bool): i64 {
  const chain = chainOf(key);
  const about: usize = passes ? object : 0;
  const e = borrow();
  let counter: i64;
  while (true) {
    const below = push(chain, e);
    if (below !== 0) countCollision();
    counter = atomic.load<i64>(object, GRANT);
    if (satisfied(counter, value)) {
      recover(chain, e, below, about, counter);
      break;
    }
    const says = park(e, polls) as usize;
    if (says === OPEN) {
      wake(below, 0, 0);
    } else {
      const passed = atomic.load<i64>(e, E_PASSED);
      wake(below, says, passed);
      if (says === object && satisfied(passed, value)) {
        counter = passed;
        break;
      }
    }
    counter = atomic.load<i64>(object, GRANT);
    if (satisfied(counter, value)) break;
    countFutileWake();
  }
  giveBack(e);
  return counter;
}

/** Wakes who waits under the key. With an object, the value that its counter now has is passed along. */
export function addressSignal(key: u32, about: usize, counter: i64): void {
  wake(detach(chainOf(key)), about, counter);
}

/** The same, but a chain on which nobody waits is only read. */
export function addressSignalPolite(key: u32, about: usize, counter: i64): void {
  const chain = chainOf(key);
  if (atomic.load<u32>(chain, C_HEAD) !== 0) wake(detach(chain), about, counter);
}

/**
 * addressWaitUntil in three steps, for conditions that are a function of the user's: push, look at the condition,
 * and then either leave or wait. This is the first; the element, for the other two.
 */
export function chainEnter(key: u32): usize {
  const e = borrow();
  atomic.store<u32>(e, push(chainOf(key), e) as u32, E_BELOW);
  return e;
}

/** The condition is satisfied. */
export function chainLeave(key: u32, e: usize): void {
  recover(chainOf(key), e, atomic.load<u32>(e, E_BELOW) as usize, 0, 0);
  giveBack(e);
}

/** It is not: waits for a signal, perhaps one meant for others. */
export function chainAwait(e: usize, polls: i32): void {
  const says = park(e, polls) as usize;
  const passes = says !== OPEN;
  wake(atomic.load<u32>(e, E_BELOW) as usize, passes ? says : 0, passes ? atomic.load<i64>(e, E_PASSED) : 0);
  giveBack(e);
}
