/**
 * TtsLock, the polite test-and-test-and-set lock: the inner lock of Listings 1 and 2 of Dice, Capacitors.
 *
 *     word   0               free
 *            thread          held
 *            thread | PARKED held, and a thread may be parked on the word
 *            ... | SHUT      disposed of: nobody gets it any more
 *
 * | from | to        | who                           | how     |
 * |------|-----------|-------------------------------|---------|
 * | 0    | thread    | a thread that sees it free    | cmpxchg |
 * | held | \| PARKED | a waiter about to park        | cmpxchg |
 * | held | 0         | the owner; a SHUT there stays | and     |
 * | any  | \| SHUT   | a thread that disposes        | or      |
 *
 * Exclusion: a thread gets the lock by a cmpxchg from 0, and only the owner's unlock sets the word back to 0. A waiter
 * looks at the word before it tries the cmpxchg, so while the lock is held it only reads.
 *
 * Why no waiter sleeps for ever: a waiter compares the word, with PARKED in it, and goes to sleep in one step. A thread
 * that removes PARKED or sets SHUT first changes the word and then wakes all waiters. A waiter that parks again sets
 * PARKED again. Several threads may wait on one word, so a thread wakes all of them: a single woken thread could be
 * terminated at this moment, and the others would sleep on.
 *
 * The lock is not fair: any thread may take it when it is free, and nothing bounds how often a waiter is overtaken.
 */

import { ADMITTED, ANSWER_CLOSED, ANSWER_HELD, ANSWER_NOT_HELD, REFUSED } from '../answers';
import { closeObject } from '../arena/objects';
import { me } from '../arena/threads';
import { O_SPIN, TICKET } from '../arena/words';
import { relax } from './relax';

const WORD: usize = TICKET;
const OWNER: i32 = 0xfff;
const PARKED: i32 = 0x1000;
const SHUT: i32 = 0x2000;

/**
 * Blocks until this thread has the lock. Returns ADMITTED, ANSWER_CLOSED or ANSWER_HELD.
 * @replaced by src/papers/algorithms/compiled.ts: throws, in a thread that must not block
 */
export function ttsLock(s: usize): i32 {
  return atomic.cmpxchg<i32>(s, 0, me, WORD) === 0 ? ADMITTED : wait(s);
}

/** Takes the lock if it is free. Returns ADMITTED, REFUSED or ANSWER_CLOSED. */
export function ttsTryLock(s: usize): i32 {
  const word = atomic.load<i32>(s, WORD);
  if (word === 0 && atomic.cmpxchg<i32>(s, 0, me, WORD) === 0) return ADMITTED;
  return word & SHUT ? ANSWER_CLOSED : REFUSED;
}

function wait(s: usize): i32 {
  const budget = atomic.load<i32>(s, O_SPIN);
  let polls = budget;
  while (true) {
    const word = atomic.load<i32>(s, WORD);
    if (word & SHUT) return ANSWER_CLOSED;
    if (word === 0) {
      if (atomic.cmpxchg<i32>(s, 0, me, WORD) === 0) return ADMITTED;
    } else if ((word & OWNER) === me) return ANSWER_HELD;
    else if (polls !== 0) polls = relax(polls);
    else if (word & PARKED || atomic.cmpxchg<i32>(s, word, word | PARKED, WORD) === word) {
      atomic.wait<i32>(s + WORD, word | PARKED, -1);
      polls = budget;
    }
  }
}

/** Gives the lock back. Returns ADMITTED or ANSWER_NOT_HELD. Never blocks. */
export function ttsUnlock(s: usize): i32 {
  if ((atomic.load<i32>(s, WORD) & OWNER) !== me) return ANSWER_NOT_HELD;
  if (atomic.and<i32>(s, SHUT, WORD) & PARKED) atomic.notify(s + WORD, -1);
  return ADMITTED;
}

/** Disposes of the lock, and wakes its waiters. If the calling thread holds the lock, it gives the lock back. */
export function ttsDispose(s: usize): void {
  if (!closeObject(s)) return;
  if (atomic.or<i32>(s, SHUT, WORD) & PARKED) atomic.notify(s + WORD, -1);
  ttsUnlock(s);
}
