/**
 * The head of a mutex: the first waiter of its queue. It polls the word of the mutex. When the turn of the last head
 * (mutex.ts) is over, it reserves the lock. It sleeps, takes the lock, or cancels. mutex.ts says why no head sleeps for
 * ever, and what bounds overtaking.
 */

import { ADMITTED, ANSWER_CLOSED, LEAVE, REFUSED, TIMED_OUT } from '../../answers';
import { recordOf } from '../../arena/attachments';
import { me, owner, sleepOn, threadRecord } from '../../arena/threads';
import {
  ASYNC,
  CLOSED_BELOW,
  E_END,
  E_HELD,
  E_SINCE,
  E_START,
  E_STATE,
  GRANT,
  O_DEATHS,
  O_TIMEOUTS,
  O_UNREPORTED_DEATHS,
  T_WAKE,
  TICKET,
} from '../../arena/words';
import { asks } from '../../queue/closing';
import {
  beginToWake,
  beginUnlock,
  endUnlock,
  endWaking,
  isHeadOf,
  isUnlocking,
  NOTHING,
  pendingCall,
} from '../../queue/pending-call';
import { pollsPaid, pollsWereVain } from '../../queue/polling';
import { recover, wakeDue } from '../../queue/queue';
import { keepElement, leaveRun, nextOfOwn } from '../../queue/runs';
import {
  asksBefore,
  backOff,
  IDLE_POLLS,
  limitIsSet,
  limitUnset,
  pollLimit,
  setGuess,
  setSlept,
  slept,
  wakeHead,
} from './mutex';
import { beginTurn, isTurnOver, overtakingsBetween, paceOf, SLOW, setLimit, setPace } from './mutex-pace';
import { M_CLOSED, M_HEAD, M_OWNER, M_OWNER_DIED, M_RESERVED, M_SLEEPING, M_WAITER, M_WAITERS, M_WORD } from './words';

/**
 * If the lock changes hands faster than the head polls, the head makes LONG_PAUSE times as many pauses between two
 * polls. So the owner keeps the line of the word in its cache.
 */
const LONG_PAUSE: i32 = 32;
/**
 * The same as IDLE_POLLS, for a head with waiters behind it. It is higher, because a head that takes the lock then also
 * wakes the next head.
 */
const IDLE_POLLS_OF_MANY: i32 = 8;
/** The head polls for no longer than MOST_POLLS polls with usual pauses take. */
const MOST_POLLS: i32 = 20_000;

/**
 * Waits for the lock as the head. Returns ADMITTED or ANSWER_CLOSED. If `nanoseconds` is 0 or more, the thread sleeps
 * at most once, for at most this time. After this sleep the function may return TIMED_OUT: the thread is still the
 * head, and must call compete or cancelHead. The function returns LEAVE if askAll was called after the thread had begun
 * to wait: cancelHead must follow.
 * @answers ADMITTED | ANSWER_CLOSED | TIMED_OUT | LEAVE
 * @replaced by src/host/deno-bun.ts: calls this function, and throws if the thread was terminated in its sleep
 * @replaced by src/report/long-sleeps.ts: sleeps as this function does, for a second at first, then looks whether it waits in a
 *     deadlock, and sleeps on; may throw a DeadlockError, when the request has left
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function compete(m: usize, nanoseconds: i64, attachment: i32): i32 {
  if (limitUnset) {
    setLimit(m, atomic.load<i64>(m, M_WORD));
    limitIsSet();
  }
  const wake = threadRecord(me) + T_WAKE;
  let sleeps = true;
  while (true) {
    const answer = pollAsHead(m, attachment);
    if (answer !== REFUSED) return answer;
    if (!sleeps) return TIMED_OUT;
    const bits = slept || paceOf(m) <= SLOW ? M_RESERVED | M_SLEEPING : M_SLEEPING;
    atomic.store<i32>(wake, 0); // D10
    atomic.store<i32>(m, me, M_HEAD);
    const w = atomic.or<i64>(m, bits, M_WORD) | bits; // D9
    if ((w & M_CLOSED) !== 0) continue;
    if ((w & M_OWNER) === 0) {
      if (takeLock(m, w, attachment, true)) return ADMITTED;
      continue;
    }
    if (asks(m) !== asksBefore) return LEAVE; // D12
    sleepOn(wake, 0, nanoseconds);
    setSlept();
    sleeps = nanoseconds < 0;
  }
}

/**
 * Polls as the head while other threads take the lock and give it back, for at most MOST_POLLS polls. It also stops
 * after `most` polls in a row without an overtaking: then one owner has had the lock for so long that a sleep is worth
 * its cost. Returns REFUSED when it has polled enough, or ADMITTED or ANSWER_CLOSED.
 */
function pollAsHead(m: usize, attachment: i32): i32 {
  const most = pollLimit(m);
  let w = atomic.load<i64>(m, M_WORD);
  let unchanged = 0;
  let quiet = 0;
  let spent = 0;
  let length = 1;
  while (true) {
    if ((w & M_CLOSED) !== 0) {
      releaseHead(m, attachment);
      return ANSWER_CLOSED;
    }
    if ((w & M_OWNER) === 0) {
      if ((w & M_RESERVED) !== 0 || isTurnOver(m, w) || liesIdle(w, unchanged)) {
        if (spent > 0) pollsPaid(m);
        if (takeLock(m, w, attachment, true)) return ADMITTED;
      }
    } else if ((w & M_RESERVED) === 0 && isTurnOver(m, w)) atomic.or<i64>(m, M_RESERVED, M_WORD);
    if (quiet >= most || spent >= MOST_POLLS) {
      if (spent > 0) pollsWereVain(m);
      // Before the first sleep of the head the pace stays as it is: the owner may only have been interrupted.
      if (slept && spent > 0 && quiet >= most) setPace(m, SLOW);
      return REFUSED;
    }
    backOff(length);
    spent += length;
    quiet += length;
    const now = atomic.load<i64>(m, M_WORD);
    const gone = overtakingsBetween(w, now);
    unchanged = now === w ? unchanged + 1 : 0;
    if (gone > 0) quiet = 0;
    length = gone > length ? LONG_PAUSE : 1;
    w = now;
  }
}

/** Whether a free lock lies idle. `unchanged` is how many polls in a row have found its word unchanged. */
function liesIdle(w: i64, unchanged: i32): bool {
  return unchanged >= ((w & M_WAITERS) > M_WAITER ? IDLE_POLLS_OF_MANY : IDLE_POLLS);
}

/**
 * Returns what the word becomes when the head stops waiting: it has a waiter less, is not reserved, and says that no
 * head sleeps.
 */
function withoutHead(w: i64): i64 {
  return (w - M_WAITER) & ~(M_RESERVED | M_SLEEPING);
}

/** Takes the lock as the head, from a free word, and admits the next head. Returns false if the word has changed. */
function takeLock(m: usize, w: i64, attachment: i32, movesLimit: bool): bool {
  const free = withoutHead(w) & ~M_OWNER_DIED;
  if (atomic.cmpxchg<i64>(m, w, free + owner, M_WORD) !== w) return false; // R8 begins
  atomic.store<i64>(recordOf(attachment), 0, E_HELD);
  const grant = atomic.add<i64>(m, 1, GRANT); // R8 ends
  beginToWake(m, grant);
  setGuess(free);
  if (movesLimit) {
    setLimit(m, w);
    beginTurn(m, w);
  }
  wakeNext(m, grant);
  return true;
}

/**
 * Competes for a promise that is the head. The thread of the promise cannot poll, so it reserves the lock at once. It
 * does not change the limit. Returns ADMITTED or ANSWER_CLOSED. Returns REFUSED if the lock has an owner: the doorbell
 * of this thread rings when it should try again.
 *
 * The call may follow an unlock of this thread in place of wakeHead. An exception that ends the call leaves it UNLOCKING:
 * then the thread rings its own doorbell later, and tries again. If the call had taken the lock by then, or had found the
 * mutex closed, the promise has the permit of the head no more, and the second call answers this.
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function reserveLock(m: usize, attachment: i32): i32 {
  if (atomic.load<i64>(recordOf(attachment), E_HELD) === 0)
    return (atomic.load<i64>(m, M_WORD) & M_CLOSED) === 0 ? ADMITTED : ANSWER_CLOSED;
  if (pendingCall !== NOTHING && !isUnlocking(m)) recover();
  beginUnlock(m);
  atomic.store<i32>(m, me | ASYNC, M_HEAD);
  while (true) {
    const w = atomic.or<i64>(m, M_RESERVED | M_SLEEPING, M_WORD) | M_RESERVED | M_SLEEPING; // D9
    if ((w & M_CLOSED) !== 0) {
      releaseHead(m, attachment);
      return ANSWER_CLOSED;
    }
    if ((w & M_OWNER) !== 0) {
      endUnlock(m);
      return REFUSED;
    }
    if (takeLock(m, w, attachment, false)) return ADMITTED;
  }
}

/**
 * Gives the lock of this thread to the promise of the thread that is the head, and makes the first promise of the
 * thread's run `number` the head, if no other request is between the two. Returns whether it has done so: if not, nothing
 * has changed.
 *
 * This call stands for `unlock`, `reserveLock`, `settle` and the `reserveLock` of the next head. The head has reserved the
 * lock, so no other thread could take it in between. The word stays reserved, and says that a head of this thread sleeps.
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function unlockToOwn(m: usize, number: i32, attachment: i32): bool {
  const record = recordOf(attachment);
  const w = atomic.load<i64>(m, M_WORD);
  const bits = w & (M_OWNER | M_RESERVED | M_SLEEPING | M_CLOSED | M_OWNER_DIED);
  if (bits !== (owner | M_RESERVED | M_SLEEPING) || atomic.load<i64>(record, E_HELD) === 0) return false;
  const e = nextOfOwn(m, 1, number);
  if (e === 0) return false;
  const start = atomic.load<i64>(e, E_START);
  const state = atomic.load<i64>(e, E_STATE);
  const isLast = atomic.load<i64>(e, E_END) === start + 1;
  if (atomic.cmpxchg<i64>(m, w, w - M_WAITER, M_WORD) !== w) return false; // R8 begins
  atomic.add<i64>(m, 1, GRANT);
  leaveRun(e, start + 1, state, isLast); // R8 ends
  // Promises that began to wait together have the same time. To compare the two takes less time than a store.
  const since = atomic.load<i32>(e, E_SINCE);
  if (atomic.load<i32>(record, E_SINCE) !== since) atomic.store<i32>(record, since, E_SINCE);
  if (isLast) keepElement(e);
  return true;
}

/**
 * Cancels the head, because its time-out has passed or its signal has fired. If an exception has ended an earlier call,
 * the head may have left already.
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function cancelHead(m: usize, attachment: i32): void {
  // The head is the thread itself, or a promise of it.
  if (pendingCall !== NOTHING && !isHeadOf(m)) recover();
  if (atomic.load<i64>(recordOf(attachment), E_HELD) === 0) return;
  releaseHead(m, attachment);
  atomic.add<i32>(m, 1, O_TIMEOUTS);
}

/** Ends the wait of the head without the lock, and wakes the next head. */
export function releaseHead(m: usize, attachment: i32): void {
  const grant = returnHeadPermit(m, recordOf(attachment));
  beginToWake(m, grant);
  wakeNext(m, grant);
}

/**
 * Ends the wait of the head, which has this attachment, and gives the permit of the head back. Returns the old grant.
 */
function returnHeadPermit(m: usize, e: usize): i64 {
  while (true) {
    const w = atomic.load<i64>(m, M_WORD);
    if (atomic.cmpxchg<i64>(m, w, withoutHead(w), M_WORD) !== w) continue; // R8 begins
    atomic.store<i64>(e, 0, E_HELD);
    return atomic.add<i64>(m, 1, GRANT); // R8 ends
  }
}

/** Wakes the next head, after the permit has gone back. `grant` is the old grant. */
function wakeNext(m: usize, grant: i64): void {
  const ahead = grant - atomic.load<i64>(m, TICKET);
  if (ahead < 0 && ahead >= CLOSED_BELOW) wakeDue(m, grant, 1);
  endWaking();
}

/**
 * Gives back what a dead or ending thread has of a mutex to which it was attached: the lock, and its place as the head.
 * Wakes the head, because the dead thread may have unlocked and died before it could wake the head. If the caller dies,
 * another thread may call this function again.
 */
export function releaseOfDeadOwner(m: usize, thread: i32, e: usize): void {
  if (atomic.load<i64>(e, E_HELD) !== 0) wakeNext(m, returnHeadPermit(m, e));
  if ((atomic.load<i64>(m, M_WORD) & M_OWNER) === (thread as i64)) {
    atomic.add<i32>(m, 1, O_DEATHS);
    atomic.add<i32>(m, 1, O_UNREPORTED_DEATHS); // R8 begins
    // ownerHasDied may have set this bit already. An addition would then carry into the count of waiters.
    atomic.or<i64>(m, M_OWNER_DIED, M_WORD);
    atomic.sub<i64>(m, thread as i64, M_WORD); // D9, R8 ends
  }
  wakeHead(m);
}
