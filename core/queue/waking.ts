/**
 * Waking: what a thread does after it has moved grant, so that each waiter who is due learns of it.
 *
 * Granting is idempotent and open to every thread: grant says who is due, the element says who waits. The epoch in the
 * state makes the cmpxchg of a slow thread fail once the element has another owner. So several threads may look at the
 * same buckets at once, and a survivor may finish what a dead thread began (death/reaping.ts).
 */
import { bucketMask } from '../memory/arena';
import { elementAt, indexOf } from '../memory/elements';
import {
  ABANDONED,
  ASYNC,
  B_CELLS,
  B_NEXT,
  E_LEAVING,
  E_REQUEST,
  E_START,
  E_STATE,
  GRANT,
  GRANTED,
  LINE,
  OWNER_SHIFT,
  STATE_MASK,
  T_DOORBELL,
  T_DUE,
  THREAD_MASK,
  TICKET,
  WAITING,
  WIDTH_MASK,
} from '../memory/layout';
import { objectOf } from '../memory/objects';
import { isAsleep, me, threadRecord } from '../memory/threads';
import { isAdaptive, isCrowded, isVain, near } from './polling';
import { claim, passedTo } from './tombstones';
import { bucketOf } from './waiting-array';

const ALL: i32 = -1;
/** So many heavy requests a release passes over, before it looks into every bucket instead. */
const HOPS: i32 = 16;

/**
 * Looks into the buckets of the granted tickets, `width` from `from` on, that were taken; each bucket once.
 * A tombstone that is passed grants more, and its own bucket is then looked into again.
 *
 * A look does not end with the request that ends with the ticket: it may be one that has just taken its
 * tickets back, with their next owner in the same bucket.
 *
 * Of a request that is found under its first ticket, and is not about to take its tickets back, the others need no look:
 * they were its own at a moment when grant had been moved already. If others have them by now, these took them later, and
 * saw that grant (D1). So a heavy request costs no more than a light one. After HOPS of these all the buckets that may be
 * left are looked into.
 */
export function wakeDue(s: usize, from: i64, width: i64): void {
  const all = (bucketMask as i64) + 1;
  let hops = HOPS;
  let next = from;
  let to = from + width;
  let end = next + min(min(width, atomic.load<i64>(s, TICKET) - next), all);
  while (end - next > 0) {
    const tickets = visit(s, bucketOf(s, next), to, next);
    if (tickets === 0) to = passedTo;
    else if (tickets === 1 || hops === 0) {
      next++;
      continue;
    } else {
      next += tickets;
      hops--;
    }
    end = next + min(min(to - next, atomic.load<i64>(s, TICKET) - next), all);
  }
}

/**
 * Wakes those who have come near and sleep: they are awake then when their turn comes. It changes nothing, so nobody
 * depends on it: who is woken looks at its element, polls, and sleeps on. A heavy waiter is found under its first ticket.
 */
export function wakeNear(s: usize, width: i64): void {
  if (!isAdaptive(s) || isCrowded(s, width) || isVain(s)) return;
  const first = atomic.load<i64>(s, GRANT);
  const end = min(atomic.load<i64>(s, TICKET), first + near);
  for (let ticket = first; end - ticket > 0; ticket++) wakeWaiter(s, ticket);
}

/** Wakes the thread that waits with this ticket as its first, if it sleeps. */
function wakeWaiter(s: usize, ticket: i64): void {
  const bucket = bucketOf(s, ticket);
  for (let cell = bucket + B_CELLS; cell < bucket + LINE; cell += 4) {
    const number = atomic.load<u32>(cell);
    if (number === 0) continue;
    const e = elementAt(number - 1);
    if ((atomic.load<i64>(e, E_STATE) & STATE_MASK) !== WAITING) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s || atomic.load<i64>(e, E_START) !== ticket) continue;
    const who = (request >> OWNER_SHIFT) as i32;
    if ((who & ASYNC) === 0 && isAsleep(who)) atomic.notify(e + E_STATE, ALL);
    return;
  }
}

/**
 * Wakes who is due in a bucket. How many tickets need no look after that, with `first`: those of the request that
 * begins with it, or 1; 0 if that is not all, because a tombstone was passed.
 */
function visit(s: usize, bucket: usize, to: i64, first: i64): i64 {
  let tickets: i64 = 1;
  let line = bucket;
  while (line) {
    for (let cell = line + B_CELLS; cell < line + LINE; cell += 4) {
      const number = atomic.load<u32>(cell); // D2 read
      if (number === 0) continue;
      const found = grantIfDue(s, elementAt(number - 1), to, first);
      if (found === 0) return 0;
      tickets = max(tickets, found);
    }
    line = atomic.load<u32>(line, B_NEXT) as usize;
  }
  return tickets;
}

/** What visit answers, of one element. */
function grantIfDue(s: usize, e: usize, to: i64, first: i64): i64 {
  const state = atomic.load<i64>(e, E_STATE); // D3, D4 read
  const is = state & STATE_MASK;
  if (is !== WAITING && is !== ABANDONED) return 1;
  // What these loads give may belong to another tenant by now; then the cmpxchg fails on the epoch.
  const request = atomic.load<i64>(e, E_REQUEST);
  if (objectOf(request) !== s) return 1;
  const start = atomic.load<i64>(e, E_START);
  const ahead = to - start;
  if (is === ABANDONED) return (ahead <= 0 || claim(s, e, state) === 0) as i64;
  const width = request & WIDTH_MASK;
  if (ahead >= width) moveOn(e, state, GRANTED, request); // D5
  if (start !== first || atomic.load<i64>(e, E_LEAVING) === ~start) return 1;
  // In the same epoch all this was one tenant's, who had the tickets when E_LEAVING was read.
  return (atomic.load<i64>(e, E_STATE) ^ state) & ~STATE_MASK ? 1 : width;
}

/**
 * WAITING to the next state, once, and whoever waits is told.
 *
 * A promise of this very thread stays WAITING. If the thread itself makes it due or closes it, it settles it before it
 * returns (release, dispose, a promise that gives up), or rings for itself (reap, recover). A thread that gives up while it
 * blocks makes none of its own due: their tickets are before its own, and it passes nothing on before grant is past that
 * (giving-up.ts). It may find one that another thread has just made due, and that one rings only if it finds it WAITING.
 *
 * R9: from the exchange to the wake-up there is no call and no loop, so neither an exception (a stack that is exhausted)
 * nor a death comes between: nobody else would tell. What is noted is noted before, so that it is there in any case.
 */
export function moveOn(e: usize, state: i64, next: i64, request: i64): void {
  const who = (request >> OWNER_SHIFT) as i32;
  if (who & ASYNC) {
    note(who, indexOf(e) + 1);
    if ((who & THREAD_MASK) === me) return;
  }
  if (atomic.cmpxchg<i64>(e, state, state + (next - WAITING), E_STATE) === state) tell(e, request); // R9
}

/** Wakes whoever has made a request. */
export function tell(e: usize, request: i64): void {
  const who = (request >> OWNER_SHIFT) as i32;
  if ((who & ASYNC) === 0) atomic.notify(e + E_STATE, ALL);
  else ring(who & THREAD_MASK);
}

/**
 * What this owner's thread is to look at when its doorbell rings: the run of this number, or the eldest of the mutex of
 * this number. Grant has been moved, or the mutex is free; who sees the note sees that. Part of its caller: of wakeEldest,
 * after the exchange which says that the eldest is told, so no death may come between.
 */
export function note(who: i32, number: u32): void {
  const words = threadRecord(who & THREAD_MASK) + T_DUE;
  atomic.or<i32>(words + (((number >> 5) & 7) << 2), 1 << number); // D7 write
}

export function ring(thread: i32): void {
  const bell = threadRecord(thread) + T_DOORBELL;
  atomic.add<i32>(bell, 1); // D7 write
  atomic.notify(bell, ALL);
}
