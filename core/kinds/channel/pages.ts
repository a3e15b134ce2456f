/**
 * Pages: the memory behind the elements of an arena (`ArenaOptions.bytes`), in which the places of channels lie, and the
 * schedules of rate limiters (src/rates/memory.ts claims their pages, by the same rule, from the last one on).
 *
 *     labels of threads │ table: 8 bytes a page │ page 0 │ page 1 │ page 2 │ ... │ metrics
 *                         0: free
 *                         generation << 32 | object + 1: of the receiving end of a channel, or of a limiter
 *
 * A thread looks for a run of free pages, and then claims the run from left to right, each page by a cmpxchg of its
 * entry. If another thread was faster at one of the pages, the thread gives its pages of the run back and looks again
 * from the first page on. It may not go on from there: two threads that claim at once could then drive each other past
 * all free pages, and neither would find any. So a thread fails only if a look at all pages has found no run.
 *
 * Nobody gives the pages of a channel back: an entry is free as soon as its object has another generation
 * (arena/objects.ts). So a thread that dies anywhere leaves no page behind: the pages go with the receiving end, and
 * the receiving end goes with its last attachment. A page that is never claimed is never touched.
 */
import { objects } from '../../arena/arena';
import { generation } from '../../arena/objects';
import { H_END, H_THREADS, METRICS_SIZE, O_MAX, O_THRESHOLD, OBJECT_SIZE } from '../../arena/words';
import { LABEL_SIZE, P_DATA, PAGE_SIZE, PLACE_MARK } from './words';

const ENTRY: usize = 8;

/** Returns the address of the table. */
function table(): usize {
  const labels = ((atomic.load<u32>(H_THREADS) as usize) + 1) * LABEL_SIZE;
  return ((atomic.load<u32>(H_END) as usize) + labels + ENTRY - 1) & -ENTRY;
}

/** Returns how many pages the arena has. */
export function pageCount(): u32 {
  const bytes = ((memory.size() as u64) << 16) - (table() as u64) - (PAGE_SIZE as u64) - (METRICS_SIZE as u64);
  return max((bytes as i64) / ((PAGE_SIZE + ENTRY) as i64), 0) as u32;
}

function entryAt(entries: usize, i: u32): usize {
  return entries + (i as usize) * ENTRY;
}

function isFree(entry: u64): bool {
  if (entry === 0) return true;
  return generation(objects + (((entry as u32) - 1) as usize) * OBJECT_SIZE) !== ((entry >> 32) as u32);
}

/** Returns how many pages are free. It may be out of date at once. */
export function freePages(): u32 {
  const count = pageCount();
  let free: u32 = 0;
  for (let i: u32 = 0; i < count; i++) free += isFree(atomic.load<u64>(entryAt(table(), i))) as u32;
  return free;
}

/**
 * Claims the pages for the places of a receiving end that no other thread knows, and clears the marks of the places.
 * Returns false if the arena has no such run of free pages.
 */
export function claimPages(m: usize): bool {
  const capacity = atomic.load<u32>(m, O_MAX) + 1;
  const size = atomic.load<u32>(m, O_THRESHOLD) as usize;
  const wanted = (((capacity as u64) * (size as u64) + (PAGE_SIZE as u64) - 1) / (PAGE_SIZE as u64)) as u32;
  const count = pageCount();
  const entries = table();
  const mine = ((generation(m) as u64) << 32) | (((m - objects) / OBJECT_SIZE + 1) as u64);
  for (let first: u32 = 0; first + wanted <= count; ) {
    let n: u32 = 0;
    while (n < wanted && isFree(atomic.load<u64>(entryAt(entries, first + n)))) n++;
    if (n < wanted) {
      first += n + 1;
      continue;
    }
    for (n = 0; n < wanted; n++) {
      const at = entryAt(entries, first + n);
      const entry = atomic.load<u64>(at);
      if (!isFree(entry) || atomic.cmpxchg<u64>(at, entry, mine) !== entry) break;
    }
    if (n === wanted) {
      const data = ((entryAt(entries, count) + PAGE_SIZE - 1) & -PAGE_SIZE) + (first as usize) * PAGE_SIZE;
      atomic.store<u32>(m, data as u32, P_DATA);
      for (let k: u32 = 0; k < capacity; k++) atomic.store<i64>(data + (k as usize) * size, 0, PLACE_MARK);
      return true;
    }
    // Another thread was faster. Its pages, or these, may be free again by now.
    giveBack(entries, first, first + n);
    first = 0;
  }
  return false;
}

function giveBack(entries: usize, from: u32, to: u32): void {
  for (let i = from; i < to; i++) atomic.store<u64>(entryAt(entries, i), 0);
}
