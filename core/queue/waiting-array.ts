/**
 * The waiting array: buckets that all objects of the arena share (the idea of the papers; Listing 2).
 *
 * A bucket is one cache line, which a hash of object and ticket chooses. The queue uses the cells of the bucket: a
 * waiter enters the number of its wait element in a free cell, and a releasing thread looks at the elements entered
 * there. The other words of a bucket belong to the algorithms of the papers.
 *
 *     bucket 0   bucket 1   bucket 2   bucket 3     a bucket that is full goes on below, in lines of its own, and
 *     line       line       line       line         then in the common lines, which follow each other by address
 *     line       line       line       line
 *     common, common, common, ...                   extent of bucket 2 is 3: an element stands in the first common line
 *
 * The extent of a bucket tells how many lines after the bucket a thread looks through. A waiter raises the extent when
 * it has entered its element in a line beyond the extent. A releasing thread that finds the last of these lines empty
 * lowers the extent (trim). So later looks take no longer after a burst of waiters.
 *
 * The hash is first + ticket * 17, modulo the number of buckets B. In the listing `first` is the address of the
 * semaphore. Here `first` comes from the number of the object (spread): objects are 128 bytes apart, so with plain
 * addresses all semaphores would begin at 16 of 2,048 buckets. The design rules of the listing ask that the hash
 * depends on the ticket, and that consecutive tickets land on lines that are not neighbours. The multiplier is odd and
 * B is a power of two, so any B tickets in a row visit B different buckets. A release relies on this: it looks at no
 * more than B tickets (wakeDue in queue.ts). The papers name other hashes, which the semaphores of the algorithms can
 * have (papers/hashes.ts). docs/internals/hashes.md says why the queue keeps this hash.
 *
 * A waiter enters its element after it has taken its ticket, so entering must not fail: the common lines have room for
 * every element of the arena, twice. A common line may serve many buckets, because the words of an element tell to
 * which semaphore the element belongs.
 */
import { bucketMask, buckets, common, elements } from '../arena/arena';
import { indexOf } from '../arena/elements';
import { count, me } from '../arena/threads';
import { E_CELLS, LINE, OBJECT_SIZE, T_COLLISIONS } from '../arena/words';
import { B_CELLS, B_EXTENT, EXTENT_MASK, TRIMMER_SHIFT } from './words';

export const MULTIPLIER: u32 = 17;
const SPREAD: u32 = 0x9e3779b1;

/**
 * Spreads semaphores, which lie next to one another (Fibonacci hashing). keyOf adds the upper half of the result to the
 * tickets.
 */
export function spread(semaphore: usize): u32 {
  return ((semaphore / OBJECT_SIZE) as u32) * SPREAD;
}

/** Returns the hash. Its low bits (bucketMask) choose the bucket. */
export function keyOf(semaphore: usize, ticket: i64): u32 {
  return (spread(semaphore) >> 16) + (ticket as u32) * MULTIPLIER;
}

export function bucketOf(semaphore: usize, ticket: i64): usize {
  return buckets + ((keyOf(semaphore, ticket) & bucketMask) as usize) * LINE;
}

/**
 * Enters an element in the bucket of the ticket, and stores the address of the cell in the element, at this offset. No
 * call or return lies between the two steps, so a reaper finds the cell of a dead thread (R5).
 */
function enter(semaphore: usize, ticket: i64, e: usize, offset: usize): void {
  const number = (indexOf(e) + 1) as i32;
  const bucket = bucketOf(semaphore, ticket);
  // The thread does not load the cell before this exchange. The line is usually in another cache, and a load would
  // fetch the line only for reading, and the exchange would fetch it again for writing.
  // D2 write, R5 begins
  if (atomic.cmpxchg<i32>(bucket, 0, number, B_CELLS) === 0) {
    atomic.store<u32>(e + offset, (bucket + B_CELLS) as u32); // R5 ends
    return;
  }
  count(T_COLLISIONS);
  let line = bucket;
  let depth: i32 = 0;
  while (true) {
    for (let cell = line; cell < line + (LINE - B_CELLS); cell += 4) {
      if (atomic.load<i32>(cell, B_CELLS) !== 0) continue;
      if (atomic.cmpxchg<i32>(cell, 0, number, B_CELLS) !== 0) continue; // D2 write, R5 begins
      atomic.store<u32>(e + offset, (cell + B_CELLS) as u32); // R5 ends
      if (depth) raise(bucket, depth);
      return;
    }
    line = lineAfter(line);
    depth++;
    if (line < elements) continue;
    // The thread has found every cell taken. But the common lines have room for all elements, so a cell that the
    // thread has passed has become free meanwhile. The thread begins again.
    line = bucket;
    depth = 0;
  }
}

/** Returns the line in which a bucket goes on after this one. */
export function lineAfter(line: usize): usize {
  return line < common ? min(line + ((bucketMask as usize) + 1) * LINE, common) : line + LINE;
}

/** Returns how many lines after the bucket a thread that seeks an element of the bucket looks through. */
export function extentOf(bucket: usize): i32 {
  return atomic.load<i32>(bucket, B_EXTENT) & EXTENT_MASK; // D2 read
}

/**
 * Makes the extent of a bucket cover the line of this depth, in which the caller has just taken a cell. Another thread
 * may be trimming the bucket, and may have found this cell empty. So the caller wipes out the number of this thread,
 * and the trimming fails (trim).
 */
function raise(bucket: usize, depth: i32): void {
  while (true) {
    const word = atomic.load<i32>(bucket, B_EXTENT);
    const extent = max(word & EXTENT_MASK, depth);
    if (word === extent || atomic.cmpxchg<i32>(bucket, word, extent, B_EXTENT) === word) return; // D2 write
  }
}

/**
 * Lowers the extent of a bucket to its last line that is not empty. The caller writes its number beside the extent,
 * looks through the lines, and then exchanges the word that it has written. A waiter takes a cell before it raises the
 * extent, and raising the extent wipes out the number. So if the exchange succeeds, no waiter has raised the extent
 * since the caller wrote its number. A waiter that raises the extent later finds the lower extent. No other thread
 * writes the number of the caller, so no other thread can have written the same word again.
 *
 * Another thread that trims the same bucket replaces the number of the caller by its own. The keeper has no number: it
 * never trims.
 */
export function trim(bucket: usize): void {
  const word = atomic.load<i32>(bucket, B_EXTENT);
  const extent = word & EXTENT_MASK;
  const mine = extent | (me << TRIMMER_SHIFT);
  if (me === 0 || atomic.cmpxchg<i32>(bucket, word, mine, B_EXTENT) !== word) return;
  let line = bucket;
  let deepest: i32 = 0;
  for (let depth: i32 = 1; depth <= extent; depth++) {
    line = lineAfter(line);
    for (let cell = line; cell < line + (LINE - B_CELLS); cell += 4) {
      if (atomic.load<i32>(cell, B_CELLS) !== 0) deepest = depth;
    }
  }
  atomic.cmpxchg<i32>(bucket, mine, deepest, B_EXTENT);
}

/**
 * Enters an element under the last ticket of its request, where a releasing thread finds it when the request is due. If
 * the request has several tickets, the element is entered under the first ticket too. For if the request is cancelled,
 * the thread that moves grant past the first ticket must find the element there, and adds the width of the request to
 * grant. The element must be in no cell before.
 */
export function enterBoth(s: usize, e: usize, start: i64, due: i64): void {
  const last = due - 1;
  enter(s, last, e, E_CELLS);
  if (start !== last && bucketOf(s, start) !== bucketOf(s, last)) enter(s, start, e, E_CELLS + 4);
}
