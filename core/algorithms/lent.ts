/**
 * The wait elements that the algorithms hold.
 *
 *     pool (core/memory/elements.ts)  ──borrow──►  LENT, of this thread  ──►  on a chain, while it waits  ──►  mine
 *
 * Other threads point to an element that is on a chain. So it is LENT, a state that a reaper leaves alone, and it
 * goes back to the pool only at the orderly end of its thread, when it is on no chain. Between two waits the thread
 * keeps one at hand; one is enough, since a thread waits in one place at a time, unless the condition that it
 * waits for is a function of the user's that waits too: then a second is borrowed for that while.
 */
import { freeElement, reserve } from '../memory/elements';
import { E_STATE, LENT, NEVER, RESERVED } from '../memory/layout';

/** The element at hand, 0 if none. */
let mine: usize = 0;

const NAP: i64 = 1_000_000;

function lend(): usize {
  const e = reserve();
  if (e) atomic.store<i64>(e, atomic.load<i64>(e, E_STATE) + (LENT - RESERVED), E_STATE);
  return e;
}

/** Sees to it that an element is at hand, before the thread can come to wait. False: the arena has none. */
export function prepare(): bool {
  if (mine === 0) mine = lend();
  return mine !== 0;
}

/**
 * An element for one wait. There is one at hand, but in a wait inside another and after the end of the thread; if
 * the arena has none then, the thread sleeps until it has.
 */
export function borrow(): usize {
  let e = mine;
  mine = 0;
  while (e === 0) {
    e = lend();
    if (e === 0) atomic.wait<i32>(NEVER, 0, NAP);
  }
  return e;
}

/** Gives it back; it is on no chain. */
export function giveBack(e: usize): void {
  if (mine === 0) mine = e;
  else freeElement(e);
}

/** The thread ends, and has its elements on no chain: what it has at hand goes back to the pool. */
export function surrender(): void {
  if (mine === 0) return;
  freeElement(mine);
  mine = 0;
}
