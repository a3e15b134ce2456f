/**
 * Waiting chains, Listing 3 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
 *
 *     chain.head ──► E3 ──► E2 ──► E1 ──► 0        a stack: push one by exchange, detach all by exchange
 *                    gate   gate   gate            each thread polls, then sleeps on the gate of its own element
 *
 * The links of the chain are not in memory. A thread that pushes its element learns by the exchange which element is
 * below, and keeps the address of that element in a local variable. When its own gate opens, it wakes the waiter below.
 * So a notifier opens the first gate only, and the wake-up runs down the chain from waiter to waiter. The gate of an
 * element is opened once for each push. If the element was on top, the thread that has detached it opens the gate.
 * Otherwise the waiter above opens it.
 *
 * Why no waiter sleeps for ever. A waiter pushes, then reads the counter; a notifier changes the counter, then
 * detaches. So the waiter sees the change, or the notifier sees the element. A waiter that sees the change must take
 * its element off before it goes on. It has four ways, in this order:
 *
 *     1 undone    the element is still on top: a cmpxchg puts back what was below
 *     2 detached  the chain is empty, so another thread has taken the element off: its gate will open
 *     3 open      the gate is open already
 *     4 flushed   another element is on top: the waiter detaches and wakes the whole chain. If its own element was
 *                 still on this chain, the wake-up runs down to it; otherwise another thread has detached the element.
 *                 In both cases its gate will open
 *
 * In the ways 2 to 4 the waiter wakes the waiter below. The cmpxchg of way 1 cannot be deceived by an element that was
 * taken off and pushed again: no other thread pushes this element, so while the element is on top, everything below it
 * is unchanged.
 *
 * Passing: a notifier may hand the value of the counter, and the object of the counter, down the chain. The value may
 * prove to a waiter for the same object that its turn has come. Then the waiter need not read the counter. The value
 * may be old. But counters only grow until they are closed, so a turn that has come by the old value has still come. If
 * the value proves nothing, the waiter reads the counter itself.
 */
import { chainMask, chains } from '../arena/arena';
import { GRANT, LINE } from '../arena/words';
import { borrow, giveBack } from './borrowed';
import { countCollision, countFutileWake } from './counting';
import { park, saysOpen, shut, unpark, unparkWith } from './gate';
import { C_HEAD, E_BELOW, E_PASSED, OPEN } from './words';

/** The way, 1 to 4, by which this thread took its element off last; for tests and models. */
export let recovery: i32 = 0;

/** Returns the chain of a key. */
export function chainOf(key: u32): usize {
  return chains + ((key & chainMask) as usize) * LINE;
}

/** Returns whether the counter has passed `value` or is closed. Then a waiter for this value need not wait. */
export function satisfied(counter: i64, value: i64): bool {
  return counter > value || counter < 0;
}

/** Pushes the element. Returns the element below it, or 0. */
function push(chain: usize, e: usize): usize {
  shut(e);
  return atomic.xchg<u32>(chain, e as u32, C_HEAD) as usize;
}

/** Detaches the whole chain. Returns its top element, or 0. */
function detach(chain: usize): usize {
  return atomic.xchg<u32>(chain, 0, C_HEAD) as usize;
}

/** Opens the first gate of a detached chain, if there is one. With an object, passes on the value of its counter. */
export function wake(e: usize, about: usize, counter: i64): void {
  if (e === 0) return;
  if (about) unparkWith(e, about, counter);
  else unpark(e, OPEN);
}

/** Takes the element of this thread off the chain, because the thread need not wait any more. */
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
    // Detach the newer elements before waking the older ones, which could come back on top of them.
    const newer = detach(chain);
    wake(below, about, counter);
    wake(newer, about, counter);
  }
  // The thread that has detached the element, or a waiter above it, is about to open its gate.
  park(e, 0);
}

/**
 * Waits until the counter of the object has passed `value` or is closed, and returns the counter. The caller has read
 * the counter, and it had not passed `value` and was not closed. With `passes`, waiters pass the values that they have
 * read along the chain.
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

/** Wakes the waiters under the key. With an object, passes on a value that its counter has reached. */
export function addressSignal(key: u32, about: usize, counter: i64): void {
  wake(detach(chainOf(key)), about, counter);
}

/** Does the same as addressSignal, but only reads a chain on which nobody waits. */
export function addressSignalPolite(key: u32, about: usize, counter: i64): void {
  const chain = chainOf(key);
  if (atomic.load<u32>(chain, C_HEAD) !== 0) wake(detach(chain), about, counter);
}

/**
 * chainEnter, chainLeave and chainAwait together do what addressWaitUntil does, for a condition that is a function of
 * the user. chainEnter pushes an element and returns it. Then the caller looks at the condition. If the condition
 * holds, it calls chainLeave with the element, and otherwise chainAwait.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function chainEnter(key: u32): usize {
  const e = borrow();
  atomic.store<u32>(e, push(chainOf(key), e) as u32, E_BELOW);
  return e;
}

/** Takes the element off, because the condition is satisfied. */
export function chainLeave(key: u32, e: usize): void {
  recover(chainOf(key), e, atomic.load<u32>(e, E_BELOW) as usize, 0, 0);
  giveBack(e);
}

/** Waits for a signal, which may be meant for others, because the condition is not satisfied. */
export function chainAwait(e: usize, polls: i32): void {
  const says = park(e, polls) as usize;
  const passes = says !== OPEN;
  wake(atomic.load<u32>(e, E_BELOW) as usize, passes ? says : 0, passes ? atomic.load<i64>(e, E_PASSED) : 0);
  giveBack(e);
}
