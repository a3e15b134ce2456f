/**
 * Waiting chains whose notifier evaluates the conditions of the waiters, and wakes only those whose turn has come: the
 * refinement that Dice and Kogan name beside Listing 3.
 *
 *     due head ──► E3 ──► E2 ──► E1 ──► 0      each element says what it waits for: a counter, and a value to pass
 *
 * A notifier detaches the chain, walks it, opens the gates of the elements that are due, and pushes the other elements
 * back in one piece. For this walk the elements hold the links. So a thread must store the link before it pushes, and a
 * push is a cmpxchg that may need several tries. A woken waiter knows that its turn has come, and does not read its
 * counter. The gate says whether the counter has passed the value or is closed.
 *
 * Why no waiter sleeps for ever. While a notifier has the chain, other notifiers may find it empty, though they have
 * made one of its elements due. Each notifier adds 1 to `due posts` before it looks at the chain. The notifier that has
 * the chain reads this count before it evaluates, and again when it has pushed the rest back. If the count has changed,
 * it begins again. So it sees the count of another notifier, or the other notifier sees the elements. A waiter pushes,
 * then reads its counter. If the waiter is due, it acts as a notifier. After that its gate is open, or another notifier
 * has its element. That notifier evaluates the element once more after the change of the counter, and opens its gate.
 */

import { GRANT } from '../arena/words';
import { borrow, giveBack } from './borrowed';
import { chainOf, satisfied } from './chains';
import { countCollision } from './counting';
import { park, shut, unpark } from './gate';
import { C_DUE_HEAD, C_DUE_POSTS, E_AWAITED, E_BELOW, E_COUNTER, OPEN } from './words';

/** What a gate says when the counter is closed. */
const CLOSED: u32 = OPEN + 1;

/** Waits until the counter of the object has passed `value`, or is closed. Returns whether it has passed. */
export function dueWait(key: u32, object: usize, value: i64, polls: i32): bool {
  const chain = chainOf(key);
  const e = borrow();
  shut(e);
  atomic.store<u32>(e, (object + GRANT) as u32, E_COUNTER);
  atomic.store<i64>(e, value, E_AWAITED);
  let top = atomic.load<u32>(chain, C_DUE_HEAD);
  while (true) {
    atomic.store<u32>(e, top, E_BELOW);
    const found = atomic.cmpxchg<u32>(chain, top, e as u32, C_DUE_HEAD);
    if (found === top) break;
    top = found;
  }
  if (top !== 0) countCollision();
  if (satisfied(atomic.load<i64>(object, GRANT), value)) wakeDue(chain);
  const says = park(e, polls);
  giveBack(e);
  return says === OPEN;
}

/** Notifies the waiters under the key that a counter has changed. */
export function dueSignal(key: u32): void {
  const chain = chainOf(key);
  atomic.add<i64>(chain, 1, C_DUE_POSTS);
  if (atomic.load<u32>(chain, C_DUE_HEAD) !== 0) wakeDue(chain);
}

/** Wakes the waiters on the chain that are due, and puts the others back. */
function wakeDue(chain: usize): void {
  while (true) {
    const posts = atomic.load<i64>(chain, C_DUE_POSTS);
    let e = atomic.xchg<u32>(chain, 0, C_DUE_HEAD) as usize;
    let first: usize = 0;
    let last: usize = 0;
    while (e) {
      const below = atomic.load<u32>(e, E_BELOW) as usize;
      const counter = atomic.load<i64>(atomic.load<u32>(e, E_COUNTER) as usize);
      if (satisfied(counter, atomic.load<i64>(e, E_AWAITED))) unpark(e, counter < 0 ? CLOSED : OPEN);
      else {
        if (last) atomic.xchg<u32>(last, e as u32, E_BELOW);
        else first = e;
        last = e;
      }
      e = below;
    }
    if (first === 0) return;
    let top = atomic.load<u32>(chain, C_DUE_HEAD);
    while (true) {
      atomic.xchg<u32>(last, top, E_BELOW);
      const found = atomic.cmpxchg<u32>(chain, top, first as u32, C_DUE_HEAD);
      if (found === top) break;
      top = found;
    }
    if (atomic.load<i64>(chain, C_DUE_POSTS) === posts) return;
  }
}
