/**
 * Names: a table of hashed lists. There are at least as many lists as objects, so a list stays short.
 *
 *     head  ──►  entry of object 7: "c"  ──►  entry of object 2: "a"  ──►  entry of object 5: "b"
 *                                             its object is closed:
 *                                             a thread that comes by unlinks the entry
 *
 * Each object has an entry of its own, so there is room for as many names as there are objects, and a thread that has
 * an object needs no further memory for its name. A thread makes an object that no other thread knows, writes the name
 * into the entry of the object, and puts the entry at the head of its list by cmpxchg, after it has looked at every
 * entry that was added meanwhile. So each name has one entry, and all threads that open a name at the same time get one
 * object. The name in an entry never changes while the entry stands in a list.
 *
 * A name goes with its object, and an object goes when the last thread detaches from it (objects.ts). An entry is stale
 * from the moment when its object is no longer LIVE. Every thread that walks along a list takes the stale entries out.
 * First it marks the link from the stale entry to the next one (GONE), so no other thread changes this link any more.
 * Then it changes the link to the stale entry: this link now leads to the next entry (Michael's list: SPAA 2002).
 *
 * The invariant: the entry of a FREE object stands in no list. Each thread that detaches from a closed object first
 * walks along the list of the object's name (letGo in kinds/kinds.ts). The thread that closes an object detaches after
 * that, and only the last thread that detaches frees the object. So the next owner of an object finds the entry unused.
 * An object is live only in one generation as long as its entry stands in a list.
 *
 * A thread that has the last reference to a closed object may give the object another name. It has taken the old name
 * out by itself, and makes the object live just before it publishes the new name.
 *
 * A free entry may get a new name while another thread still reads it. So each link has a tag, which grows whenever the
 * link changes. A thread reads an entry and the life of its object, and then reads again the link that led it to the
 * entry. If the link has not changed, the entry stayed in the list all the while, and the thread trusts what it has
 * read. Otherwise the thread begins again at the head of the list. The tag of the head also tells whether another
 * thread has added a name since this thread began.
 *
 * A thread writes the name that it looks for into its draft. This is an entry of the thread, behind those of the
 * objects, which stands in no list. So a thread finds a name without an object of its own, even in a full arena.
 */

import { ANSWER_CLOSED, ANSWER_NOT_FOUND, ANSWER_STALE } from '../answers';
import { headCount, names, objectCapacity, objects } from './arena';
import { attach, attachedTo, createObject, detach } from './attachments';
import { generationIn, isLiveIn, lifeOfObject, revive } from './objects';
import { me } from './threads';
import { N_BYTES, N_KEY, N_LENGTH, N_NEXT, NAME_HEADS, NAME_SIZE, O_NAME } from './words';

/** The bit of a link that says that its entry is being taken out. */
const GONE: i64 = 1;
/** One step of a link's tag, and the bits of the tag. */
const TAG: i64 = 1 << 32;
const TAGS: i64 = -TAG;
/** The head's link as the thread saw it before it searched the list. */
let first: i64 = 0;
/** The generation of the object that the thread has found. */
let found: u32 = 0;

/**
 * Returns the draft of this thread: the caller writes the length of the name into it, the name, and zeros to the end of
 * the last word.
 * @replaced by src/runtime/membership.ts: throws, in a thread that has left the arena
 */
export function draftName(): usize {
  return names + ((objectCapacity + me) as usize) * NAME_SIZE;
}

function headOf(entry: usize, length: i32): usize {
  let hash: u32 = 0;
  for (let i = 0; i < length; i += 4)
    hash = (rotl<u32>(hash, 5) ^ load<u32>(entry + (i as usize), N_BYTES)) * 0x9e3779b1;
  return NAME_HEADS + ((((hash as u64) * (headCount as u64)) >> 32) as usize) * 8;
}

/** Compares names word by word, since the host fills the last word up with zeros. */
function sameName(entry: usize, draft: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i += 4) {
    if (atomic.load<i32>(entry + i, N_BYTES) !== load<i32>(draft + i, N_BYTES)) return false;
  }
  return true;
}

/**
 * Returns the object of the drafted name, with its generation in `found`, or 0 if the list does not have the name. The
 * function takes out each stale entry that it meets. With the length 0, it takes out all stale entries of the list.
 */
function findName(head: usize, draft: usize, length: i32): usize {
  let from = head;
  first = atomic.load<i64>(head);
  let link = first;
  while (true) {
    const entry = link as u32 as usize;
    if (entry === 0) return 0;
    // An object is as large as an entry.
    const o = entry - names + objects;
    const next = atomic.load<i64>(entry, N_NEXT);
    const isSame = atomic.load<i32>(entry, N_LENGTH) === length && sameName(entry, draft, length as usize);
    const life = lifeOfObject(o);
    if (atomic.load<i64>(from) === link) {
      if (next & GONE) atomic.cmpxchg<i64>(from, link, (link & TAGS) + TAG + ((next - GONE) & ~TAGS));
      else if (isLiveIn(life)) {
        if (isSame) {
          found = generationIn(life);
          return o;
        }
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

/** Takes the name of a closed object out of the table, if the object has a name. */
export function takeNameOut(o: usize): void {
  const head = atomic.load<u32>(o, O_NAME) as usize;
  if (head) findName(head, 0, 0);
}

/** Whether the object is that of a key: its name begins with N_KEY. */
export function isKey(o: usize): bool {
  return atomic.load<i32>(o, O_NAME) !== 0 && atomic.load<u8>(o - objects + names, N_BYTES) === N_KEY;
}

/**
 * Attaches to the object of the drafted name. If there is no such object, makes one with these properties, unless
 * permits < 0. If the thread has an object without a name, which has these properties (UNNAMED in letGo), this object
 * gets the name, or is freed; `unnamed` is the number of its attachment, or 0. Returns the number of the attachment, or
 * an answer below 0. An object that was there may have other properties.
 * @answers Attachment | ANSWER_FULL | ANSWER_OBJECTS_FULL | ANSWER_NOT_FOUND | ANSWER_WRONG_KIND
 */
export function openName(
  length: i32,
  kind: i32,
  permits: i32,
  limit: i32,
  spin: i32,
  threshold: i32,
  robust: i32,
  unnamed: i32,
): i32 {
  const draft = draftName();
  const head = headOf(draft, length);
  let fresh = unnamed;
  while (true) {
    const o = findName(head, draft, length);
    if (o) {
      const answer = attach(o, found, kind);
      if (answer === ANSWER_CLOSED || answer === ANSWER_STALE) continue;
      // Nobody waits for the object. If it is live, the first call closes it.
      while (fresh && !detach(fresh, true));
      return answer;
    }
    if (fresh === 0) {
      if (permits < 0) return ANSWER_NOT_FOUND;
      fresh = createObject(kind, permits, limit, spin, threshold, robust, 0, 0);
      if (fresh < 0) return fresh;
    }
    const mine = attachedTo(fresh);
    const entry = mine - objects + names;
    for (let i = -4; i < length; i += 4) {
      const word = load<i32>(draft + (i as usize), N_BYTES);
      if (atomic.load<i32>(entry + (i as usize), N_BYTES) !== word)
        atomic.store<i32>(entry + (i as usize), word, N_BYTES);
    }
    // After the name, because a report reads the name of each object that has this word (src/look/look.ts).
    atomic.store<i32>(mine, head as i32, O_NAME);
    atomic.store<i64>(entry, ((atomic.load<i64>(entry, N_NEXT) & TAGS) + TAG) | (first & ~TAGS), N_NEXT);
    // Only once: when an object is live and has O_NAME, a thread that looks at all objects may attach to it.
    if (unnamed) {
      revive(mine);
      unnamed = 0;
    }
    if (atomic.cmpxchg<i64>(head, first, (first & TAGS) + TAG + (entry as i64)) === first) return fresh;
  }
}
