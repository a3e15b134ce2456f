/**
 * The default mutex. A barging thread may take the lock while that does no harm, and no waiter is overtaken more often
 * than a bound allows.
 *
 *     word    waiters | overtakings | owner       the lock
 *     ticket, grant                               a semaphore of one permit for the waiters: the head has it
 *
 *     lock       owner 0 -> me, if nobody waits; or if overtakings < limit, and then overtakings += 1
 *     otherwise  1. if others wait and the lock is not reserved: poll the word for a while, and lock when it lies idle
 *                2. waiters += 1, and take a ticket
 *                3. wait in ticket order, until I am the head (queue/queue.ts)
 *                4. poll the word: take the lock when it lies idle
 *                5. when the turn of the owner is over: take the lock if it is free; else RESERVE it, so that only I
 *                   can take it when it is free
 *                6. when no polls are left: sleep; unlock wakes me. Before the second sleep, or if sections are long
 *                   before the first, RESERVE the lock
 *     unlock     owner me -> 0; wake the head if it sleeps
 *     the head, when it takes the lock: waiters -= 1; it sets turn and limit for the others, and gives the permit back
 *
 * Turns. The thread that was the head last may lock and unlock undisturbed, with two instructions for each pair, until
 * its turn is over or it leaves the lock alone. Meanwhile the head polls, and the waiters behind the head sleep. A turn
 * lasts about a quarter of a millisecond. If more than 60 threads wait, turns are shorter, so that all their turns
 * together take 15 milliseconds. A turn is measured in locks and not in time: then all turns are alike, even if the
 * kernel takes the processor from a thread in its turn. After its own turn each thread measures how many locks fit into
 * a quarter of a millisecond (turnLasted). The head ends a turn by reserving the lock. A thread that finds the lock
 * reserved queues up. If the head does not run, the turn goes on up to the limit, which allows twice as many locks.
 * Without this, the lock would lie free and unused until the head runs.
 *
 * An owner may keep the lock for all the polls of the head. Then its section is long, or the owner has lost its
 * processor. The first time, the head sleeps without reserving the lock, so the owner may finish its turn. If an owner
 * keeps the lock that long again, the head assumes that sections are long: it reserves the lock before it sleeps, until
 * a thread measures a faster pace.
 *
 * If threads work between their sections, the lock is often idle: it is free, and its word does not change from poll to
 * poll. A polling thread that finds the lock idle takes it. If this thread is the head, it does not wait until the turn
 * of the last head is over. If it is a barging thread, it does not queue up. So the lock does not lie unused until a
 * sleeping waiter has woken. While a thread waits, each overtaking adds 1 to a count in the word. A head that takes the
 * lock adds nothing to this count. So an unchanged word tells the head that no thread has had the lock since its last
 * poll. An unchanged word tells a barging thread that no thread but a head has had the lock. If the count has grown
 * much, the lock changes hands faster than these threads poll. Then the barging thread queues up, and the head polls
 * less often. So the owner keeps the cache line of the word for longer.
 *
 * The bound. Let B be `max` of the object. Let the base of a waiter be the count of overtakings when the waiter raised
 * `waiters`, before it took its ticket. From then on each thread that takes the lock and is not the head adds 1 to the
 * count in the exchange that takes the lock. A thread tries this exchange only while the count is below the limit, and
 * the exchange fails if the word has changed. Every stored limit is at most B more than the base of some head: the
 * present head, or the head that has just taken the lock. A waiter behind this head took its ticket later than the head
 * raised `waiters`, so at the time of this ticket the count was at least the base of the head. So while the waiter
 * waits, every limit that a thread can have read is at most B more than the count when the waiter took its ticket. So
 * the waiter is overtaken at most B times, by any number of threads.
 *
 * Between `waiters` += 1 and its ticket a waiter is not in the queue yet: threads that take tickets meanwhile go before
 * it, each with a limit of its own.
 *
 * lock compares the limit with the count in a word that it saw earlier. This word may be out of date, but that does no
 * harm: the exchange succeeds only if the word still has this count. So a thread takes the lock only while the count is
 * below a limit that the thread has read. Overtakings are counted modulo 2^29. This is enough: 2^27 overtakings take
 * seconds, and no thread stands still for so long between its look at the limit and its exchange.
 *
 * Why no waiter sleeps for ever:
 *     D9   SLEEPING against owner: the head sets SLEEPING and sees whether the word is free in one access, and
 *          unlock frees the word and sees SLEEPING in one access, too
 *     D10  clearing T_WAKE against the waker's store: the head clears T_WAKE before it sets SLEEPING, and sleeps only
 *          while T_WAKE is clear
 *     the limit is reached: the head polls and takes the lock, or the head sleeps and the owner's unlock wakes it. The
 *         head looks at the word once more before it sleeps
 *     the waiters behind the head: they wait as in the semaphore. A head gives its permit back in every case
 *
 * R8: `waiters` and the ticket change together. Owner, `waiters` and the permit change together, too. Between the two
 * accesses there is no call, loop or return. A runtime stops a thread only at those points (death/reaping.ts), so it
 * cannot stop the thread between the two accesses.
 *
 * lock and unlock do not load the word. They first try an exchange from the word that this thread saw last, its guess.
 * So a pair of lock and unlock costs two locked instructions, also while other threads wait. If others wait, lock looks
 * at the limit before it tries. The exchange of unlock fails if the thread is not the owner, so it also detects this
 * misuse.
 */

import {
  ADMITTED,
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_HELD,
  ANSWER_NOT_HELD,
  CONTENDED,
  HEAD,
  MORE,
  QUEUED,
  REFUSED,
} from '../../answers';
import { recordOf } from '../../arena/attachments';
import { spare } from '../../arena/elements';
import { owner, threadRecord } from '../../arena/threads';
import { ASYNC, CLOSED_BELOW, E_HELD, GRANT, OBJECT_SIZE, T_WAKE, THREAD_MASK, TICKET } from '../../arena/words';
import { asks, dispose } from '../../queue/closing';
import { becomeHead, beginUnlock, endUnlock } from '../../queue/pending-call';
import { isAdaptive, pause, pollsOf } from '../../queue/polling';
import { finishPendingCall, leaveQueue, note, queueSpare, ring, untilDue } from '../../queue/queue';
import { ALL } from '../../queue/words';
import { COUNT_HIGH_BITS, overtakings, scaledBypassLeft, setBase } from './mutex-pace';
import {
  M_CLOSED,
  M_HEAD,
  M_OVERTAKING,
  M_OWNER,
  M_OWNER_DIED,
  M_RESERVED,
  M_SLEEPING,
  M_WAITER,
  M_WAITERS,
  M_WORD,
  MOST_WAITERS,
} from './words';

/** There are 1 << PAUSES_SHIFT pauses between two polls: a tenth of a microsecond. */
const PAUSES_SHIFT: i32 = 3;
/** A free lock lies idle when so many polls in a row have found its word unchanged. */
export const IDLE_POLLS: i32 = 1;
/** A polling thread queues up when it has seen more overtakings than this since it began. */
const BUSY: i32 = 16;
/** The word of some mutex as this thread last saw or wrote it, without an owner. If it is wrong, the exchange fails. */
let guess: i64 = 0;
/** Whether nobody waited when this thread began to wait, so that no limit is set. */
export let limitUnset: bool = false;
/** Whether this thread has slept as the head since it began to wait. */
export let slept: bool = false;
/** How often askAll had been called when this thread began to wait. */
export let asksBefore: i32 = 0;

/** Called when the thread frees its record. From now on the first exchange of lock fails: no word equals this guess. */
export function spoilGuess(): void {
  guess = ~M_WAITERS;
}

/** Called when the thread has registered. */
export function resetGuess(): void {
  guess = 0;
}

/** Sets the guess: the word that this thread has just written, without its owner. */
export function setGuess(free: i64): void {
  guess = free;
}

/** Called when the limit for the waiters is set. */
export function limitIsSet(): void {
  limitUnset = false;
}

/** Called when this thread has slept as the head. */
export function setSlept(): void {
  slept = true;
}

/** Whether this thread holds the lock. */
export function isOwner(m: usize): bool {
  return (atomic.load<i64>(m, M_WORD) & M_OWNER) === owner;
}

/** Returns the thread that holds the lock, 0 if none. It may be out of date at once, unless it is the caller. */
export function ownerOf(m: usize): i32 {
  return (atomic.load<i64>(m, M_WORD) & M_OWNER) as i32;
}

/** Returns the number of waiters, 0 once the mutex is disposed of. It may be out of date at once. */
export function waitersOf(m: usize): i32 {
  const w = atomic.load<i64>(m, M_WORD);
  return (w & M_CLOSED) !== 0 ? 0 : (((w & M_WAITERS) / M_WAITER) as i32);
}

/**
 * Returns ADMITTED if this thread may count one more waiter, ANSWER_CLOSED, or ANSWER_FULL if MOST_WAITERS wait.
 * Between this look and the add that counts the waiter, each other thread may add 1 at most. The field has room for all
 * of these waiters.
 */
export function roomForWaiter(m: usize): i32 {
  const w = atomic.load<i64>(m, M_WORD);
  if ((w & M_CLOSED) !== 0) return ANSWER_CLOSED;
  return (w & M_WAITERS) < MOST_WAITERS * M_WAITER ? ADMITTED : ANSWER_FULL;
}

/** Takes the lock if it may. Returns ADMITTED, or CONTENDED: queue must follow. Calls nothing and never blocks. */
export function lock(m: usize): i32 {
  let w = guess;
  if ((w & M_WAITERS) === 0) {
    const before = atomic.cmpxchg<i64>(m, w, w + owner, M_WORD);
    if (before === w) return ADMITTED;
    w = before;
  } else if (scaledBypassLeft(m, w) > 0) {
    const free = w + M_OVERTAKING;
    const before = atomic.cmpxchg<i64>(m, w, free + owner, M_WORD);
    if (before === w) {
      guess = free;
      return ADMITTED;
    }
    w = before;
  } else w = atomic.load<i64>(m, M_WORD);
  if ((w & (M_OWNER | M_RESERVED | M_CLOSED | M_OWNER_DIED)) !== 0 || owner === 0) return CONTENDED;
  let free = w;
  if ((w & M_WAITERS) !== 0) {
    if (scaledBypassLeft(m, w) <= 0) return CONTENDED;
    free += M_OVERTAKING;
  }
  if (atomic.cmpxchg<i64>(m, w, free + owner, M_WORD) !== w) return CONTENDED;
  guess = free;
  return ADMITTED;
}

/**
 * Takes the lock if it may, in whatever state the lock and the thread are. Returns ADMITTED, REFUSED, ANSWER_CLOSED, or
 * ANSWER_FULL when an interrupted thread finds no spare. Never blocks.
 */
export function tryLock(m: usize): i32 {
  if (!finishPendingCall()) return ANSWER_FULL;
  while (true) {
    const w = atomic.load<i64>(m, M_WORD);
    if ((w & M_CLOSED) !== 0) return ANSWER_CLOSED;
    if ((w & (M_OWNER | M_RESERVED)) !== 0) return REFUSED;
    let free = w & ~M_OWNER_DIED;
    if ((w & M_WAITERS) !== 0) {
      if (scaledBypassLeft(m, w) <= 0) return REFUSED;
      free += M_OVERTAKING;
    }
    if (atomic.cmpxchg<i64>(m, w, free + owner, M_WORD) === w) {
      guess = free;
      return ADMITTED;
    }
  }
}

/**
 * Gives the lock back. Returns ADMITTED if nothing is left to do, MORE if wakeHead must follow, and ANSWER_NOT_HELD if
 * this thread is not the owner. Calls nothing and never blocks.
 */
export function unlock(m: usize): i32 {
  const free = guess;
  const held = free + owner;
  let w = atomic.cmpxchg<i64>(m, held, free, M_WORD); // D9
  if (w !== held) {
    if ((w & M_OWNER) !== owner) return ANSWER_NOT_HELD;
    w = atomic.sub<i64>(m, owner, M_WORD); // D9
    guess = (w - owner) & ~(M_RESERVED | M_CLOSED | M_OWNER_DIED);
  }
  if ((w & M_SLEEPING) === 0) return ADMITTED;
  beginUnlock(m);
  return MORE;
}

/** Wakes the head, if it sleeps. */
export function wakeHead(m: usize): void {
  const w = atomic.and<i64>(m, ~M_SLEEPING, M_WORD); // R9 begins
  if ((w & M_SLEEPING) !== 0) {
    // M_HEAD may name a later head. Then the earlier head has already woken.
    const who = atomic.load<i32>(m, M_HEAD);
    if (who & ASYNC) {
      note(who, (m / OBJECT_SIZE) as u32);
      ring(who & THREAD_MASK); // R9 ends
    } else {
      const wake = threadRecord(who) + T_WAKE;
      atomic.store<i32>(wake, 1); // D10
      atomic.notify(wake, ALL); // R9 ends
    }
  }
  endUnlock(m);
}

/**
 * Queues up for a lock that was CONTENDED. Returns ADMITTED: the thread has the lock. Returns HEAD: compete must
 * follow. Returns QUEUED: park or parkFor must follow. If that call returns ADMITTED, the thread is the head, and
 * compete must follow. Returns ANSWER_HELD: the thread is the owner itself and would wait for ever. It may also return
 * ANSWER_CLOSED or ANSWER_FULL.
 * @answers ADMITTED | QUEUED | HEAD | ANSWER_HELD | ANSWER_CLOSED | ANSWER_FULL
 * @replaced by src/report/measure.ts: calls this function, and notes how long the wait lasts
 */
export function queue(m: usize, attachment: i32): i32 {
  if (!finishPendingCall()) return ANSWER_FULL;
  const w = atomic.load<i64>(m, M_WORD);
  if ((w & M_OWNER) === owner) return (w & M_CLOSED) !== 0 ? ANSWER_CLOSED : ANSWER_HELD;
  const answer = spinBeforeQueueing(m, w);
  if (answer !== REFUSED) return answer;
  const room = roomForWaiter(m);
  if (room !== ADMITTED) return room;
  asksBefore = asks(m);
  const before = atomic.add<i64>(m, M_WAITER, M_WORD); // R8 begins
  setBase(before);
  limitUnset = (before & M_WAITERS) === 0;
  slept = false;
  const start = atomic.add<i64>(m, 1, TICKET); // R1 begins. D1 write
  const ahead = atomic.load<i64>(m, GRANT) - start - 1; // D1 read
  if (ahead >= 0) {
    atomic.store<i64>(recordOf(attachment), 1, E_HELD); // R8 ends
    becomeHead(m, attachment);
    return HEAD;
  }
  if (ahead < CLOSED_BELOW) {
    atomic.sub<i64>(m, 1, TICKET);
    return ANSWER_CLOSED;
  }
  queueSpare(m, start, 1); // R1 and R8 end
  const due = untilDue(m, spare, 0);
  if (due === QUEUED) return QUEUED;
  leaveQueue(due, attachment);
  return due === ADMITTED ? HEAD : due;
}

/**
 * Polls before this thread becomes a waiter, in case the lock soon lies idle. If nobody waits, it tries to lock at most
 * once: as soon as the thread is queued, it is the head, and polls as the head. Returns ADMITTED, REFUSED or
 * ANSWER_CLOSED.
 */
function spinBeforeQueueing(m: usize, before: i64): i32 {
  let w = before;
  // If the lock is free at the first look, the thread tries to lock it at once. Only later polls test whether it lies
  // idle.
  let unchanged = IDLE_POLLS;
  let polls = pollLimit(m) >> 1;
  // A reserved lock goes to the head. A thread that polls while the head begins its turn would take this turn from the
  // head: the head has slept, and its first section after the sleep is slow, so the lock seems to lie idle. Therefore the
  // thread queues up at once. The thread whose turn has just ended comes here while the lock is reserved.
  while ((w & (M_CLOSED | M_RESERVED)) === 0) {
    if ((w & M_OWNER) === 0 && unchanged >= IDLE_POLLS) {
      const answer = tryLock(m);
      if (answer !== REFUSED) return answer;
    }
    if (--polls < 0 || (w & M_WAITERS) === 0 || scaledBypassLeft(m, w) <= 0 || isBusy(w, before)) break;
    backOff(1);
    const now = atomic.load<i64>(m, M_WORD);
    unchanged = now === w ? unchanged + 1 : 0;
    w = now;
  }
  return REFUSED;
}

/** Returns how often a waiter polls before it sleeps. A poll has more pauses here than at a semaphore (backOff). */
export function pollLimit(m: usize): i32 {
  const polls = pollsOf(m);
  return isAdaptive(m) ? polls >> PAUSES_SHIFT : polls;
}

/** Whether the lock is taken again so soon that polls miss it. */
function isBusy(w: i64, before: i64): bool {
  return (overtakings(w) - overtakings(before)) << COUNT_HIGH_BITS > BUSY << COUNT_HIGH_BITS;
}

export function backOff(polls: i32): void {
  for (let i = polls << PAUSES_SHIFT; i > 0; i--) pause();
}

/** Disposes of the mutex, and wakes its waiters. */
export function mutexDispose(m: usize): void {
  dispose(m);
  atomic.or<i64>(m, M_CLOSED, M_WORD);
  wakeHead(m);
}

/** Sets the bit by which the thread that takes the lock next learns that an owner has died. */
export function ownerHasDied(m: usize): void {
  atomic.or<i64>(m, M_OWNER_DIED, M_WORD);
}
