/**
 * The default mutex: whoever comes by may take the lock while that is harmless, and nobody who waits is overtaken
 * more often than a bound says.
 *
 *     word    waiters | overtakings | owner       the lock
 *     ticket, grant                               a semaphore of one permit, for those who wait: the eldest has it
 *
 *     lock       owner 0 -> me, if nobody waits; or else if overtakings < limit, and that is one more
 *     otherwise  1. if others wait: poll the word for a while, and lock when it lies idle
 *                2. waiters += 1, and take a ticket
 *                3. wait in ticket order, until I am the eldest (semaphore.ts)
 *                4. poll the word: take the lock when it lies idle
 *                5. when the turn of the owner is over: take the lock if it is free, or else RESERVE it until it is
 *                6. when all polls are spent: sleep; unlock wakes me. The second time, or if sections are long, RESERVE it too
 *     unlock     owner me -> 0; wake the eldest if it sleeps
 *     the eldest, as it takes the lock, is a waiter no more, sets the limit for those behind, and hands on the permit
 *
 * So there are turns: the thread that had been the eldest locks and unlocks, undisturbed and at the price of two
 * instructions, until its turn is over, or it leaves the lock alone; the one whose turn is next polls meanwhile, and
 * those behind it sleep. A turn lasts about half a millisecond, and less where more than 60 wait, so that all their turns
 * take 30 milliseconds. It is counted in locks, since a count ends all turns alike, whatever the kernel does. How many
 * locks fit into that time, each thread measures after its own turn (turnLasted). The eldest ends a turn by reserving the
 * lock. If it does not run, the turn goes on up to the limit, which is four times as far: otherwise the lock would lie free
 * until the eldest runs.
 *
 * If an owner keeps the lock for all the polls of the eldest, either its section is long, or it has lost its processor. So
 * the eldest first sleeps without reserving the lock, and the owner may finish its turn. If that happens again, the eldest
 * takes sections for long: it reserves the lock before it sleeps, until somebody measures a faster pace.
 *
 * Where there is work between one section and the next, whoever polls sees the lock lie idle, and takes it without
 * waiting for its turn; so all processors work. While anybody waits whoever overtakes counts that in the word. So an
 * unchanged word tells the eldest that nobody has had the lock meanwhile, and a passer-by that at most an eldest has; a
 * count that has gone far tells both that the lock changes hands faster than they poll: a passer-by queues up, and the
 * eldest polls more seldom, so that the owner keeps its cache line.
 *
 * The bound. Let B be `max` of the object, and the base of a waiter the overtakings when it raised `waiters`, which
 * is before it took its ticket. From then on whoever takes the lock and is not the eldest adds 1 in the same
 * exchange, which fails if anything has changed, and only below the limit. Every limit ever stored was at most
 * base + B for the eldest of that time, or for the one whose turn had just come. Who waits behind that one took its
 * ticket later, when overtakings had at least reached that base. So while any waiter waits, every limit that anyone
 * can have read is at most the overtakings when it took its ticket, and B: it is overtaken B times at most, by however
 * many who come and go. lock reads the limit against a count that it only remembers: the exchange succeeds only if
 * that is the count still, so the limit is one of those read until now. Overtakings are counted modulo 2^29: nobody
 * stands still between a limit and its exchange for 2^27 of them, which take seconds.
 *
 * Nobody sleeps for ever:
 *     D9   SLEEPING against owner: the eldest sets SLEEPING and sees whether the word is free in one access, and
 *          unlock frees the word and sees SLEEPING in one
 *     D10  wake against the waker's store: the eldest clears wake before it sets SLEEPING, and sleeps only if it is clear
 *     the limit is reached: the eldest polls and takes the lock, or it sleeps and the owner's unlock wakes it. It looks at
 *         the word once more before it sleeps
 *     who waits behind the eldest: as in the semaphore; the permit is given back whenever an eldest is one no more
 *
 * R8: waiters and the ticket change together, and owner, waiters and the permit. Between the two accesses there is no
 * call and no loop, so an engine that stops a thread only there cannot stop it in between (reaping.ts).
 *
 * lock and unlock first exchange what this thread saw last, without a load: a pair is two locked instructions, also
 * while others wait (then with a look at the limit, before the exchange), and who is no owner is found out by the same.
 */
import { fallAsleep, me, objects, spare, threadRecord, wakeUp } from './arena';
import { recordOf } from './attachments';
import { elementAt } from './elements';
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
  E_REQUEST,
  E_SINCE,
  E_START,
  E_STATE,
  ELDEST,
  GRANT,
  KIND_MUTEX,
  M_CLOSED,
  M_COUNT_SHIFT,
  M_DIED,
  M_ELDEST,
  M_LIMIT,
  M_OVERTAKING,
  M_OWNER,
  M_PACE,
  M_RESERVED,
  M_SLEEPING,
  M_TURN,
  M_WAITER,
  M_WAITERS,
  M_WORD,
  MORE,
  NEVER,
  O_DEATHS,
  O_DIED,
  O_KIND,
  O_MAX,
  O_TIMEOUTS,
  OBJECT_SHIFT,
  OBJECT_SIZE,
  OWNER_SHIFT,
  QUEUED,
  REFUSED,
  RESERVED,
  T_WAKE,
  THREAD_MASK,
  TICKET,
  TIMED_OUT,
  WAITING,
} from './layout';
import { pause } from './pause';
import { isAdaptive, pollsOf, pollsPaid, pollsWereVain } from './polling';
import {
  amidst,
  becomeEldest,
  dispose,
  handedOn,
  isCompeting,
  leave,
  NOTHING,
  note,
  owner,
  recover,
  releasing,
  ring,
  standInLine,
  untilDue,
  wakeDue,
} from './semaphore';
import { mark } from './waiters';

/** Microseconds that a turn lasts. The pace of a lock is the overtakings in that time. */
const TURN: i64 = 500;
/** The turns of so many last 30 milliseconds together. Where more wait, turns are shorter. */
const MANY: i64 = 60;
/** If the eldest does not run, a turn may take so many times as many locks. */
const OVERTIME: i64 = 4;
/** The pace until somebody has measured it. */
const USUAL_PACE: i32 = 10_000;
const MOST_PACE: i32 = 1 << 17;
/**
 * A pace as low as this means that sections last 100 microseconds or more, or that hardly anybody comes. Then the eldest
 * reserves the lock before its first sleep.
 */
const SLOW: i32 = 5;
/**
 * How far the pace moves towards a new measurement: an eighth. A measurement counts as four times the pace so far at most,
 * and as a quarter of it at least.
 */
const PACE_SHIFT: i32 = 3;
const FARTHEST_SHIFT: i32 = 2;
/** Microseconds. Shorter times are not used: clocks are too coarse. */
const SHORTEST: i64 = 20;
/** So many pauses lie between two polls, shifted: a tenth of a microsecond. */
const PAUSES_SHIFT: i32 = 3;
/** Where the lock changes hands faster than that, so many times as many: the owner keeps its cache line meanwhile. */
const LONG_REST: i32 = 32;
/** A free lock lies idle when so many polls in a row have seen the same word. */
const IDLE: i32 = 1;
/** The same for the eldest when others wait behind it: to take the lock then wakes one of them. */
const IDLE_OF_MANY: i32 = 8;
/** The eldest polls no longer than this, whatever it sees. */
const MOST_POLLS: i32 = 20_000;
/** Whoever polls, and has seen more overtakings than this since it began, stops. */
const BUSY: i32 = 16;
/** Shifts a difference of overtakings, which are counted modulo 2^29, to the sign. */
const SIGN: i32 = 3;

/** The word as this thread has last seen or made it, but free. */
let guess: i64 = 0;
/** Overtakings when this thread came to wait. */
let base: i32 = 0;
/** Whether nobody waited then, so that no limit is set. */
let first: bool = false;
/** Whether this thread has slept as the eldest since it came to wait. */
let slept: bool = false;
/** The mutex that this thread has last taken as the eldest, and the overtakings then. 0: none, or its turn is measured. */
let turnOf: usize = 0;
let turnFrom: i32 = 0;

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

function overtakings(w: i64): i32 {
  return (w >> M_COUNT_SHIFT) as i32;
}

/** How often whoever waits may still be overtaken, times 2 ** SIGN. */
function left(m: usize, w: i64): i32 {
  return (atomic.load<i32>(m, M_LIMIT) - overtakings(w)) << SIGN;
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
  base = overtakings(before);
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
  // As acquire does, which would be a call.
  mark(m, spare);
  const object = ((m - objects) / OBJECT_SIZE) as i64;
  atomic.store<i64>(spare, start, E_START);
  atomic.store<i64>(spare, (owner << OWNER_SHIFT) | (object << OBJECT_SHIFT) | 1, E_REQUEST);
  atomic.store<i64>(spare, atomic.load<i64>(spare, E_STATE) + (WAITING - RESERVED), E_STATE); // R1 and R8 end
  standInLine();
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
  let unchanged = IDLE;
  let polls = patience(m) >> 1;
  // An eldest that is awake takes the lock soon, though it has reserved it.
  while ((w & M_CLOSED) === 0 && (w & (M_RESERVED | M_SLEEPING)) !== (M_RESERVED | M_SLEEPING)) {
    if ((w & M_OWNER) === 0 && unchanged >= IDLE) {
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

/**
 * The eldest waits for the lock: ADMITTED or ANSWER_CLOSED. It sleeps once for so many nanoseconds at most (below 0:
 * until it has the lock), or less, and then may answer TIMED_OUT: it is the eldest still, and compete again or forgo
 * must follow.
 */
export function compete(m: usize, nanoseconds: i64, attachment: i32): i32 {
  if (first) {
    setLimit(m, atomic.load<i64>(m, M_WORD));
    first = false;
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
    slept = true;
    sleeps = nanoseconds < 0;
  }
}

/** Whether the turn of the thread that was the eldest before is over. */
function isOver(m: usize, w: i64): bool {
  return (atomic.load<i32>(m, M_TURN) - overtakings(w)) << SIGN <= 0;
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
  return unchanged >= ((w & M_WAITERS) > M_WAITER ? IDLE_OF_MANY : IDLE);
}

/** So many polls last as long as a park and a wake-up. */
function patience(m: usize): i32 {
  const polls = pollsOf(m);
  return isAdaptive(m) ? polls >> PAUSES_SHIFT : polls;
}

/**
 * The thread has found the lock contended. So many microseconds ago it took the lock as the eldest. The overtakings since
 * then tell the pace.
 */
export function turnLasted(m: usize, microseconds: i32): void {
  if (turnOf !== m) return;
  turnOf = 0;
  const known = paceOf(m);
  const count = ((overtakings(atomic.load<i64>(m, M_WORD)) - turnFrom) << SIGN) >> SIGN;
  let pace = known << 1;
  if ((microseconds as i64) >= SHORTEST) {
    const measured = min(((count as i64) * TURN) / (microseconds as i64), MOST_PACE as i64) as i32;
    pace = max(known >> FARTHEST_SHIFT, min(measured, known << FARTHEST_SHIFT));
  } else if ((count as i64) * TURN < (known as i64) * SHORTEST) return;
  setPace(m, known + ((pace - known) >> PACE_SHIFT) + (pace > known ? 1 : 0));
}

function setPace(m: usize, pace: i32): void {
  atomic.store<i32>(m, max(1, min(pace, MOST_PACE)), M_PACE);
}

function paceOf(m: usize): i32 {
  const known = atomic.load<i32>(m, M_PACE);
  return known === 0 ? USUAL_PACE : known;
}

/** Overtakings from one state of the word to a later one. */
function passed(from: i64, to: i64): i32 {
  return ((overtakings(to) - overtakings(from)) << SIGN) >> SIGN;
}

/** Whether the lock is taken again so soon that polls miss it. */
function isBusy(w: i64, before: i64): bool {
  return (overtakings(w) - overtakings(before)) << SIGN > BUSY << SIGN;
}

function rest(polls: i32): void {
  for (let i = polls << PAUSES_SHIFT; i > 0; i--) pause();
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
  guess = free;
  if (movesLimit) {
    setLimit(m, w);
    turnOf = m;
    turnFrom = overtakings(w);
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

/** Whoever takes the lock next is to ask how many owners have died. */
export function ownerHasDied(m: usize): void {
  atomic.or<i64>(m, M_DIED, M_WORD);
}

function setLimit(m: usize, w: i64): void {
  const now = overtakings(w);
  const most = atomic.load<i32>(m, O_MAX);
  const spent = ((now - base) << SIGN) >> SIGN;
  const waiters = max((w & M_WAITERS) / M_WAITER, 1);
  const pace = paceOf(m) as i64;
  // The last in line waits through the turns of all before it. Together they must stay within the bound.
  const share = (most as i64) / (waiters + 1);
  const turn = waiters > MANY ? (pace * MANY) / waiters : pace;
  atomic.store<i32>(m, now + min(max(min(turn, share), 1) as i32, most - spent), M_TURN);
  atomic.store<i32>(m, now + min(max(min(turn * OVERTIME, share), 1) as i32, most - spent), M_LIMIT);
}
