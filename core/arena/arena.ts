/**
 * The arena: how one piece of shared memory is divided into regions, and where each region begins.
 *
 * One thread creates an arena in fresh zeroed memory, before any other thread can know of it. Then every thread, the
 * creator too, opens the arena and registers (death/registry.ts). Each thread keeps the bases of the regions in the
 * globals of its own instance of this module, so it needs no lookup.
 */

import {
  CLOSED_BIT,
  CLOSED_COUNTER,
  CLOSED_DISTANCE,
  CLOSED_OBJECT,
  DEAD,
  ELEMENT_SIZE,
  GRANT,
  H_BUCKETS,
  H_CHAINS,
  H_ELEMENTS,
  H_END,
  H_ID,
  H_MAGIC,
  H_OBJECTS,
  H_THREADS,
  H_VERSION,
  LINE,
  MAGIC,
  NAME_HEADS,
  NAME_HEADS_LEAST,
  NAME_HEADS_STEP,
  NAME_SIZE,
  O_COUNTER,
  OBJECT_SIZE,
  T_LIFE,
  THREAD_SIZE,
  VERSION,
} from './words';

/** The number of lists of names: at least as many as there are objects. */
export let headCount: u32 = 0;
export let objects: usize = 0;
export let objectCapacity: u32 = 0;
export let names: usize = 0;
export let threads: usize = 0;
export let chains: usize = 0;
export let chainMask: u32 = 0;
export let buckets: usize = 0;
export let bucketMask: u32 = 0;
export let common: usize = 0;
export let elements: usize = 0;
export let elementCapacity: u32 = 0;

/**
 * The most overflow lines of its own that a bucket has. The number keeps the extent of each bucket within EXTENT_MASK,
 * even in an arena of 4,000,000 waiters and the most objects and threads.
 */
const ROUNDS_MOST: u32 = 64;

/** The bytes of a page of virtual memory. */
const PAGE: u32 = 4096;

/**
 * Returns the address where a table of so many lines, a power of two, begins: the start of a page. So the table lies in
 * as few pages as possible, and 64 lines that share the upper bits of their number share a page. A table that is
 * shorter than a page may begin later, but does not cross the end of a page.
 */
function aligned(at: usize, count: u32): usize {
  const step = min(count * (LINE as u32), PAGE) as usize;
  return (at + step - 1) & -step;
}

/** Computes the bases from the sizes. Returns the number of bytes that the arena takes. */
function layOut(objectCount: u32, threadCount: u32, bucketCount: u32, chainCount: u32, elementCount: u32): usize {
  objectCapacity = objectCount;
  bucketMask = bucketCount - 1;
  chainMask = chainCount - 1;
  elementCapacity = elementCount;
  // When open looks at a memory that is no arena, the number of buckets may be 0.
  const rounds = min(max(elementCount / 8 / max(bucketCount, 1), 1), ROUNDS_MOST);
  // A line has 12 cells, and an element takes two at most: the common lines always have room for every element.
  const commonCount = elementCount / 6 + 1;
  headCount = (max(objectCount, NAME_HEADS_LEAST) + NAME_HEADS_STEP - 1) & -NAME_HEADS_STEP;
  objects = NAME_HEADS + (headCount as usize) * 8;
  names = objects + (objectCount as usize) * OBJECT_SIZE;
  threads = names + ((objectCount + threadCount + 1) as usize) * NAME_SIZE;
  chains = aligned(threads + ((threadCount as usize) + 1) * THREAD_SIZE, chainCount);
  buckets = aligned(chains + (chainCount as usize) * LINE, bucketCount);
  common = buckets + ((rounds as usize) + 1) * (bucketCount as usize) * LINE;
  elements = common + (commonCount as usize) * LINE;
  return elements + (elementCount as usize) * ELEMENT_SIZE;
}

/** Lays out an arena in zeroed memory that no other thread knows yet. */
export function create(
  id: i64,
  objectCount: u32,
  threadCount: u32,
  bucketCount: u32,
  chainCount: u32,
  elementCount: u32,
): void {
  const end = layOut(objectCount, threadCount, bucketCount, chainCount, elementCount);
  atomic.store<i64>(H_ID, id);
  atomic.store<u32>(H_OBJECTS, objectCount);
  atomic.store<u32>(H_THREADS, threadCount);
  atomic.store<u32>(H_BUCKETS, bucketCount);
  atomic.store<u32>(H_CHAINS, chainCount);
  atomic.store<u32>(H_ELEMENTS, elementCount);
  atomic.store<u32>(H_END, end as u32);
  atomic.store<i64>(CLOSED_OBJECT, CLOSED_DISTANCE, GRANT);
  // A counter and a mutex share this word, and each reads in its own bits that the object is closed.
  atomic.store<i64>(CLOSED_OBJECT, CLOSED_COUNTER | CLOSED_BIT, O_COUNTER);
  atomic.store<i32>(threads, DEAD, T_LIFE);
  atomic.store<i32>(H_VERSION, VERSION);
  atomic.store<i32>(H_MAGIC, MAGIC);
}

/** Returns whether the memory holds an arena of this version. If so, this instance of the module learns its bases. */
export function open(): bool {
  if (atomic.load<i32>(H_MAGIC) !== MAGIC || atomic.load<i32>(H_VERSION) !== VERSION) return false;
  const end = layOut(
    atomic.load<u32>(H_OBJECTS),
    atomic.load<u32>(H_THREADS),
    atomic.load<u32>(H_BUCKETS),
    atomic.load<u32>(H_CHAINS),
    atomic.load<u32>(H_ELEMENTS),
  );
  return end === (atomic.load<u32>(H_END) as usize) && end <= (memory.size() as usize) << 16;
}

export function id(): i64 {
  return atomic.load<i64>(H_ID);
}
