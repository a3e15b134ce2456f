/**
 * Reaping: what a dead thread waited for, held and referred to goes back, and what it left undone is done.
 *
 * An engine stops a thread only where it enters a function or goes round a loop, or in its sleep. Between those
 * points lie the straight runs R1 to R7, so that whatever it was at, the pool tells how far it had come:
 *
 *     element in its name                 means                            what is done
 *     WAITING, GRANTED, CLOSED, AWAKE     it waited                        given up in its name (giving-up.ts)
 *     ATTACHED                            it referred to an object,        permits go back, whoever acquires next
 *                                         and held so many permits of it   learns of the death; the reference goes
 *     RESERVED                            a spare                          freed
 *     element in any other name, of an object that it was attached to
 *     WAITING, and due or closed          it died in release or dispose    granted or closed
 *     GRANTED, CLOSED                     it may have died before notify   notified again
 *     ABANDONED, and passed               it died before it claimed it     claimed
 *
 * Why nothing is lost: granting is idempotent and open to all, since grant says who is due; so a poster needs to
 * leave no trace but the change of grant itself. The permits of a tombstone are added by the one who claims it, in
 * a straight run.
 *
 * One thread reaps at a time: REAPER says who, by index and life, so that it can be told when that one is dead in
 * turn, and the next goes on in its place. Every step may be done again from its beginning. Whoever declares a
 * death first marks the record DEAD and then looks at REAPER; who has reaped first frees REAPER and then looks for
 * records that are DEAD. So none is left, and nobody waits (D8).
 *
 * The record of the dead thread is freed last. Until then its attachments keep what they refer to from being
 * freed, so that the sweep does not touch a stranger.
 */
import { detach } from '../memory/attachments';
import { elementAt, freeElement, indexOf, usedElements } from '../memory/elements';
import {
  ABANDONED,
  ALIVE,
  ASLEEP,
  ATTACHED,
  AWAKE,
  CLOSED,
  CLOSED_BELOW,
  DEAD,
  E_REQUEST,
  E_START,
  E_STATE,
  GONE,
  GRANT,
  GRANTED,
  IDLE,
  LIFE_EPOCH,
  LIFE_STATE,
  OWNER_SHIFT,
  REAPED,
  REAPER,
  RESERVED,
  STATE_MASK,
  STILL_AWAKE,
  T_HOST,
  T_LIFE,
  THREAD_MASK,
  WAITING,
  WIDTH_MASK,
} from '../memory/layout';
import { freeDrafts } from '../memory/names';
import { FREE, freeUnfinished, isDisposed, objectOf } from '../memory/objects';
import { lifeOf, me, mostThreads, myLife, threadRecord } from '../memory/threads';
import { disposeOf, ownerDied } from '../primitives/kinds';
import { giveUpFor, passOn } from '../queue/cancelling';
import { amidst, NOTHING, recover } from '../queue/pending-call';
import { moveOn, ring, tell } from '../queue/waking';

/**
 * Declares a thread dead that was registered with this life, and reaps it, unless somebody reaps just now, who then
 * does it. The thread must have ended, or sleep in park; with `asleep`, it is reaped only if it sleeps in park.
 * REAPED, GONE if it was reaped before or has ended by itself, or STILL_AWAKE. Never blocks.
 */
export function reap(thread: i32, life: i32, asleep: bool): i32 {
  if (amidst !== NOTHING) recover();
  const answer = declareDead(threadRecord(thread), life, asleep);
  while (anyDead() && takeTurn()) {
    for (let i = 1; i <= mostThreads(); i++) if ((lifeOf(i) & LIFE_STATE) === DEAD) finish(i);
    atomic.cmpxchg<i64>(REAPER, myself(), 0); // D8 write
  }
  // Promises of this very thread that are due by now are not rung for by those who make them due.
  ring(me);
  return answer;
}

function declareDead(record: usize, life: i32, asleep: bool): i32 {
  while (true) {
    const now = atomic.load<i32>(record, T_LIFE);
    const state = now & LIFE_STATE;
    if (now - state !== life - ALIVE || state === DEAD || state === FREE) return GONE;
    if (asleep && state !== ASLEEP) return STILL_AWAKE;
    if (atomic.cmpxchg<i32>(record, now, now - state + DEAD, T_LIFE) === now) return REAPED; // D8 write
  }
}

function anyDead(): bool {
  for (let i = 1; i <= mostThreads(); i++) if ((lifeOf(i) & LIFE_STATE) === DEAD) return true; // D8 read
  return false;
}

function myself(): i64 {
  return ((me as i64) << 32) | (myLife as i64);
}

/** Becomes the one who reaps, if nobody does, or who does is dead. */
function takeTurn(): bool {
  const reaper = atomic.load<i64>(REAPER); // D8 read
  // Its own turn, if that was cut short by an exception that the thread survived.
  if (reaper === myself()) return true;
  if (reaper !== 0 && lifeOf((reaper >> 32) as i32) === (reaper as i32)) return false;
  return atomic.cmpxchg<i64>(REAPER, reaper, myself()) === reaper;
}

function finish(thread: i32): void {
  bury(thread, true);
  const life = lifeOf(thread);
  // Before another thread has the record: the name would be taken for its own until it has stored that.
  atomic.store<i32>(threadRecord(thread), 0, T_HOST);
  atomic.cmpxchg<i32>(threadRecord(thread), life, life + (FREE - DEAD) + LIFE_EPOCH, T_LIFE);
}

/** Leaves nothing in the name of a thread that is dead, and may have been killed, or of this one, which ends. */
export function bury(thread: i32, killed: bool): void {
  giveUpAll(thread);
  if (killed) sweep(thread);
  const used = usedElements();
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    const is = stateIf(e, thread);
    if (is === ATTACHED) giveBack(e, thread);
    else if (is === RESERVED) freeElement(e);
  }
  freeUnfinished(thread);
  freeDrafts(thread);
}

/**
 * The state of an element of this thread; IDLE if it is another's. The state is read first: a thread that is dead or
 * ends takes no element any more, so what is its own by then was so before. The other way round the element could
 * be a tombstone of the thread at the first look, and a live thread's at the second.
 */
function stateIf(e: usize, thread: i32): i64 {
  const state = atomic.load<i64>(e, E_STATE) & STATE_MASK;
  const who = (atomic.load<i64>(e, E_REQUEST) >> OWNER_SHIFT) as i32;
  return (who & THREAD_MASK) === thread ? state : IDLE;
}

function giveUpAll(thread: i32): void {
  const used = usedElements();
  for (let i: u32 = 0; i < used; i++) {
    const is = stateIf(elementAt(i), thread);
    if (is === WAITING || is === GRANTED || is === CLOSED || is === AWAKE) giveUpFor(elementAt(i));
  }
}

/** Gives back what an attachment holds, and lets go. */
function giveBack(e: usize, thread: i32): void {
  const s = objectOf(atomic.load<i64>(e, E_REQUEST));
  ownerDied(s, thread, e);
  // It may have died in dispose.
  if (isDisposed(s)) disposeOf(s);
  detach((indexOf(e) + 1) as i32);
}

/** Does what a dead poster, giver or disposer may have left undone to others. */
function sweep(thread: i32): void {
  const used = usedElements();
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    const state = atomic.load<i64>(e, E_STATE);
    const is = state & STATE_MASK;
    if (is !== WAITING && is !== GRANTED && is !== CLOSED && is !== ABANDONED) continue;
    const request = atomic.load<i64>(e, E_REQUEST);
    const s = objectOf(request);
    const start = atomic.load<i64>(e, E_START);
    const ahead = atomic.load<i64>(s, GRANT) - start;
    const closed = ahead < CLOSED_BELOW;
    const due = is === WAITING ? ahead >= (request & WIDTH_MASK) : is !== ABANDONED || ahead > 0;
    if ((!due && !closed) || !attached(thread, s)) continue;
    if (is === WAITING) moveOn(e, state, closed ? CLOSED : GRANTED, request);
    else if (is === ABANDONED) passOn(s, e, state, start);
    else tell(e, request);
  }
}

function attached(thread: i32, s: usize): bool {
  const used = usedElements();
  for (let i: u32 = 0; i < used; i++) {
    const e = elementAt(i);
    if (stateIf(e, thread) === ATTACHED && objectOf(atomic.load<i64>(e, E_REQUEST)) === s) return true;
  }
  return false;
}
