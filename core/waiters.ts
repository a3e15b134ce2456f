/**
 * In which parts of the pool the waiters of an object are: 64 bits, of which each stands for every 64th part of 256
 * elements. A bit is set before an element says that it waits on the object, and stays for as long as that lives. So
 * who disposes of it looks into the parts alone that were marked, however many elements others have ever used.
 */
import { ELEMENT_SIZE, O_WHERE } from './layout';

/** Bytes of a part of the pool, as a power of two. */
const PART: i64 = 14;
const LAST: usize = (1 << 14) - ELEMENT_SIZE;

/** The element is about to wait on the object. Part of its caller, in a straight run. */
export function mark(s: usize, e: usize): void {
  atomic.or<i64>(s, 1 << ((e as i64) >> PART), O_WHERE); // D6 write
}

/** Whether any element may wait on an object. */
export function whereOf(s: usize): i64 {
  return atomic.load<i64>(s, O_WHERE); // D6 read
}

export function isMarked(where: i64, e: usize): bool {
  return ((where >> ((e as i64) >> PART)) & 1) !== 0;
}

/** The last element of the same part: parts begin with an element, since the sizes of both are powers of two. */
export function lastOfPart(e: usize): usize {
  return e | LAST;
}
