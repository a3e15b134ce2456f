/**
 * Queue nodes: what a thread stands in line with at a lock, and parks on.
 *
 * A node is an element of the arena's pool in state LENT. A thread needs one for each such lock that it holds or waits
 * for; it keeps a few at hand, in a list of its own. Other threads may have the address of a node: of a waiter's, and
 * in some locks of one that has long gone. So the reaper leaves LENT ones alone.
 *
 *     gate   0          closed: its thread waits, or nobody needs it
 *            PARKED     the same, and the one who waits at it is parked
 *            other      open; the value says more, if the lock's algorithm needs it
 *
 * In the pool gate, next and end are 0: whoever has changed them clears them before the node comes back, so that an
 * uncontended lock writes none.
 *
 * Nobody sleeps for ever at a gate: the wait compares it with PARKED, and who opens it exchanges that for something
 * else, and wakes whoever it finds there. One thread waits at a gate. The waker may come after that has gone on, and
 * even after the node has got another use: then somebody wakes for nothing, and looks again.
 */
import { freeElement, reserve } from '../memory/elements';
import { E_STATE, LENT, Q_END, Q_GATE, Q_LINK, Q_NEXT, RESERVED } from '../memory/layout';
import { pause } from '../queue/pause';
import { relax } from './relax';

const KEPT: i32 = 4;
const PARKED: u32 = 1;
/** In next: its thread waits for whoever comes after it to say so. */
const SOUGHT: u32 = 1;
/** Opens a gate, where nothing more is to be said. */
export const OPEN: usize = 2;

/** A node at hand, and a list of further ones; 0 if none. */
let spare: usize = 0;
let more: usize = 0;
let kept: i32 = 0;
/** Whether the engine lets this thread block. */
let mayPark: bool = true;

/** The calling thread may not block. */
export function neverPark(): void {
  mayPark = false;
}

/** A node of the calling thread's, clean; 0 when the arena has no element left. */
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
  atomic.store<i64>(node, atomic.load<i64>(node, E_STATE) + (LENT - RESERVED), E_STATE);
  return node;
}

/** Takes back a node that is clean, and that nobody will open any more. */
export function giveNode(node: usize): void {
  if (spare === 0) spare = node;
  else if (kept < KEPT) {
    atomic.store<u32>(node, more as u32, Q_LINK);
    more = node;
    kept++;
  } else freeElement(node);
}

/** The thread ends: its pool goes back to the arena. */
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

/** Waits at a gate until it is open, and closes it again. What has opened it. */
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

export function openGate(node: usize, value: usize): void {
  if (atomic.xchg<u32>(node, value as u32, Q_GATE) === PARKED) atomic.notify(node + Q_GATE, -1);
}

/** Tells a node which one comes after it. */
export function follow(node: usize, next: usize): void {
  if (atomic.xchg<u32>(node, next as u32, Q_NEXT) === SOUGHT) atomic.notify(node + Q_NEXT, -1);
}

/** The one that comes after a node, once that has said so; next is 0 again. */
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
