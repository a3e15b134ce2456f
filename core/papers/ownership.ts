/**
 * The owner of a lock, in the lock itself. A word has the owner's number and its queue node, so that lock and unlock
 * need no token, and all library objects of one lock in one thread are one owner.
 *
 * Only the owner writes the word, after it has got the lock and before it gives it back. So a thread holds the lock if
 * and only if it reads its own number there: the values that other threads write are never its number.
 *
 * The word is on the object's second line, where no waiter polls. A thread that holds no lock at all need not read the
 * word. So a hand-over has only one cache miss on this word: when the next owner stores its number there. When the old
 * owner cleared the word, this was no miss, because the line was in its cache.
 */

import { me } from '../arena/threads';
import { O_OWNER } from '../arena/words';

/**
 * How many locks the calling thread holds. The number may be too high: a lock that another thread has disposed of may
 * stay counted.
 */
let held: i32 = 0;

/** Whether the calling thread holds the lock. */
export function holds(lock: usize): bool {
  return held !== 0 && (atomic.load<i64>(lock, O_OWNER) as i32) === me;
}

/** Called when the calling thread has got the lock. */
export function own(lock: usize, node: usize = 0): void {
  held++;
  atomic.store<i64>(lock, ((node as i64) << 32) | (me as i64), O_OWNER);
}

/** Called when the calling thread is about to give the lock back. */
export function disown(lock: usize): void {
  held--;
  atomic.store<i64>(lock, 0, O_OWNER);
}

/** Returns the queue node with which the calling thread holds the lock; 0 if it does not hold it. */
export function nodeOf(lock: usize): usize {
  const owner = atomic.load<i64>(lock, O_OWNER);
  return (owner as i32) === me ? ((owner >> 32) as usize) : 0;
}
