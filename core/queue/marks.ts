/**
 * In which parts of the pool the waiters of an object are: 32 bits, of which each stands for every 32nd part of 256
 * elements. A bit is set before an element says that it waits on the object, and stays for as long as that lives. So
 * who disposes of it looks into the parts alone that were marked, however many elements others have ever used.
 */
import { ELEMENT_SIZE, O_WHERE } from '../memory/layout';

/** Bytes of a part of the pool, as a power of two. */
const PART: usize = 14;
const LAST: usize = (1 << 14) - ELEMENT_SIZE;

/**
 * The element is about to wait on the object. Part of its caller, in a straight run. A bit that is set stays, so that
 * threads which wait again and again only read the line.
 */
export function mark(s: usize, e: usize): void {
  const bit = 1 << ((e >> PART) as i32);
  if ((atomic.load<i32>(s, O_WHERE) & bit) === 0) atomic.or<i32>(s, bit, O_WHERE); // D6 write
}

/** Where there may be waiters of an object; 0 if nowhere. */
export function whereOf(s: usize): i32 {
  return atomic.load<i32>(s, O_WHERE); // D6 read
}

export function isMarked(where: i32, e: usize): bool {
  return ((where >> ((e >> PART) as i32)) & 1) !== 0;
}

/** The last element of the same part: parts begin with an element, since the sizes of both are powers of two. */
export function lastOfPart(e: usize): usize {
  return e | LAST;
}
