/** How reports and errors name threads and objects, as plain objects and in words. */
import { KINDS, type Kind } from '../border/kinds.js';
import { quoted } from '../common/errors.js';
import type { Key } from '../common/keys.js';
import { labelOf } from '../look/labels.js';
import type { Look } from '../look/look.js';
import { type Called, calledAt } from '../look/names.js';
import type { View } from '../look/view.js';

/** A thread of an arena, as a report names it. */
export interface ThreadRef {
  /** The number of the thread in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** The `threadId` of the thread in `worker_threads`; undefined in web workers. */
  readonly threadId: number | undefined;
  /** The name of the thread, if it has one; see `nameThread`. */
  readonly name: string | undefined;
}

/** A shared object, as a report names it. */
export interface ObjectRef {
  /** The name of its class. What belongs to a key has the class of the table, `KeyedMutex` or `KeyedSemaphore`. */
  readonly kind: Kind;
  /**
   * The name by which it was opened; undefined if it has none. A key has the name of its table, and the receiving end
   * of a channel that of the channel.
   */
  readonly name: string | undefined;
  /** The key of the table for which the object stands; undefined for all other objects. */
  readonly key: Key | undefined;
  /** `part of a long key` if it stands for the beginning of long keys of a table; undefined for all other objects. */
  readonly part: string | undefined;
  /** The number of the object in the arena, from 0 on. A later object may get the same number. */
  readonly number: number;
}

const NAMES = new Map<number, Kind>(Object.entries(KINDS).map(([name, number]) => [number, name as Kind]));

/** Returns the name of the class of a kind. */
export function nameOfKind(kind: number): Kind {
  return NAMES.get(kind) ?? ('object' as Kind);
}

export function threadRef(look: Look, thread: number): ThreadRef {
  const own = look.threads.get(thread);
  return { thread, threadId: own?.threadId, name: own && labelOf(look.view, thread, own.life) };
}

/** What objects are called, once somebody has asked. A deadlock is told several times. */
const known = new WeakMap<Look, Map<number, Called>>();

export function objectRef(look: Look, object: number): ObjectRef {
  const its = known.get(look) ?? new Map<number, Called>();
  known.set(look, its);
  const called = its.get(object) ?? calledAt(look.view, object);
  its.set(object, called);
  return refOf(called, look.view);
}

/** Returns the same without a look. */
export function objectRefIn(view: View, object: number): ObjectRef {
  return refOf(calledAt(view, object), view);
}

function refOf({ kind, name, key, part, told }: Called, view: View): ObjectRef {
  return { kind: nameOfKind(kind), name, key, part, number: view.indexOf(told) };
}

/** Returns, for example, `thread 2 (threadId 1, "indexer")`. */
export function threadText({ thread, threadId, name }: ThreadRef): string {
  const known = [...(threadId === undefined ? [] : [`threadId ${threadId}`]), ...(name ? [quoted(name)] : [])];
  return `thread ${thread}${known.length > 0 ? ` (${known.join(', ')})` : ''}`;
}

/**
 * Returns, for example, `Mutex "accounts"`, or `Mutex 12` if it has no name. A key reads `KeyedMutex "users"["7"]`, or
 * `KeyedMutex "users"[7]` if it is a number.
 */
export function objectText(ref: ObjectRef): string {
  return `${ref.kind} ${nameText(ref) ?? ref.number}`;
}

/** Returns the name, the key and the part as `objectText` does; undefined if there is no name and no key. */
export function nameText({ name, key, part }: Pick<ObjectRef, 'name' | 'key' | 'part'>): string | undefined {
  const of = (name === undefined ? '' : quoted(name)) + (key === undefined ? '' : `[${keyText(key)}]`);
  return of ? of + (part === undefined ? '' : ` (${part})`) : undefined;
}

/** A key may be very long. */
const MOST_SHOWN = 99;

function keyText(key: Key): string {
  if (typeof key !== 'string') return String(key);
  return key.length > MOST_SHOWN ? `${quoted(key.slice(0, MOST_SHOWN))}...` : quoted(key);
}

/** Returns a name of a class with its article: `a Mutex`, `an Event`. */
export function articled(kind: string): string {
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** Returns, for example, `1 object` or `2 objects`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
