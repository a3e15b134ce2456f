/**
 * Names: a fixed table of lists, to which entries are only ever added.
 *
 * A thread fills an entry that nobody else can see, then puts it at the head of its list by cmpxchg,
 * having looked at every entry added meanwhile. So each name has one entry, and a thread that dies on the
 * way leaves at most an entry that nobody finds. The entry's target, generation << 32 | object, is set by
 * cmpxchg too: from nothing, or from an object that has been disposed of. All who open a name at once
 * thus end up with the one object whose creator won.
 *
 * There is an entry more for each thread than there are names, so a full table can still be searched.
 */
import { draftCapacity, nameCapacity, names } from './arena';
import {
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_MISMATCH,
  ANSWER_NAMES_FULL,
  ANSWER_NOT_FOUND,
  ANSWER_STALE,
  N_BYTES,
  N_LENGTH,
  N_NEXT,
  N_TARGET,
  N_USED,
  NAME_HEAD_COUNT,
  NAME_HEADS,
  NAME_SIZE,
  O_INITIAL,
  O_MAX,
  PUBLISHED_NAMES,
  USED_NAMES,
} from './layout';
import { attachObject, closeObject, createObject, detachObject, generation } from './objects';

/** An entry for the caller to write a name into: bytes from N_BYTES on. 0 if every one is in use. */
export function draftName(): usize {
  while (true) {
    const used = atomic.load<u32>(USED_NAMES);
    for (let i: u32 = 0; i < used; i++) {
      const entry = names + (i as usize) * NAME_SIZE;
      if (atomic.load<i32>(entry, N_USED) === 0 && atomic.cmpxchg<i32>(entry, 0, 1, N_USED) === 0)
        return entry;
    }
    if (used === draftCapacity) return 0;
    atomic.cmpxchg<u32>(USED_NAMES, used, used + 1);
  }
}

function headOf(entry: usize, length: i32): usize {
  let hash: u32 = 0x811c9dc5;
  for (let i = 0; i < length; i++) hash = (hash ^ load<u8>(entry + N_BYTES + (i as usize))) * 0x01000193;
  return NAME_HEADS + ((hash % NAME_HEAD_COUNT) as usize) * 4;
}

function sameName(a: usize, b: usize, length: i32): bool {
  return (
    atomic.load<i32>(a, N_LENGTH) === length &&
    memory.compare(a + N_BYTES, b + N_BYTES, length as usize) === 0
  );
}

/** The entry of the drafted name in the list from `entry` on, or 0. */
function find(draft: usize, length: i32, first: usize): usize {
  let entry = first;
  while (entry && !sameName(entry, draft, length)) entry = atomic.load<u32>(entry, N_NEXT) as usize;
  return entry;
}

/** One of the `names` places that entries may take for good. */
function reservePlace(): bool {
  while (true) {
    const taken = atomic.load<u32>(PUBLISHED_NAMES);
    if (taken === nameCapacity) return false;
    if (atomic.cmpxchg<u32>(PUBLISHED_NAMES, taken, taken + 1) === taken) return true;
  }
}

/** The one entry of the drafted name: an earlier one if there is, else the draft, now public; 0 when there is no place. */
function publish(draft: usize, head: usize, length: i32): usize {
  // Without a place there may still be an entry by now: of whoever took the last one.
  if (!reservePlace()) return find(draft, length, atomic.load<u32>(head) as usize);
  while (true) {
    const first = atomic.load<u32>(head);
    const entry = find(draft, length, first as usize);
    if (entry) {
      atomic.sub<u32>(PUBLISHED_NAMES, 1);
      return entry;
    }
    atomic.store<u32>(draft, first, N_NEXT);
    if (atomic.cmpxchg<u32>(head, first, draft as u32) === first) return draft;
  }
}

/**
 * Attaches to the object of the drafted name, or makes it with these properties if there is none (with
 * permits < 0 that is ANSWER_NOT_FOUND). The address, or an answer below 0. An object with other
 * properties is ANSWER_MISMATCH. The draft is used up.
 */
export function openName(
  draft: usize,
  length: i32,
  kind: i32,
  permits: i32,
  limit: i32,
  spin: i32,
  threshold: i32,
): i32 {
  atomic.store<i32>(draft, length, N_LENGTH);
  const head = headOf(draft, length);
  let entry = find(draft, length, atomic.load<u32>(head) as usize);
  if (entry === 0 && permits >= 0) entry = publish(draft, head, length);
  if (entry !== draft) atomic.store<i32>(draft, 0, N_USED);
  if (entry === 0) return permits < 0 ? ANSWER_NOT_FOUND : ANSWER_NAMES_FULL;
  while (true) {
    const target = atomic.load<u64>(entry, N_TARGET);
    if (target) {
      const o = target as u32 as usize;
      const answer = attachObject(o, (target >> 32) as u32, kind);
      if (answer === 0) {
        if (
          permits < 0 ||
          (atomic.load<i32>(o, O_INITIAL) === permits && atomic.load<i32>(o, O_MAX) === limit)
        )
          return o as i32;
        detachObject(o);
        return ANSWER_MISMATCH;
      }
      if (answer !== ANSWER_CLOSED && answer !== ANSWER_STALE) return answer;
    }
    if (permits < 0) return ANSWER_NOT_FOUND;
    const fresh = createObject(kind, permits, limit, spin, threshold, 0);
    if (fresh === 0) return ANSWER_FULL;
    const next = ((generation(fresh) as u64) << 32) | (fresh as u64);
    if (atomic.cmpxchg<u64>(entry, target, next, N_TARGET) === target) return fresh as i32;
    // Nobody else knows it, so there is nobody to tell.
    closeObject(fresh);
    detachObject(fresh);
  }
}
