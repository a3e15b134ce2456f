/**
 * Who holds a lock, in the lock itself: the owner's number and its queue node, so that lock and unlock need no
 * token, and however many library objects of a lock a thread has, it is one owner.
 *
 * Only the owner writes the word, after it has got the lock and before it gives it back. So a thread that reads
 * its own number there holds the lock, and one that does not, does not: what the others write is never its number.
 */

import { O_OWNER } from '../memory/layout';
import { me } from '../memory/threads';

/** Whether the calling thread holds the lock. */
export function holds(lock: usize): bool {
  return (atomic.load<i64>(lock, O_OWNER) as i32) === me;
}

/** The calling thread has got the lock. */
export function own(lock: usize, node: usize = 0): void {
  atomic.store<i64>(lock, ((node as i64) << 32) | (me as i64), O_OWNER);
}

/** The calling thread is about to give it back. */
export function disown(lock: usize): void {
  atomic.store<i64>(lock, 0, O_OWNER);
}

/** The queue node with which the calling thread holds the lock; 0 if it does not hold it. */
export function nodeOf(lock: usize): usize {
  const owner = atomic.load<i64>(lock, O_OWNER);
  return (owner as i32) === me ? ((owner >> 32) as usize) : 0;
}
