/**
 * The marks of an object: 32 bits that tell in which parts of the pool its waiters are. A part has 256 elements, and
 * each bit stands for every 32nd part. A bit is set before an element says that it waits on the object, and stays set
 * while the object lives. So a disposer looks only into marked parts, however many elements have ever been used.
 */
import { ELEMENT_SIZE, O_WHERE } from '../arena/words';

/** The bytes of a part of the pool, as a power of two. */
const PART: usize = 14;
const LAST: usize = (1 << 14) - ELEMENT_SIZE;

/**
 * Marks the part of an element that is about to wait on the object. It is inlined into an uninterruptible section. A
 * bit stays set, so threads that wait again and again only read the line.
 * @inline
 */
export function mark(s: usize, e: usize): void {
  const bit = 1 << ((e >> PART) as i32);
  if ((atomic.load<i32>(s, O_WHERE) & bit) === 0) atomic.or<i32>(s, bit, O_WHERE); // D6 write
}

/** Returns the marks of an object; 0 if it never had a waiter. */
export function whereOf(s: usize): i32 {
  return atomic.load<i32>(s, O_WHERE); // D6 read
}

export function isMarked(where: i32, e: usize): bool {
  return ((where >> ((e >> PART) as i32)) & 1) !== 0;
}

/** Returns the last element of the same part. A part begins with an element, since both sizes are powers of two. */
export function lastOfPart(e: usize): usize {
  return e | LAST;
}
