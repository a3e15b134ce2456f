/**
 * The wait elements that the algorithms borrow.
 *
 *     pool (core/arena/elements.ts)  ──borrow──►  BORROWED, of this thread  ──►  on a chain, while it waits  ──►  mine
 *
 * While an element is on a chain, other threads have its address. So its state is BORROWED, which a reaper leaves
 * alone, and the element goes back to the pool only when it is on no chain. Between two waits the thread keeps one
 * element at hand, until the thread ends. One element is enough, because a thread waits in one place at a time. But the
 * condition of a wait may be a function of the user, and this function may wait too. Then the thread borrows a second
 * element for the inner wait.
 */
import { freeElement, reserve } from '../arena/elements';
import { BORROWED, E_STATE, NEVER, RESERVED } from '../arena/words';

/** The element at hand, 0 if there is none. */
let mine: usize = 0;

const NAP: i64 = 1_000_000;

function reserveOne(): usize {
  const e = reserve();
  if (e) atomic.store<i64>(e, atomic.load<i64>(e, E_STATE) + (BORROWED - RESERVED), E_STATE);
  return e;
}

/**
 * Makes sure that an element is at hand, before the thread can wait. Returns false if the arena has none.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that has left the arena
 */
export function prepare(): bool {
  if (mine === 0) mine = reserveOne();
  return mine !== 0;
}

/**
 * Returns an element for one wait. As a rule this is the element at hand. In a wait inside another wait, and after the
 * thread has ended, no element is at hand. If the arena has no free element then, the thread sleeps until it has one.
 */
export function borrow(): usize {
  let e = mine;
  mine = 0;
  while (e === 0) {
    e = reserveOne();
    if (e === 0) atomic.wait<i32>(NEVER, 0, NAP);
  }
  return e;
}

/** Takes an element back that is on no chain. */
export function giveBack(e: usize): void {
  if (mine === 0) mine = e;
  else freeElement(e);
}

/** Gives the element at hand back to the pool. The thread ends, and has no element on a chain. */
export function surrender(): void {
  if (mine === 0) return;
  freeElement(mine);
  mine = 0;
}
