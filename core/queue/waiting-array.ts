/**
 * The waiting array: buckets that all objects of the arena share (the idea of the papers; Listing 2).
 *
 * A bucket is one cache line, which a hash of object and ticket chooses. A TwaSemaphore uses the sequence word of the
 * bucket, as in the listing. The queue uses its cells: a waiter enters the number of its wait element in a free cell,
 * and a releasing thread looks at the elements entered there. A full line chains to an overflow line, which it keeps
 * for good.
 *
 * The hash is ticket-aware, as the design rules of the listing ask: semaphore + ticket * 17. So consecutive tickets
 * land on lines that are not neighbours, and any B tickets in a row visit B different buckets, since the multiplier is
 * odd. The bounded scan of a release relies on that. The papers name other hashes, which the semaphores of the
 * algorithms can have (algorithms/hashes.ts); docs/internals/hashes.md says why this one stays.
 *
 * The ticket is taken already, so entering must not fail: when no overflow line of its own is left for a bucket, the
 * bucket chains to the common lines. Those follow each other by address and have room for every element of the
 * arena, twice. A line may serve many buckets, since the words of an element tell to which semaphore it belongs.
 */
import { bucketMask, buckets, common, elements, lineCapacity, lines } from '../memory/arena';
import { indexOf } from '../memory/elements';
import { B_CELLS, B_NEXT, E_CELLS, LINE, OBJECT_SIZE, T_COLLISIONS, USED_LINES } from '../memory/layout';
import { count } from '../memory/threads';

export const MULTIPLIER: u32 = 17;
const SPREAD: u32 = 0x9e3779b1;

/** Spreads semaphores, which lie next to one another (Fibonacci hashing). The upper half is added to the tickets. */
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
 * call or return lies between the two, so a reaper finds the cell of a dead thread (R5).
 */
function enter(semaphore: usize, ticket: i64, e: usize, offset: usize): void {
  const number = (indexOf(e) + 1) as i32;
  let line = bucketOf(semaphore, ticket);
  // No load comes before this, since the line is usually in another cache and has to come for a write anyway.
  // D2 write, R5 begins
  if (atomic.cmpxchg<i32>(line, 0, number, B_CELLS) === 0) {
    atomic.store<u32>(e + offset, (line + B_CELLS) as u32); // R5 ends
    return;
  }
  count(T_COLLISIONS);
  while (true) {
    for (let cell = line; cell < line + (LINE - B_CELLS); cell += 4) {
      if (atomic.load<i32>(cell, B_CELLS) !== 0) continue;
      if (atomic.cmpxchg<i32>(cell, 0, number, B_CELLS) !== 0) continue; // D2 write, R5 begins
      atomic.store<u32>(e + offset, (cell + B_CELLS) as u32); // R5 ends
      return;
    }
    line = nextLine(line);
  }
}

/** Returns the line after a full one, and makes it if there is none. A thread that loses the race uses the winner's. */
function nextLine(line: usize): usize {
  // The common lines have room, but it may have moved behind this thread. So it looks again from their start.
  if (line + LINE === elements) return common;
  const next = atomic.load<u32>(line, B_NEXT) as usize;
  if (next) return next;
  const fresh = freshLine(line);
  const winner = atomic.cmpxchg<u32>(line, 0, fresh as u32, B_NEXT) as usize;
  return winner ? winner : fresh;
}

function freshLine(line: usize): usize {
  if (line >= common) return line + LINE;
  while (true) {
    const used = atomic.load<u32>(USED_LINES);
    if (used === lineCapacity) return common;
    if (atomic.cmpxchg<u32>(USED_LINES, used, used + 1) === used) return lines + (used as usize) * LINE;
  }
}

/**
 * Enters an element under its last ticket, where a releasing thread meets it when it is due. A heavy one is entered
 * under its first ticket too: if it is cancelled, its width goes to grant once grant passes that ticket. The element
 * must be in no cell before.
 */
export function enterBoth(s: usize, e: usize, start: i64, due: i64): void {
  const last = due - 1;
  enter(s, last, e, E_CELLS);
  if (start !== last && bucketOf(s, start) !== bucketOf(s, last)) enter(s, start, e, E_CELLS + 4);
}
