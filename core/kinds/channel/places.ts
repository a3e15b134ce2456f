/** Where the places of a channel lie, and what their marks say. Both ends use this file, and so does the reaper. */
import { O_MAX, O_THRESHOLD, RECEIVES } from '../../arena/words';
import { P_DATA, P_PEER } from './words';

/** Returns the other end. */
export function peerOf(o: usize): usize {
  return atomic.load<u32>(o, P_PEER);
}

/** Returns the address of the place of message i. The capacity is a power of two, and O_MAX is 1 less. */
export function placeAt(o: usize, i: i64): usize {
  return atomic.load<u32>(o, P_DATA) + ((i as u32) & atomic.load<u32>(o, O_MAX)) * atomic.load<u32>(o, O_THRESHOLD);
}

/** Returns the mark of a place that an end of this kind passes on out of turn: i + 1 at the sending end, else ~(i + 1). */
export function markOf(kind: i32, i: i64): i64 {
  return (i + 1) ^ -(((kind & RECEIVES) !== 0) as i64);
}

/** Returns what P_END says when messages end before the index with these low bits. 31 bits tell it from others near. */
export function endOf(next: i32): i32 {
  return (next << 1) | 1;
}
