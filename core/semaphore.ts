/**
 * The default semaphore: first come, first served; every waiter sleeps on a word of its own.
 *
 *     ticket  ──────────────────────────────►  taken so far      acquire(n) owns [t, t+n)
 *     grant   ───────────────►                 served so far     admitted once grant >= t+n
 *                             └─ the waiters ─┘
 *
 *     waiter                                      poster
 *     1. ticket += n                              1. grant += k
 *     2. grant >= t+n? then in                    2. ticket <= old grant? then nobody waits: done
 *     3. element := [t, t+n), WAITING             3. for each ticket just granted, look into its bucket:
 *     4. poll grant (polling.ts), if near the head   an element that is WAITING and due
 *     5. enter the element in the ticket's bucket      -> GRANTED, and wake its owner
 *     6. grant >= t+n? then in
 *     7. sleep on the element until it is GRANTED   4. wake those who have come near: they poll until they are due
 *
 * Why nobody sleeps for ever: in every pair below the one side writes and then reads what the other side
 * reads and then writes, so at least one of the two sees the other (all accesses are sequentially
 * consistent).
 *     D1  ticket against grant: step 2 of the waiter sees the new grant, or step 2 of the poster the ticket
 *     D2  cell against grant: step 6 sees the new grant, or step 3 of the poster sees the cell
 *     D5  WAITING against GRANTED: wait32 compares and sleeps in one step, against cmpxchg and notify
 *     D6  mark and WAITING against CLOSED: step 6 sees the closed grant, or the disposer the mark (waiters.ts), and then
 *         its pass over the pool the state
 *     D7  doorbell against due and grant: a thread reads its doorbell, then which of its runs are due, then grant, and
 *         sleeps on the doorbell; a poster writes them the other way round
 *
 * Why in order: grant is compared by magnitude against the whole range, so a heavy waiter holds up the
 * lighter ones behind it, and tryAcquire takes a ticket only when it would be admitted with it.
 *
 * Granting is idempotent and open to all: grant says who is due, the element who waits. The epoch in the
 * state makes the cmpxchg of a slow poster fail against the element's next tenant.
 *
 * R1: from the add on ticket to WAITING there is no call and no loop, so an engine that stops a thread
 * only there cannot stop it with a ticket that nobody can find.
 *
 * acquire and release are leaves, functions that call nothing, and leave what is rare to park and
 * finishRelease: V8 enters and leaves such a function without a stack check, and that is a fifth of the
 * uncontended pair (docs/internals/what-was-tried.md).
 *
 * Source: Dice and Kogan, Semaphores Augmented with a Waiting Array, Listings 1 and 2, for ticket, grant,
 * the array and the short-cut; elements in cells, and the rest, are this library's own.
 */
import {
  bucketMask,
  fallAsleep,
  isAsleep,
  me,
  objects,
  setSpare,
  spare,
  threadRecord,
  wakeUp,
} from './arena';
import { hold } from './attachments';
import { elementAt, indexOf, leaveCells, reserve, usedElements } from './elements';
import { claim, passedTo } from './giving-up';
import {
  ABANDONED,
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_OVER_MAX,
  ASYNC,
  B_CELLS,
  B_NEXT,
  CLOSED,
  CLOSED_BELOW,
  E_CELLS,
  E_LEAVING,
  E_REQUEST,
  E_SINCE,
  E_START,
  E_STATE,
  ELEMENT_SIZE,
  EPOCH,
  FUTILE_WAKES,
  GRANT,
  GRANTED,
  IDLE,
  INTERRUPTED,
  LINE,
  MORE,
  NEVER,
  O_MAX,
  OBJECT_MASK,
  OBJECT_SHIFT,
  OBJECT_SIZE,
  OWNER_SHIFT,
  QUEUED,
  REFUSED,
  RESERVED,
  STATE_MASK,
  T_DOORBELL,
  T_DUE,
  THREAD_MASK,
  TICKET,
  TIMED_OUT,
  WAITING,
  WIDTH_MASK,
} from './layout';
import { beginLocking, endLocking, isMutex, resign } from './mutex';
import { closeObject } from './objects';
import { pause } from './pause';
import { isAdaptive, isCrowded, isVain, near, pollsOf, pollsPaid, pollsWereVain } from './polling';
import { covers, settle, undue } from './runs';
import { isMarked, lastOfPart, mark, whereOf } from './waiters';
import { bucketOf, enter } from './waiting-array';

/** Most permits that may ever be available, and most that one request may ask for. */
const LIMIT: i64 = 0x7fffffff;
const ALL: i32 = -1;
const FOREVER: i64 = -1;
/** Who has been woken early polls for a part of the usual time: shifted by this. */
const WOKEN_SHIFT: i32 = 2;
/** So many heavy requests a release passes over, before it looks into every bucket instead. */
const HOPS: i32 = 16;

/** The ticket that the thread took last, for those who count the order of admissions; the host reads it. */
export let ticketTaken: i64 = -1;
/** This thread, as the owner of a request. */
export let owner: i64 = 0;

// What the thread is in the middle of: acquire or release has answered that a second call must follow, and
// that call has not come to its end. Nothing of the thread's own runs in between, unless an exception that
// the thread survives ends the second call: an exhausted stack, or an interrupt by the embedder.
export const NOTHING: i32 = 0;
const PARKING: i32 = 1;
const RELEASING: i32 = 2;
/** Between park, or what has made it the eldest of a mutex at once, and the end of compete. */
const COMPETING: i32 = 4;
export let amidst: i32 = NOTHING;
/** While RELEASING: of what, and the old grant. */
let released: usize = 0;
let grantBefore: i64 = 0;
/** While COMPETING: for what, and the attachment that has the permit. */
let mutex: usize = 0;
let attached: i32 = 0;
/** The old grant of a release that found the thread amidst something else. */
let grantLate: i64 = 0;

/** Called when the thread has registered. */
export function begin(thread: i32): void {
  owner = thread as i64;
  amidst = NOTHING;
  beginLocking();
}

/** Called when the thread gives up its record. */
export function end(): void {
  if (amidst === RELEASING || amidst === COMPETING) recover();
  amidst = NOTHING;
  owner = 0;
  endLocking();
}

export function setLastTicket(ticket: i64): void {
  ticketTaken = ticket;
}

/**
 * Brings the thread's own state into order after an interrupted call. An interrupted release is finished.
 * Of an interrupted acquire the element stays in the queue, as a killed thread's would, and the thread gets
 * another spare. Whether it has a spare now.
 */
export function recover(): bool {
  if (amidst === RELEASING) {
    wakeDue(released, grantBefore, atomic.load<i64>(released, GRANT) - grantBefore);
    // Who called may have another semaphore in hand: promises of this one are found by the doorbell.
    ring(me);
  } else {
    // The exception may have ended its sleep.
    wakeUp();
    if (amidst === COMPETING) resign(mutex, attached);
    else {
      const e = reserve();
      if (e === 0) return false;
      setSpare(e);
    }
  }
  amidst = NOTHING;
  return true;
}

/**
 * Takes n tickets. ADMITTED, ANSWER_CLOSED, or QUEUED: the spare element stands for them in the queue; or
 * INTERRUPTED: they stand for themselves as yet, because an earlier call of the thread was cut short. After
 * these two enqueue must follow. Calls nothing and never blocks.
 */
export function acquire(s: usize, n: i32): i32 {
  const width = n as i64;
  const start = atomic.add<i64>(s, width, TICKET); // R1 begins. D1 write
  ticketTaken = start;
  const free = atomic.load<i64>(s, GRANT) - start; // D1 read
  if (free < width) {
    if (free < CLOSED_BELOW) {
      atomic.sub<i64>(s, width, TICKET);
      return ANSWER_CLOSED;
    }
    if (amidst !== NOTHING) return INTERRUPTED;
    const e = spare;
    mark(s, e);
    atomic.store<i64>(e, start, E_START);
    const object = ((s - objects) / OBJECT_SIZE) as i64;
    atomic.store<i64>(e, (owner << OWNER_SHIFT) | (object << OBJECT_SHIFT) | width, E_REQUEST);
    atomic.store<i64>(e, atomic.load<i64>(e, E_STATE) + (WAITING - RESERVED), E_STATE); // R1 ends
    amidst = PARKING;
    return QUEUED;
  }
  return ADMITTED;
}

/** acquire(s, 1), which most ask for: the engine need not carry a width through it (docs/internals/what-was-tried.md). */
export function acquireOne(s: usize): i32 {
  return acquire(s, 1);
}

/**
 * Goes on where acquire(s, n) has left off with this answer: QUEUED, and then park must follow, unless it has
 * become the turn of its tickets meanwhile. ADMITTED, ANSWER_CLOSED, or ANSWER_FULL when an interrupted thread
 * finds no spare. Of a robust semaphore the permits are counted for the attachment (elsewhere that is 0).
 */
export function enqueue(s: usize, n: i32, taken: i32, attachment: i32): i32 {
  if (taken === INTERRUPTED) {
    if (!recover()) return ANSWER_FULL;
    queueSpare(s, ticketTaken, n as i64);
  } else if (taken !== QUEUED) return taken;
  const answer = untilDue(s, spare, near);
  if (answer !== QUEUED) leave(answer, attachment);
  return answer;
}

/**
 * Blocks until it is the turn of the thread's request, which is QUEUED. `now` in milliseconds is kept for those who
 * ask how long it has waited. ADMITTED or ANSWER_CLOSED.
 */
export function park(now: i32, attachment: i32): i32 {
  return parkFor(FOREVER, now, attachment);
}

/**
 * As park, for so many nanoseconds at most (below 0: for ever), or a little less: then TIMED_OUT, and the
 * request still stands. park or parkFor goes on waiting, giveUp ends it.
 */
export function parkFor(nanoseconds: i64, now: i32, attachment: i32): i32 {
  atomic.store<i32>(spare, now, E_SINCE);
  const answer = sleep(spare, nanoseconds);
  if (answer !== TIMED_OUT) leave(answer, attachment);
  return answer;
}

/** The thread's request is over: with permits if it is ADMITTED. The element becomes its spare again. */
export function leave(answer: i32, attachment: i32): void {
  const e = spare;
  leaveCells(e);
  const state = atomic.load<i64>(e, E_STATE);
  const request = atomic.load<i64>(e, E_REQUEST);
  if (answer === ADMITTED) hold(attachment, request & WIDTH_MASK); // R7 begins
  atomic.store<i64>(e, (state & ~STATE_MASK) + EPOCH + RESERVED, E_STATE); // R7 ends
  amidst = NOTHING;
  const s = objectOf(request);
  if (answer === ADMITTED && isMutex(s)) becomeEldest(s, attachment);
}

/** The spare stands in the queue. */
export function standInLine(): void {
  amidst = PARKING;
}

/** What R1 does, where it could not be done in R1. */
function queueSpare(s: usize, start: i64, width: i64): void {
  mark(s, spare);
  const object = ((s - objects) / OBJECT_SIZE) as i64;
  atomic.store<i64>(spare, start, E_START);
  atomic.store<i64>(spare, (owner << OWNER_SHIFT) | (object << OBJECT_SHIFT) | width, E_REQUEST);
  atomic.store<i64>(spare, atomic.load<i64>(spare, E_STATE) + (WAITING - RESERVED), E_STATE);
  amidst = PARKING;
}

/**
 * Enters a request in the queue, after some polls unless more than `most` requests like it are before its own, or the
 * queue is long. ADMITTED or ANSWER_CLOSED if that is over already, else QUEUED.
 */
export function untilDue(s: usize, e: usize, most: i64): i32 {
  const start = atomic.load<i64>(e, E_START);
  const width = atomic.load<i64>(e, E_REQUEST) & WIDTH_MASK;
  const due = start + width;
  let polls = isCrowded(s, width) ? 0 : pollsOf(s);
  if (polls > 0) {
    do {
      const ahead = atomic.load<i64>(s, GRANT) - due;
      if (ahead >= 0) {
        pollsPaid(s);
        return ADMITTED;
      }
      if (ahead < -(most + 1) * width) return enterUntilDue(s, e, start, due);
      pause();
    } while (--polls > 0);
    pollsWereVain(s);
  }
  return enterUntilDue(s, e, start, due);
}

/** The same without polling. */
export function enterUntilDue(s: usize, e: usize, start: i64, due: i64): i32 {
  enterBoth(s, e, start, due); // D2 write
  const ahead = atomic.load<i64>(s, GRANT) - due; // D2 read, D6 read
  if (ahead >= 0) return ADMITTED;
  return ahead < CLOSED_BELOW ? ANSWER_CLOSED : QUEUED;
}

/**
 * Sleeps until the element is granted or closed. A timed sleep may end earlier for no reason: the caller has the
 * clock. There are engines in which a thread that was terminated in its sleep can still wake and run on. If it
 * was declared dead in its sleep, its element may be another's by now: so it touches nothing, and sleeps for ever.
 */
function sleep(e: usize, nanoseconds: i64): i32 {
  let slept = false;
  while (true) {
    const state = atomic.load<i64>(e, E_STATE);
    if ((state & STATE_MASK) === GRANTED) return ADMITTED;
    if ((state & STATE_MASK) === CLOSED) return ANSWER_CLOSED;
    if (slept) {
      if (pollElement(e, state)) continue;
      if (nanoseconds >= 0) return TIMED_OUT;
      atomic.add<i32>(FUTILE_WAKES, 1);
    }
    while (!fallAsleep()) atomic.wait<i32>(NEVER, 0, FOREVER);
    atomic.wait<i32>(e + E_STATE, state as i32, nanoseconds); // D5
    while (!wakeUp()) atomic.wait<i32>(NEVER, 0, FOREVER);
    slept = true;
  }
}

/** Polls the state of the own element, after a wake-up that came before its turn. Whether it has changed. */
function pollElement(e: usize, state: i64): bool {
  const s = objectOf(atomic.load<i64>(e, E_REQUEST));
  for (let polls = pollsOf(s) >> WOKEN_SHIFT; polls > 0; polls--) {
    if (atomic.load<i64>(e, E_STATE) !== state) return true;
    pause();
  }
  return false;
}

/**
 * Permits are back, grant was this before, and wakeDue is about to follow. An interrupted acquire whose element nothing
 * could replace stays what the thread is in the middle of.
 */
export function releasing(s: usize, before: i64): void {
  if (amidst === PARKING) return;
  released = s;
  grantBefore = before;
  amidst = RELEASING;
}

/** The thread is the eldest of a mutex: it has the permit, and takes the lock or forgoes it. */
export function becomeEldest(m: usize, attachment: i32): void {
  mutex = m;
  attached = attachment;
  amidst = COMPETING;
}

/** wakeDue has followed. */
export function handedOn(): void {
  if (amidst === RELEASING) amidst = NOTHING;
}

/** Whether the thread is in the middle of competing for this mutex. */
export function isCompeting(m: usize): bool {
  return amidst === COMPETING && mutex === m;
}

/** The thread's request is settled or given up. */
export function settled(): void {
  amidst = NOTHING;
}

/**
 * Enters under the last ticket, where a poster meets it when it is due. A heavy one enters under its first
 * too: should it give up, its permits go on when grant passes that one.
 */
export function enterBoth(s: usize, e: usize, start: i64, due: i64): void {
  const last = due - 1;
  let cells = enter(s, last, e) as u64; // D2 write
  atomic.store<u64>(e, cells, E_CELLS);
  if (start === last || bucketOf(s, start) === bucketOf(s, last)) return;
  cells |= (enter(s, start, e) as u64) << 32;
  atomic.store<u64>(e, cells, E_CELLS);
}

/** Takes n permits if they are free and nobody waits. ADMITTED, REFUSED or ANSWER_CLOSED. Never blocks. */
export function tryAcquire(s: usize, n: i32): i32 {
  const width = n as i64;
  while (true) {
    const start = atomic.load<i64>(s, TICKET);
    const ahead = atomic.load<i64>(s, GRANT) - start - width;
    if (ahead < 0) return ahead < CLOSED_BELOW ? ANSWER_CLOSED : REFUSED;
    if (atomic.cmpxchg<i64>(s, start, start + width, TICKET) === start) {
      ticketTaken = start;
      return ADMITTED;
    }
  }
}

/**
 * Gives n permits back. ADMITTED when that is all: nobody waits, and no more than LIMIT are available.
 * Otherwise MORE, or INTERRUPTED because an earlier call of the thread was cut short: finishRelease must
 * follow. Calls nothing and never blocks.
 */
export function release(s: usize, n: i32): i32 {
  const width = n as i64;
  const grant = atomic.add<i64>(s, width, GRANT); // D1, D2 write
  // One comparison for both: with a waiter the surplus is negative, so as an unsigned number above any limit.
  const surplus = grant - atomic.load<i64>(s, TICKET); // D1 read
  if ((surplus as u64) > ((LIMIT - width) as u64)) {
    if (amidst !== NOTHING) {
      grantLate = grant;
      return INTERRUPTED;
    }
    released = s;
    grantBefore = grant;
    amidst = RELEASING;
    return MORE;
  }
  return ADMITTED;
}

/** release(s, 1). */
export function releaseOne(s: usize): i32 {
  return release(s, 1);
}

/**
 * Wakes every waiter whose turn the release just made, which gave this answer, has brought, but for promises
 * of this very thread. Of those it settles what is due in the run of this number, their first (0: it has none
 * waiting), and answers how many; or ANSWER_OVER_MAX (the permits are taken back; of a robust semaphore the
 * attachment holds them still). On a disposed semaphore it does nothing.
 */
export function finishRelease(s: usize, n: i32, answered: i32, run: i32, attachment: i32): i32 {
  const width = n as i64;
  let answer = 0;
  if (answered === INTERRUPTED) {
    const late = grantLate;
    if (amidst === RELEASING) recover();
    answer = settleRelease(s, width, late, attachment);
  } else {
    // Tickets of the thread's own run alone: then nobody else's turn has come.
    if (run === 0 || !covers(run, grantBefore, width))
      answer = settleRelease(s, width, grantBefore, attachment);
  }
  if (run !== 0 && answer === 0) answer = max(settle(run, attachment), 0);
  if (answered !== INTERRUPTED) amidst = NOTHING;
  return answer;
}

function settleRelease(s: usize, width: i64, before: i64, attachment: i32): i32 {
  while (true) {
    const ticket = atomic.load<i64>(s, TICKET);
    const surplus = before - ticket;
    if (surplus < CLOSED_BELOW) {
      atomic.sub<i64>(s, width, GRANT);
      return 0;
    }
    if (surplus < 0) {
      wakeDue(s, before, width);
      wakeNear(s, width);
      return 0;
    }
    // So many permits are available that nobody waits, and n can be taken like any others.
    if (atomic.load<i64>(s, GRANT) - ticket <= LIMIT) return 0;
    if (atomic.cmpxchg<i64>(s, ticket, ticket + width, TICKET) === ticket) {
      hold(attachment, width);
      return ANSWER_OVER_MAX;
    }
  }
}

/** Whether n permits more would now be more than the semaphore's own max. */
export function exceeds(s: usize, n: i32): bool {
  // grant first: a ticket read later can only make the count smaller, so nobody is refused wrongly.
  const grant = atomic.load<i64>(s, GRANT);
  return grant - atomic.load<i64>(s, TICKET) + (n as i64) > (atomic.load<i32>(s, O_MAX) as i64);
}

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
function wakeNear(s: usize, width: i64): void {
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

export function objectOf(request: i64): usize {
  return objects + (((request & OBJECT_MASK) >> OBJECT_SHIFT) as usize) * OBJECT_SIZE;
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

/** Disposes of the semaphore: every waiter is told. */
export function dispose(s: usize): void {
  if (closeObject(s)) closeWaiters(s);
}

/**
 * Tells every waiter that the semaphore has been closed; grant says so already. A part of the pool that is not marked
 * has none: who marks it later reads grant after that, and sees that it is closed (D6).
 */
function closeWaiters(s: usize): void {
  const where = whereOf(s);
  if (where === 0) return;
  const end = elementAt(usedElements());
  for (let e = elementAt(0); e < end; e += ELEMENT_SIZE) {
    if (!isMarked(where, e)) {
      e = lastOfPart(e);
      continue;
    }
    const state = atomic.load<i64>(e, E_STATE); // D6 read
    const is = state & STATE_MASK;
    if (is !== WAITING && is !== ABANDONED) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s) continue;
    if (is === WAITING) moveOn(e, state, CLOSED, request);
    else claim(s, e, state);
  }
}

/** Permits that tryAcquire could take now. Racy by nature. */
export function available(s: usize): i32 {
  const grant = atomic.load<i64>(s, GRANT);
  return max(0, min(grant - atomic.load<i64>(s, TICKET), LIMIT)) as i32;
}

/** Waiters queued now, blocked threads and promises alike: a pass over every element. Racy by nature. */
export function waiting(s: usize): i32 {
  const used = usedElements();
  let count = 0;
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    const state = atomic.load<i64>(e, E_STATE) & STATE_MASK;
    if (state === IDLE || state === RESERVED || state >= ABANDONED) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    if (objectOf(request) !== s) continue;
    if ((request >> OWNER_SHIFT) & (ASYNC as i64)) count += undue(e, request);
    else if (state === WAITING) count++;
  }
  return count;
}
