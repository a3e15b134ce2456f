/**
 * Queue nodes: a thread queues up at a lock with its node, and parks on it.
 *
 * A node is an element of the arena's pool in state BORROWED. A thread needs one node for each such lock that it holds
 * or waits for, and keeps a few nodes at hand, in a list of its own. Other threads may have the address of the node of
 * a waiter, and in some locks also that of a thread that left long ago. So the reaper leaves BORROWED elements alone.
 *
 *     gate   0          closed: its thread waits, or nobody needs it
 *            PARKED     the same, and the waiter at it is parked
 *            other      open; the value says more, if the lock's algorithm needs it
 *
 * While a node is in the list of its thread, its gate, next and end are 0. Before a thread puts a node back, it clears
 * those of these words that have been changed. So an uncontended lock writes none of them.
 *
 * Why no waiter sleeps for ever at a gate: the waiter goes to sleep only if the gate still is PARKED, which
 * atomic.wait checks in the same step. A thread that opens the gate exchanges its value for another one, and wakes the
 * waiter if the old value was PARKED. Only one thread waits at a gate. The wake may come after the waiter has gone on,
 * or even after the node has another use. Then the wake disturbs a thread in vain, and this thread looks at its gate
 * again.
 */
import { freeElement, reserve } from '../arena/elements';
import { BORROWED, E_STATE, RESERVED } from '../arena/words';
import { pause } from '../queue/polling';
import { relax } from './relax';
import { Q_END, Q_GATE, Q_LINK, Q_NEXT } from './words';

/** How many nodes a thread keeps in its list, besides the spare node. */
const KEPT: i32 = 4;
const PARKED: u32 = 1;
/** The value of next while the thread of the node is parked, until the thread after it has entered its own node. */
const SOUGHT: u32 = 1;
/** The value that opens a gate and says nothing more. */
export const OPEN: usize = 2;

/** A node at hand, and a list of further ones; 0 if there is none. */
let spare: usize = 0;
let more: usize = 0;
let kept: i32 = 0;
/** Whether the runtime lets this thread block. */
let mayPark: bool = true;

/** Called when the runtime does not let the calling thread block. */
export function neverPark(): void {
  mayPark = false;
}

/** Returns a clean node of the calling thread, or 0 when the arena has no element left. */
export function takeNode(): usize {
  let node = spare;
  if (node !== 0) {
    spare = 0;
    return node;
  }
  node = more;
  if (node !== 0) {
    more = atomic.load<u32>(node, Q_LINK) as usize;
    kept--;
    return node;
  }
  node = reserve();
  if (node === 0) return 0;
  atomic.store<i32>(node, 0, Q_GATE);
  atomic.store<i32>(node, 0, Q_NEXT);
  atomic.store<i32>(node, 0, Q_END);
  atomic.store<i64>(node, atomic.load<i64>(node, E_STATE) + (BORROWED - RESERVED), E_STATE);
  return node;
}

/** Takes back a clean node whose gate nobody will open any more. */
export function giveNode(node: usize): void {
  if (spare === 0) spare = node;
  else if (kept < KEPT) {
    atomic.store<u32>(node, more as u32, Q_LINK);
    more = node;
    kept++;
  } else freeElement(node);
}

/** Gives the pool of the thread, which ends, back to the arena. */
export function returnNodes(): void {
  if (spare !== 0) freeElement(spare);
  spare = 0;
  while (more !== 0) {
    const node = more;
    more = atomic.load<u32>(node, Q_LINK) as usize;
    freeElement(node);
  }
  kept = 0;
}

/** Waits at a gate until it is open, and closes it again. Returns the value that opened it. */
export function passGate(node: usize, budget: i32): usize {
  let polls = budget;
  while (true) {
    const gate = atomic.load<u32>(node, Q_GATE);
    if (gate > PARKED) {
      atomic.store<u32>(node, 0, Q_GATE);
      return gate as usize;
    }
    if (polls !== 0) polls = relax(polls);
    else if (gate === PARKED || atomic.cmpxchg<u32>(node, 0, PARKED, Q_GATE) === 0) {
      atomic.wait<i32>(node + Q_GATE, PARKED, -1);
    }
  }
}

/** Opens a gate with a value above PARKED, and wakes the waiter if it is parked. */
export function openGate(node: usize, value: usize): void {
  if (atomic.xchg<u32>(node, value as u32, Q_GATE) === PARKED) atomic.notify(node + Q_GATE, -1);
}

/** Enters `next` as the node that comes after `node`. */
export function follow(node: usize, next: usize): void {
  if (atomic.xchg<u32>(node, next as u32, Q_NEXT) === SOUGHT) atomic.notify(node + Q_NEXT, -1);
}

/** Returns the node that comes after a node, once it is entered, and sets next to 0 again. */
export function takeNext(node: usize, budget: i32): usize {
  let polls = budget;
  while (true) {
    const next = atomic.load<u32>(node, Q_NEXT);
    if (next > SOUGHT) {
      atomic.store<u32>(node, 0, Q_NEXT);
      return next as usize;
    }
    if (!mayPark) pause();
    else if (polls !== 0) polls = relax(polls);
    else if (next === SOUGHT || atomic.cmpxchg<u32>(node, 0, SOUGHT, Q_NEXT) === 0) {
      atomic.wait<i32>(node + Q_NEXT, SOUGHT, -1);
    }
  }
}
