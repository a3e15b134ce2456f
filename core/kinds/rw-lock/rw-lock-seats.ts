/**
 * The part of a RwLock that the death of a thread needs: the thread stops reading, and the writer that waits for it is
 * woken. rw-lock.ts has the rest.
 */

import { threadRecord } from '../../arena/threads';
import { LINE } from '../../arena/words';
import { ALL } from '../../queue/words';
import { O_DRAIN, SEAT_FLAGS, SEAT_SIZE } from './words';

/** The index of no thread. With this index clearSeats only wakes the writer. */
export const NOBODY: i32 = 0;

/**
 * Ends what a thread reads of the lock, or waits to read, and wakes the writer that waits until readers have left. The
 * caller may be the reaper of the thread, and may do this again.
 */
export function clearSeats(o: usize, thread: i32): void {
  let p = threadRecord(thread + 1);
  do {
    p -= SEAT_SIZE;
    if ((atomic.load<u32>(p, 4) & ~SEAT_FLAGS) === (o as u32)) atomic.store<i64>(p, 0); // D14 write
  } while (p % LINE !== 0);
  // An earlier reaper may have died before it woke the writer, or the thread itself may have died when it left.
  atomic.add<i32>(o, 1, O_DRAIN);
  atomic.notify(o + O_DRAIN, ALL);
}
