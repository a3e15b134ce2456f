/**
 * Names: a table of hashed lists that only grow. There are at least as many lists as names, so a list stays short.
 *
 * A thread fills an entry that no other thread can see. Then it puts the entry at the head of its list by cmpxchg,
 * after a look at every entry that was added meanwhile. So each name has one entry, and a thread that dies on the way
 * leaves at most an entry that no thread finds. The target of an entry, generation << 32 | object, is set by cmpxchg
 * too: from 0, or from an object that has been disposed of. So all threads that open a name at once end up with one
 * object: that of the thread whose cmpxchg succeeded.
 *
 * A thread looks at the number of names, searches the list, publishes its entry, and then counts it. So it is refused
 * only when there are as many names as the arena has room for, and the one that it looks for is not among them. Threads
 * that publish at the same moment may exceed that number, by one name each, since the number never falls. So the table
 * has two entries for each thread beyond it: one for such a name, and a draft, with which it can search a full table.
 *
 *     used     0 (free)  ->  the drafting thread  ->  PUBLISHED, a store of that thread; or 0 again, a store of that
 *              thread or its reaper
 */
import { draftCapacity, headCount, nameCapacity, names } from './arena';
import { attach, attachedTo, createObject, detach } from './attachments';
import { TRIES } from './elements';
import {
  ANSWER_CLOSED,
  ANSWER_MISMATCH,
  ANSWER_NAMES_FULL,
  ANSWER_NOT_FOUND,
  ANSWER_STALE,
  N_BYTES,
  N_LENGTH,
  N_NEXT,
  N_TARGET,
  N_USED,
  NAME_HEADS,
  NAME_SIZE,
  O_INITIAL,
  O_MAX,
  O_ROBUST,
  PUBLISHED_NAMES,
  USED_NAMES,
} from './layout';
import { closeObject, generation } from './objects';
import { me } from './threads';

const PUBLISHED: i32 = -1;
/** The index of the entry that this thread drafted last. It is likely free, since most drafts are given back. */
let hint: u32 = 0;

/**
 * Returns an entry into which the caller writes a name, from N_BYTES on, or 0 if every entry is in use. The search is
 * that for an element (elements.ts).
 */
export function draftName(): usize {
  while (true) {
    const used = atomic.load<u32>(USED_NAMES);
    const full = used === draftCapacity;
    for (let tries = full ? used : min(TRIES, used); tries > 0; tries--) {
      if (hint >= used) hint = 0;
      const entry = names + (hint as usize) * NAME_SIZE;
      if (atomic.load<i32>(entry, N_USED) === 0 && atomic.cmpxchg<i32>(entry, 0, me, N_USED) === 0) return entry;
      hint++;
    }
    if (full) return 0;
    if (atomic.cmpxchg<u32>(USED_NAMES, used, used + 1) === used) hint = used;
  }
}

function headOf(entry: usize, length: i32): usize {
  let hash: u32 = 0x811c9dc5;
  for (let i = 0; i < length; i++) hash = (hash ^ load<u8>(entry + N_BYTES + (i as usize))) * 0x01000193;
  return NAME_HEADS + ((hash % headCount) as usize) * 4;
}

function sameName(a: usize, b: usize, length: i32): bool {
  return atomic.load<i32>(a, N_LENGTH) === length && memory.compare(a + N_BYTES, b + N_BYTES, length as usize) === 0;
}

/** Returns the entry of the drafted name in the list from the entry `first` on, or 0. */
function findName(draft: usize, length: i32, first: usize): usize {
  let entry = first;
  while (entry && !sameName(entry, draft, length)) entry = atomic.load<u32>(entry, N_NEXT) as usize;
  return entry;
}

/** Gives back the entries that a thread has drafted and not published. */
export function freeDrafts(thread: i32): void {
  const used = atomic.load<u32>(USED_NAMES);
  for (let i: u32 = 0; i < used; i++) {
    const entry = names + (i as usize) * NAME_SIZE;
    if (atomic.load<i32>(entry, N_USED) === thread) atomic.store<i32>(entry, 0, N_USED);
  }
}

/** Returns the one entry of the drafted name: an earlier one, or the draft, which is public now; 0 if all are taken. */
function publish(draft: usize, head: usize, length: i32): usize {
  while (true) {
    // The count comes first: if the table is full, the list has every name that is counted by now.
    const full = atomic.load<u32>(PUBLISHED_NAMES) >= nameCapacity;
    const first = atomic.load<u32>(head);
    const entry = findName(draft, length, first as usize);
    if (entry || full) return entry;
    atomic.store<u32>(draft, first, N_NEXT);
    // The section from here to the end is uninterruptible: a reaper would free an entry that is in a list.
    if (atomic.cmpxchg<u32>(head, first, draft as u32) === first) {
      atomic.add<u32>(PUBLISHED_NAMES, 1);
      atomic.store<i32>(draft, PUBLISHED, N_USED);
      return draft;
    }
  }
}

/**
 * Attaches to the object of the drafted name, or makes it with these properties if there is none. Returns the number of
 * the attachment, or an answer below 0: ANSWER_NOT_FOUND if there is none and permits < 0, ANSWER_MISMATCH for an
 * object with other properties. The draft is used up.
 */
export function openName(
  draft: usize,
  length: i32,
  kind: i32,
  permits: i32,
  limit: i32,
  spin: i32,
  threshold: i32,
  robust: i32,
): i32 {
  atomic.store<i32>(draft, length, N_LENGTH);
  const head = headOf(draft, length);
  let entry = findName(draft, length, atomic.load<u32>(head) as usize);
  if (entry === 0 && permits >= 0) entry = publish(draft, head, length);
  if (entry !== draft) atomic.store<i32>(draft, 0, N_USED);
  if (entry === 0) return permits < 0 ? ANSWER_NOT_FOUND : ANSWER_NAMES_FULL;
  while (true) {
    const target = atomic.load<u64>(entry, N_TARGET);
    if (target) {
      const o = target as u32 as usize;
      const answer = attach(o, (target >> 32) as u32, kind);
      if (answer > 0) {
        if (permits < 0 || isLike(o, permits, limit, robust)) return answer;
        detach(answer);
        return ANSWER_MISMATCH;
      }
      if (answer !== ANSWER_CLOSED && answer !== ANSWER_STALE) return answer;
    }
    if (permits < 0) return ANSWER_NOT_FOUND;
    const fresh = createObject(kind, permits, limit, spin, threshold, robust, 0, 0);
    if (fresh < 0) return fresh;
    const o = attachedTo(fresh);
    const next = ((generation(o) as u64) << 32) | (o as u64);
    if (atomic.cmpxchg<u64>(entry, target, next, N_TARGET) === target) return fresh;
    // No other thread knows the object, so it has no waiters to wake.
    closeObject(o);
    detach(fresh);
  }
}

function isLike(o: usize, permits: i32, limit: i32, robust: i32): bool {
  return (
    atomic.load<i32>(o, O_INITIAL) === permits &&
    atomic.load<i32>(o, O_MAX) === limit &&
    atomic.load<i32>(o, O_ROBUST) === robust
  );
}
