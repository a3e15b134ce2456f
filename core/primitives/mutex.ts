import { recordOf } from '../memory/attachments';
import { elementAt, spare } from '../memory/elements';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  ASYNC,
  CLOSED_BELOW,
  CONTENDED,
  E_HELD,
  E_SINCE,
  ELDEST,
  GRANT,
  KIND_MUTEX,
  M_CLOSED,
  M_DIED,
  M_ELDEST,
  M_OVERTAKING,
  M_OWNER,
  M_RESERVED,
  M_SLEEPING,
  M_WAITER,
  M_WAITERS,
  M_WORD,
  MORE,
  O_KIND,
  OBJECT_SIZE,
  QUEUED,
  REFUSED,
  T_WAKE,
  THREAD_MASK,
  TICKET,
} from '../memory/layout';
import { owner, threadRecord } from '../memory/threads';
import { dispose } from '../queue/closing';
import { leave, untilDue } from '../queue/parking';
import { pause } from '../queue/pause';
import { amidst, becomeEldest, NOTHING, recover } from '../queue/pending-call';
import { isAdaptive, pollsOf } from '../queue/polling';
import { queueSpare } from '../queue/tickets';
import { note, ring } from '../queue/waking';
import { left, overtakings, SIGN, setBase } from './mutex-pace';

/** So many pauses lie between two polls, shifted: a tenth of a microsecond. */
const PAUSES_SHIFT: i32 = 3;
/** A free lock lies idle when so many polls in a row have seen the same word. */
export const IDLE_POLLS: i32 = 1;
/** Whoever polls, and has seen more overtakings than this since it began, stops. */
const BUSY: i32 = 16;
/** The word as this thread has last seen or made it, but free. */
let guess: i64 = 0;
/** Whether nobody waited then, so that no limit is set. */
export let first: bool = false;
/** Whether this thread has slept as the eldest since it came to wait. */
export let slept: bool = false;

export function isMutex(o: usize): bool {
  return atomic.load<i32>(o, O_KIND) === KIND_MUTEX;
}

/** The thread gives up its record: from now on lock finds nothing as it expects it. */
export function endLocking(): void {
  guess = ~M_WAITERS;
}

/** Called when the thread has registered. */
export function beginLocking(): void {
  guess = 0;
}

/** The word as this thread has just made it, but free. */
export function setGuess(free: i64): void {
  guess = free;
}

/** The limit for the waiters is set. */
export function setFirst(no: bool): void {
  first = no;
}

/** This thread has slept as the head. */
export function hasSlept(): void {
  slept = true;
}

/** Whether the lock is this thread's. */
export function isOwner(m: usize): bool {
  return (atomic.load<i64>(m, M_WORD) & M_OWNER) === owner;
}

/** The thread that has the lock; 0: nobody. Racy by nature when it is not the caller. */
export function ownerOf(m: usize): i32 {
  return (atomic.load<i64>(m, M_WORD) & M_OWNER) as i32;
}

/** Those who wait. Racy by nature. */
export function waitersOf(m: usize): i32 {
  return ((atomic.load<i64>(m, M_WORD) & M_WAITERS) / M_WAITER) as i32;
}

/** Takes the lock, if it may. ADMITTED, or CONTENDED: then queue must follow. Calls nothing and never blocks. */
export function lock(m: usize): i32 {
  let w = guess;
  if ((w & M_WAITERS) === 0) {
    const before = atomic.cmpxchg<i64>(m, w, w + owner, M_WORD);
    if (before === w) return ADMITTED;
    w = before;
  } else if (left(m, w) > 0) {
    const free = w + M_OVERTAKING;
    const before = atomic.cmpxchg<i64>(m, w, free + owner, M_WORD);
    if (before === w) {
      guess = free;
      return ADMITTED;
    }
    w = before;
  } else w = atomic.load<i64>(m, M_WORD);
  if ((w & (M_OWNER | M_RESERVED | M_CLOSED | M_DIED)) !== 0 || owner === 0) return CONTENDED;
  let free = w;
  if ((w & M_WAITERS) !== 0) {
    if (left(m, w) <= 0) return CONTENDED;
    free += M_OVERTAKING;
  }
  if (atomic.cmpxchg<i64>(m, w, free + owner, M_WORD) !== w) return CONTENDED;
  guess = free;
  return ADMITTED;
}

/**
 * Takes the lock, if it may, in whatever state it and the thread are. ADMITTED, REFUSED, ANSWER_CLOSED, or ANSWER_FULL
 * for a thread that has ended and finds no record. Never blocks.
 */
export function tryLock(m: usize): i32 {
  if (amidst !== NOTHING && !recover()) return ANSWER_FULL;
  while (true) {
    const w = atomic.load<i64>(m, M_WORD);
    if ((w & M_CLOSED) !== 0) return ANSWER_CLOSED;
    if ((w & (M_OWNER | M_RESERVED)) !== 0) return REFUSED;
    let free = w & ~M_DIED;
    if ((w & M_WAITERS) !== 0) {
      if (left(m, w) <= 0) return REFUSED;
      free += M_OVERTAKING;
    }
    if (atomic.cmpxchg<i64>(m, w, free + owner, M_WORD) === w) {
      guess = free;
      return ADMITTED;
    }
  }
}

/**
 * Gives the lock back. ADMITTED when that is all, MORE when wakeEldest must follow, ANSWER_NOT_HELD when this thread
 * is not the owner. Calls nothing and never blocks.
 */
export function unlock(m: usize): i32 {
  const free = guess;
  const held = free + owner;
  let w = atomic.cmpxchg<i64>(m, held, free, M_WORD); // D9
  if (w !== held) {
    if ((w & M_OWNER) !== owner) return ANSWER_NOT_HELD;
    w = atomic.sub<i64>(m, owner, M_WORD); // D9
    guess = (w - owner) & ~(M_RESERVED | M_CLOSED | M_DIED);
  }
  if ((w & M_SLEEPING) !== 0) return MORE;
  return ADMITTED;
}

/** Wakes the eldest, if it sleeps. */
export function wakeEldest(m: usize): void {
  while (true) {
    const w = atomic.load<i64>(m, M_WORD);
    if ((w & M_SLEEPING) === 0) return;
    if (atomic.cmpxchg<i64>(m, w, w - M_SLEEPING, M_WORD) === w) break;
  }
  // If another is the eldest by now, the former is awake.
  const who = atomic.load<i32>(m, M_ELDEST);
  if (who & ASYNC) {
    note(who, (m / OBJECT_SIZE) as u32);
    ring(who & THREAD_MASK);
    return;
  }
  const wake = threadRecord(who) + T_WAKE;
  atomic.store<i32>(wake, 1); // D10
  atomic.notify(wake, -1);
}

/** The thread, or a promise of it, has waited since then: in milliseconds, kept for those who ask. */
export function waitsSince(attachment: i32, now: i32): void {
  atomic.store<i32>(elementAt((attachment - 1) as u32), now, E_SINCE);
}

/**
 * Queues up for a lock that was CONTENDED. ADMITTED: it has the lock. ELDEST: compete must follow. QUEUED: so must
 * park or parkFor, which then answer ADMITTED for ELDEST. ANSWER_HELD: it is the owner itself and would wait for
 * ever. ANSWER_CLOSED, ANSWER_FULL.
 */
export function queue(m: usize, attachment: i32): i32 {
  if (amidst !== NOTHING && !recover()) return ANSWER_FULL;
  const w = atomic.load<i64>(m, M_WORD);
  if ((w & M_OWNER) === owner) return (w & M_CLOSED) !== 0 ? ANSWER_CLOSED : ANSWER_HELD;
  const answer = hover(m, w);
  if (answer !== REFUSED) return answer;
  const before = atomic.add<i64>(m, M_WAITER, M_WORD); // R8 begins
  setBase(before);
  first = (before & M_WAITERS) === 0;
  slept = false;
  const start = atomic.add<i64>(m, 1, TICKET); // R1 begins. D1 write
  const ahead = atomic.load<i64>(m, GRANT) - start - 1; // D1 read
  if (ahead >= 0) {
    atomic.store<i64>(recordOf(attachment), 1, E_HELD); // R8 ends
    becomeEldest(m, attachment);
    return ELDEST;
  }
  if (ahead < CLOSED_BELOW) {
    atomic.sub<i64>(m, 1, TICKET);
    return ANSWER_CLOSED;
  }
  queueSpare(m, start, 1); // R1 and R8 end
  const due = untilDue(m, spare, 0);
  if (due === QUEUED) return QUEUED;
  leave(due, attachment);
  return due === ADMITTED ? ELDEST : due;
}

/**
 * Polls for a while, before it is a waiter, for a section that ends soon: while others wait, the word tells whether the
 * lock lies idle. If nobody waits this thread is the eldest at once, and polls as such. ADMITTED, REFUSED or
 * ANSWER_CLOSED.
 */
function hover(m: usize, before: i64): i32 {
  let w = before;
  // A lock that is free at the first look needs no proof that it lies idle.
  let unchanged = IDLE_POLLS;
  let polls = patience(m) >> 1;
  // An eldest that is awake takes the lock soon, though it has reserved it.
  while ((w & M_CLOSED) === 0 && (w & (M_RESERVED | M_SLEEPING)) !== (M_RESERVED | M_SLEEPING)) {
    if ((w & M_OWNER) === 0 && unchanged >= IDLE_POLLS) {
      const answer = tryLock(m);
      if (answer !== REFUSED) return answer;
    }
    if (--polls < 0 || (w & M_WAITERS) === 0 || left(m, w) <= 0 || isBusy(w, before)) break;
    rest(1);
    const now = atomic.load<i64>(m, M_WORD);
    unchanged = now === w ? unchanged + 1 : 0;
    w = now;
  }
  return REFUSED;
}

/** So many polls last as long as a park and a wake-up. */
export function patience(m: usize): i32 {
  const polls = pollsOf(m);
  return isAdaptive(m) ? polls >> PAUSES_SHIFT : polls;
}

/** Whether the lock is taken again so soon that polls miss it. */
function isBusy(w: i64, before: i64): bool {
  return (overtakings(w) - overtakings(before)) << SIGN > BUSY << SIGN;
}

export function rest(polls: i32): void {
  for (let i = polls << PAUSES_SHIFT; i > 0; i--) pause();
}

/** Disposes of the mutex: whoever waits is told. */
export function mutexDispose(m: usize): void {
  dispose(m);
  atomic.or<i64>(m, M_CLOSED, M_WORD);
  wakeEldest(m);
}

/** A waiter of a dead thread, or one that gives up, is one no more: part of the run in which its ticket goes. */
export function quit(s: usize, count: i64): void {
  if (isMutex(s)) atomic.sub<i64>(s, count * M_WAITER, M_WORD);
}

/** Whoever takes the lock next is to ask how many owners have died. */
export function ownerHasDied(m: usize): void {
  atomic.or<i64>(m, M_DIED, M_WORD);
}
