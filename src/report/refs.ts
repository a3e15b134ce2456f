/** How reports and errors name threads and objects, as plain objects and in words. */
import { KINDS, type Kind } from '../border/kinds.js';
import { kindOf, type Look } from './look.js';

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
  /** The name of its class. */
  readonly kind: Kind;
  /** The name by which it was opened; undefined if it has none. */
  readonly name: string | undefined;
  /** The number of the object in the arena, from 0 on. A later object may get the same number. */
  readonly number: number;
}

const NAMES = new Map<number, Kind>(Object.entries(KINDS).map(([name, number]) => [number, name as Kind]));

/** Returns the name of the class of a kind. */
export function nameOfKind(kind: number): Kind {
  return NAMES.get(kind) ?? ('object' as Kind);
}

export function threadRef(look: Look, thread: number): ThreadRef {
  const { threadId, name } = look.threads.get(thread) ?? { threadId: undefined, name: undefined };
  return { thread, threadId, name };
}

export function objectRef(look: Look, object: number): ObjectRef {
  const { view, names } = look;
  return { kind: nameOfKind(kindOf(view, object)), name: names.get(object), number: view.indexOf(object) };
}

/** Returns a name in quotation marks. A name may have characters that would change what else a terminal shows. */
export function quoted(name: string): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(name).replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escaped);
}

/** Returns, for example, `thread 2 (threadId 1, "indexer")`. */
export function threadText({ thread, threadId, name }: ThreadRef): string {
  const known = [...(threadId === undefined ? [] : [`threadId ${threadId}`]), ...(name ? [quoted(name)] : [])];
  return `thread ${thread}${known.length > 0 ? ` (${known.join(', ')})` : ''}`;
}

/** Returns, for example, `Mutex "accounts"`, or `Mutex 12` if it has no name. */
export function objectText({ kind, name, number }: ObjectRef): string {
  return `${kind} ${name === undefined ? number : quoted(name)}`;
}
