/**
 * The head of a mutex: the waiter whose turn is next. It polls the word, ends the turn of the one before it, sleeps, takes
 * the lock, or cancels. primitives/mutex.ts has the picture, and says why no head sleeps for ever and what bounds overtaking.
 */
import { recordOf } from '../memory/attachments';
import {
  ADMITTED,
  ANSWER_CLOSED,
  ASYNC,
  CLOSED_BELOW,
  E_HELD,
  GRANT,
  M_CLOSED,
  M_DIED,
  M_ELDEST,
  M_OWNER,
  M_RESERVED,
  M_SLEEPING,
  M_WAITER,
  M_WAITERS,
  M_WORD,
  NEVER,
  O_DEATHS,
  O_DIED,
  O_TIMEOUTS,
  REFUSED,
  T_WAKE,
  TICKET,
  TIMED_OUT,
} from '../memory/layout';
import { fallAsleep, me, owner, threadRecord, wakeUp } from '../memory/threads';
import { amidst, handedOn, isCompeting, NOTHING, recover, releasing } from '../queue/pending-call';
import { pollsPaid, pollsWereVain } from '../queue/polling';
import { wakeDue } from '../queue/waking';
import { first, hasSlept, IDLE_POLLS, patience, rest, setFirst, setGuess, slept, wakeEldest } from './mutex';
import { beginTurn, isOver, paceOf, passed, SLOW, setLimit, setPace } from './mutex-pace';

/** Where the lock changes hands faster than that, so many times as many: the owner keeps its cache line meanwhile. */
const LONG_REST: i32 = 32;
/** The same for the eldest when others wait behind it: to take the lock then wakes one of them. */
const IDLE_POLLS_OF_MANY: i32 = 8;
/** The eldest polls no longer than this, whatever it sees. */
const MOST_POLLS: i32 = 20_000;

/**
 * The eldest waits for the lock: ADMITTED or ANSWER_CLOSED. It sleeps once for so many nanoseconds at most (below 0:
 * until it has the lock), or less, and then may answer TIMED_OUT: it is the eldest still, and compete again or forgo
 * must follow.
 */
export function compete(m: usize, nanoseconds: i64, attachment: i32): i32 {
  if (first) {
    setLimit(m, atomic.load<i64>(m, M_WORD));
    setFirst(false);
  }
  const wake = threadRecord(me) + T_WAKE;
  let sleeps = true;
  while (true) {
    const answer = poll(m, attachment);
    if (answer !== REFUSED) return answer;
    if (!sleeps) return TIMED_OUT;
    const bits = slept || paceOf(m) <= SLOW ? M_RESERVED | M_SLEEPING : M_SLEEPING;
    atomic.store<i32>(wake, 0); // D10
    atomic.store<i32>(m, me, M_ELDEST);
    const w = atomic.or<i64>(m, bits, M_WORD) | bits; // D9
    if ((w & M_CLOSED) !== 0) continue;
    if ((w & M_OWNER) === 0) {
      if (take(m, w, attachment, true)) return ADMITTED;
      continue;
    }
    while (!fallAsleep()) atomic.wait<i32>(NEVER, 0, -1);
    atomic.wait<i32>(wake, 0, nanoseconds); // D10
    while (!wakeUp()) atomic.wait<i32>(NEVER, 0, -1);
    hasSlept();
    sleeps = nanoseconds < 0;
  }
}

/**
 * The eldest polls for as long as others come and go, but no longer than MOST_POLLS, and for its patience beyond that: then
 * the owner has had the lock for so long that it is worth a sleep. ADMITTED, REFUSED or ANSWER_CLOSED.
 */
function poll(m: usize, attachment: i32): i32 {
  const most = patience(m);
  let w = atomic.load<i64>(m, M_WORD);
  let unchanged = 0;
  let quiet = 0;
  let spent = 0;
  let length = 1;
  while (true) {
    if ((w & M_CLOSED) !== 0) {
      resign(m, attachment);
      return ANSWER_CLOSED;
    }
    if ((w & M_OWNER) === 0) {
      if ((w & M_RESERVED) !== 0 || isOver(m, w) || liesIdle(w, unchanged)) {
        if (spent > 0) pollsPaid(m);
        if (take(m, w, attachment, true)) return ADMITTED;
      }
    } else if ((w & M_RESERVED) === 0 && isOver(m, w)) atomic.or<i64>(m, M_RESERVED, M_WORD);
    if (quiet >= most || spent >= MOST_POLLS) {
      if (spent > 0) pollsWereVain(m);
      // The first time the owner may just have been interrupted.
      if (slept && spent > 0 && quiet >= most) setPace(m, SLOW);
      return REFUSED;
    }
    rest(length);
    spent += length;
    quiet += length;
    const now = atomic.load<i64>(m, M_WORD);
    const gone = passed(w, now);
    unchanged = now === w ? unchanged + 1 : 0;
    if (gone > 0) quiet = 0;
    length = gone > length ? LONG_REST : 1;
    w = now;
  }
}

/** Whether a free lock that nobody has had for so many polls lies idle. */
function liesIdle(w: i64, unchanged: i32): bool {
  return unchanged >= ((w & M_WAITERS) > M_WAITER ? IDLE_POLLS_OF_MANY : IDLE_POLLS);
}

/** The word when the eldest is a waiter no more. */
function withoutEldest(w: i64): i64 {
  return (w - M_WAITER) & ~(M_RESERVED | M_SLEEPING);
}

/** The eldest takes the lock from a free word, and who is next becomes the eldest. Whether the word was as it says. */
function take(m: usize, w: i64, attachment: i32, movesLimit: bool): bool {
  const free = withoutEldest(w) & ~M_DIED;
  if (atomic.cmpxchg<i64>(m, w, free + owner, M_WORD) !== w) return false; // R8 begins
  atomic.store<i64>(recordOf(attachment), 0, E_HELD);
  const grant = atomic.add<i64>(m, 1, GRANT); // R8 ends
  releasing(m, grant);
  setGuess(free);
  if (movesLimit) {
    setLimit(m, w);
    beginTurn(m, w);
  }
  handOn(m, grant);
  return true;
}

/**
 * A promise is the eldest: it reserves the lock at once, since its thread cannot poll. ADMITTED, ANSWER_CLOSED, or
 * REFUSED: the doorbell rings when it is worth another try. The limit stays as it is.
 */
export function reserveLock(m: usize, attachment: i32): i32 {
  if (amidst !== NOTHING) recover();
  atomic.store<i32>(m, me | ASYNC, M_ELDEST);
  while (true) {
    const w = atomic.or<i64>(m, M_RESERVED | M_SLEEPING, M_WORD) | M_RESERVED | M_SLEEPING; // D9
    if ((w & M_CLOSED) !== 0) {
      resign(m, attachment);
      return ANSWER_CLOSED;
    }
    if ((w & M_OWNER) !== 0) return REFUSED;
    if (take(m, w, attachment, false)) return ADMITTED;
  }
}

/** The eldest gives up: its time is over, or its signal has fired. */
export function forgo(m: usize, attachment: i32): void {
  // The thread itself, or a promise of it.
  if (amidst !== NOTHING && !isCompeting(m)) recover();
  resign(m, attachment);
  atomic.add<i32>(m, 1, O_TIMEOUTS);
}

/** The eldest is a waiter no more, and does not take the lock. */
export function resign(m: usize, attachment: i32): void {
  const grant = stepDown(m, recordOf(attachment));
  releasing(m, grant);
  handOn(m, grant);
}

/** The eldest, whose record this is, is a waiter no more, and its permit goes back: what grant was before. */
function stepDown(m: usize, e: usize): i64 {
  while (true) {
    const w = atomic.load<i64>(m, M_WORD);
    if (atomic.cmpxchg<i64>(m, w, withoutEldest(w), M_WORD) !== w) continue; // R8 begins
    atomic.store<i64>(e, 0, E_HELD);
    return atomic.add<i64>(m, 1, GRANT); // R8 ends
  }
}

/** The permit is back, and grant was this before: whoever is next is told. */
function handOn(m: usize, grant: i64): void {
  const ahead = grant - atomic.load<i64>(m, TICKET);
  if (ahead < 0 && ahead >= CLOSED_BELOW) wakeDue(m, grant, 1);
  handedOn();
}

/**
 * Gives back what a thread that is dead, or ends, has of a mutex to which it was attached: the lock, and its place as
 * the eldest. Whoever it may have left asleep is woken. May be begun again if who does it dies.
 */
export function giveUpMutex(m: usize, thread: i32, e: usize): void {
  if (atomic.load<i64>(e, E_HELD) !== 0) handOn(m, stepDown(m, e));
  if ((atomic.load<i64>(m, M_WORD) & M_OWNER) === (thread as i64)) {
    atomic.add<i32>(m, 1, O_DEATHS); // R8 begins
    atomic.add<i32>(m, 1, O_DIED);
    // It may be set already, by ownerHasDied: to add it would count a waiter that is none.
    atomic.or<i64>(m, M_DIED, M_WORD);
    atomic.sub<i64>(m, thread as i64, M_WORD); // D9, R8 ends
  }
  wakeEldest(m);
}
