/**
 * Names: a table of hashed lists. There are at least as many lists as names, so a list stays short.
 *
 *     head  ──►  "c", its object  ──►  "a", its object (disposed of)  ──►  "b", its object
 *                                      a thread that comes by unlinks it, and the entry is free
 *
 * A thread fills an entry with a name and an object while no other thread can see the entry. Then it puts the entry at
 * the head of its list by cmpxchg, after it has looked at every entry that was added meanwhile. So each name has one
 * entry, and all threads that open a name at the same time get one object. What an entry says never changes while the
 * entry stands in a list.
 *
 * An entry becomes stale when its object is disposed of, and stays stale. Every thread that walks along a list takes
 * the stale entries out. First it marks the link from the stale entry to the next one (GONE), so no other thread
 * changes this link any more. Then it changes the link to the stale entry: this link now leads to the next entry
 * (Michael's list: SPAA 2002). A thread that finds the table full walks along all lists. So a name that has been
 * disposed of takes up no room for good, and no thread need remember where the name stood.
 *
 * A free entry may get a new name while another thread still reads it. So each link has a tag, which grows whenever the
 * link changes. A thread reads an entry, and then reads again the link that led it to the entry. If the link has not
 * changed, the entry stayed in the list all the while, and the thread trusts what it has read. Otherwise the thread
 * begins again at the head of the list. The tag of the head also tells whether another thread has added a name since
 * this thread began.
 *
 * A thread looks at the number of names, searches the list, publishes its entry, and then counts the entry. The thread
 * is refused only if the arena has as many names as it has room for, all stale entries are out, and nobody has added
 * the name that it looks for meanwhile. (An entry that another thread is just taking out still counts as a name.)
 * Threads that publish at the same moment may exceed the number of names, by one name each: the next look of each
 * thread finds the table full. So the table has two more entries for each thread: one for a name too many, and one for
 * a draft, with which the thread can search a full table.
 *
 *     used     0 (free)  ->  the drafting thread, a cmpxchg of that thread
 *              the drafting thread  ->  PUBLISHED, an exchange of that thread; or 0 again, a store of it or its reaper
 *              PUBLISHED  ->  the drafting thread, a store of it, if another thread has changed the list's head first
 *              PUBLISHED  ->  0, a store of the thread that has unlinked the entry
 */

import { ANSWER_CLOSED, ANSWER_MISMATCH, ANSWER_NAMES_FULL, ANSWER_NOT_FOUND, ANSWER_STALE } from '../answers';
import { draftCapacity, headCount, nameCapacity, names } from './arena';
import { attach, attachedTo, createObject, detach } from './attachments';
import { TRIES } from './elements';
import { closeObject, generation, isCurrent } from './objects';
import { me } from './threads';
import {
  N_BYTES,
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
} from './words';

const PUBLISHED: i32 = -1;
/** The bit of a link that says that its entry is being taken out. */
const GONE: i64 = 1;
/** One step of a link's tag, and the bits of the tag. */
const TAG: i64 = 1 << 32;
const TAGS: i64 = -TAG;
/** The bits of a target that hold the length of the name, since an object lies at a multiple of 128. */
const LENGTH: i64 = 127;
/** The index of the entry that this thread drafted last. It is likely free, since most drafts are given back. */
let hint: u32 = 0;
/** The head's link as the thread saw it before it searched the list. */
let first: i64 = 0;

/**
 * Returns an entry into which the caller writes a name, from N_BYTES on, or 0 if every entry is in use. It searches as
 * reserve in elements.ts does.
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
  return NAME_HEADS + ((hash % headCount) as usize) * 8;
}

/** Compares names word by word, since the host fills the last word up with zeros. */
function sameName(entry: usize, draft: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i += 4) {
    if (atomic.load<i32>(entry + i, N_BYTES) !== load<i32>(draft + i, N_BYTES)) return false;
  }
  return true;
}

/**
 * Returns the target of the drafted name, or 0 if the list does not have the name. The function takes out each stale
 * entry that it meets. With the length 0, it takes out all stale entries.
 */
function findName(head: usize, draft: usize, length: i32): i64 {
  let from = head;
  first = atomic.load<i64>(head);
  let link = first;
  while (true) {
    const entry = link as u32 as usize;
    if (entry === 0) return 0;
    const next = atomic.load<i64>(entry, N_NEXT);
    const target = atomic.load<i64>(entry, N_TARGET);
    const found = ((target & LENGTH) as i32) === length && sameName(entry, draft, length as usize);
    if (atomic.load<i64>(from) === link) {
      if (next & GONE) {
        const past = (link & TAGS) + TAG + ((next - GONE) & ~TAGS);
        // R5 begins with the exchange. If the thread died inside R5, nobody would free the entry.
        if (atomic.cmpxchg<i64>(from, link, past) === link) {
          atomic.store<i32>(entry, 0, N_USED);
          atomic.sub<i32>(PUBLISHED_NAMES, 1); // R5 ends
        }
      } else if (isCurrent(objectIn(target), (target >> 32) as u32)) {
        if (found) return target;
        from = entry + N_NEXT;
        link = next;
        continue;
      } else atomic.cmpxchg<i64>(entry, next, next + GONE, N_NEXT);
    }
    from = head;
    first = atomic.load<i64>(head);
    link = first;
  }
}

function objectIn(target: i64): usize {
  return (target & (~TAGS - LENGTH)) as usize;
}

/** Gives back the entries that a thread has drafted and not published. */
export function freeDrafts(thread: i32): void {
  const used = atomic.load<u32>(USED_NAMES);
  for (let i: u32 = 0; i < used; i++) {
    const entry = names + (i as usize) * NAME_SIZE;
    if (atomic.load<i32>(entry, N_USED) === thread) atomic.store<i32>(entry, 0, N_USED);
  }
}

/**
 * Attaches to the object of the drafted name. If there is no such object, makes one with these properties. Returns the
 * number of the attachment, or an answer below 0: ANSWER_NOT_FOUND if there is no such object and permits < 0, or
 * ANSWER_MISMATCH if the object has other properties. The draft is used up.
 * @answers Attachment | ANSWER_FULL | ANSWER_OBJECTS_FULL | ANSWER_NAMES_FULL | ANSWER_NOT_FOUND | ANSWER_MISMATCH |
 * ANSWER_WRONG_KIND
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
  const head = headOf(draft, length);
  let fresh = 0;
  let answer = ANSWER_NOT_FOUND;
  while (true) {
    // The count comes first: if the table is full, the list has every name that is counted by now.
    const full = atomic.load<i32>(PUBLISHED_NAMES) >= (nameCapacity as i32);
    const target = findName(head, draft, length);
    if (target) {
      const o = objectIn(target);
      answer = attach(o, (target >> 32) as u32, kind);
      if (answer === ANSWER_CLOSED || answer === ANSWER_STALE) continue;
      if (answer > 0 && permits >= 0 && !isLike(o, permits, limit, robust)) {
        detach(answer);
        answer = ANSWER_MISMATCH;
      }
      break;
    }
    answer = ANSWER_NOT_FOUND;
    if (permits < 0) break;
    if (full) {
      const seen = first;
      for (let i: u32 = 0; i < headCount; i++) findName(NAME_HEADS + (i as usize) * 8, 0, 0);
      // The table is full of other names if nobody has added one to this list since.
      if (atomic.load<i32>(PUBLISHED_NAMES) < (nameCapacity as i32) || atomic.load<i64>(head) !== seen) continue;
      answer = ANSWER_NAMES_FULL;
      break;
    }
    if (fresh === 0) {
      answer = createObject(kind, permits, limit, spin, threshold, robust, 0, 0);
      if (answer < 0) break;
      fresh = answer;
    }
    const o = attachedTo(fresh);
    atomic.store<i64>(draft, ((generation(o) as i64) << 32) | (o as i64) | (length as i64), N_TARGET);
    atomic.store<i64>(draft, ((atomic.load<i64>(draft, N_NEXT) & TAGS) + TAG) | (first & ~TAGS), N_NEXT);
    // If the thread died inside R5, a reaper would free an entry that is in a list. The thread marks the entry as
    // PUBLISHED before the entry is in the list, because another thread may take it out at once. The mark is an
    // exchange and no store, so that the check of sections (check/src/uninterruptible.ts) can tell it from the stores.
    atomic.xchg<i32>(draft, PUBLISHED, N_USED); // R5 begins
    if (atomic.cmpxchg<i64>(head, first, (first & TAGS) + TAG + (draft as i64)) === first) {
      atomic.add<i32>(PUBLISHED_NAMES, 1); // R5 ends
      return fresh;
    }
    atomic.store<i32>(draft, me, N_USED); // R5 ends
  }
  atomic.store<i32>(draft, 0, N_USED);
  if (fresh > 0) {
    // No other thread knows the object, so it has no waiters to wake.
    closeObject(attachedTo(fresh));
    detach(fresh);
  }
  return answer;
}

function isLike(o: usize, permits: i32, limit: i32, robust: i32): bool {
  return (
    atomic.load<i32>(o, O_INITIAL) === permits &&
    atomic.load<i32>(o, O_MAX) === limit &&
    atomic.load<i32>(o, O_ROBUST) === robust
  );
}
