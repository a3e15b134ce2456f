/**
 * A reference ties a thread to a shared object. This file makes an object, finds an object by its handle or name, and
 * releases an object.
 */

import { host } from '#host';
import type { Core } from '../border/core.js';
import type { Kind, NumberOf } from '../border/kinds.js';
import {
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_NOT_FOUND,
  ANSWER_OBJECTS_FULL,
  ANSWER_STALE,
  ANSWER_WRONG_KIND,
  type Attachment,
  IS_ROBUST,
  KIND_MUTEX,
  LIMIT,
  N_BYTES,
  N_LENGTH,
  NAME_ROOM,
  O_INITIAL,
  O_MAX,
  O_ROBUST,
} from '../border/numbers.js';
import {
  arenaFull,
  bad,
  badType,
  checkInteger,
  checkType,
  DisposedError,
  noRoom,
  quoted,
  shown,
} from '../runtime/errors.js';
import { type LibraryObject, type Membership, Shared } from '../runtime/membership.js';
import { HELD } from '../runtime/numbers.js';
import {
  type ArenaHandle,
  fromHandle,
  handleOf,
  type Inside,
  membershipForNew,
  membershipOf,
} from '../runtime/own-arenas.js';
import { createObject, type ObjectWords, openName } from './new-object.js';
import type { Properties } from './options.js';

/** A plain, structured-cloneable value that stands for a shared object in a message to another thread. */
export interface Handle<K extends Kind = Kind> {
  /** The name of its class. */
  readonly kind: K;
  /** The arena that the object is in. */
  readonly arena: ArenaHandle;
  /** The byte offset of the object in the memory of the arena. */
  readonly address: number;
  /** Distinguishes the object from earlier ones at the same address. */
  readonly generation: number;
}

/**
 * @internal
 * Where a shared object is to which the thread is attached. Each library object is made from a reference.
 *
 * `from` and `open` pass a reference to the constructor of their class in place of the options (`make`). TypeScript
 * accepts a reference there, because its `arena?: never` makes it look like options that name no arena.
 */
export class Reference {
  declare readonly arena?: never;
  readonly membership: Membership;
  /** The name by which the thread has opened the object. The name in the arena goes with the object. */
  name: string | undefined;
  /** What this thread knows of the shared object. `attach` completes it. */
  shared: Shared;
  /** The number of the attachment, or HELD after `attach`. */
  #attachment: number;

  /**
   * Takes the number of the attachment that the core has just made.
   * @param isPrivate whether no other thread can know the object.
   */
  constructor(membership: Membership, attachment: Attachment, isPrivate = false) {
    this.membership = membership;
    this.#attachment = attachment;
    this.shared = new Shared(membership.core.attachedTo(attachment), isPrivate);
  }

  get address(): number {
    return this.shared.address;
  }

  /**
   * Keeps the thread attached while the library object lives. If several library objects hold it, the last one counts.
   */
  attach(libraryObject: LibraryObject): void {
    this.shared = this.membership.attach(libraryObject, this.#attachment, this.shared);
    this.#attachment = HELD;
  }

  /** Releases the shared object for the library object. Settles the promises of this thread that are due. */
  detach(libraryObject: LibraryObject): void {
    const { membership, address, shared } = this;
    const { head, promises } = shared;
    // Another thread may have begun to dispose of the object, and may not have closed all its words yet. Promises of
    // this thread that wait on the object must find the words closed now, because another object may get this memory
    // later.
    if ((head?.waits || promises.first !== 0) && membership.core.isDisposed(address))
      membership.core.disposeAgain(address);
    head?.flush();
    promises.settle();
    membership.detach(libraryObject, shared);
  }

  /** Enters an evicted object in the arena again. Returns the address. */
  enter(libraryObject: LibraryObject): number {
    // The words of the evicted object will overwrite the properties given here.
    const made = makeObject('Mutex', KIND_MUTEX, ANY, this.membership);
    return this.membership.attach(libraryObject, made.#attachment, this.shared, made.address).address;
  }

  handle<K extends Kind>(kind: K): Handle<K> {
    const { membership, address } = this;
    this.shared.isPrivate = false;
    return {
      kind,
      arena: handleOf(membership),
      address,
      generation: membership.core.keep(address),
    };
  }
}

/** The arguments of a constructor. The options come last. */
type Arguments = readonly [...rest: unknown[], options: { readonly arena?: Inside | undefined }];

/** @internal How the shared objects of a class are made, found by a handle, and opened by a name. */
export interface Definition<K extends Kind, A extends Arguments> {
  readonly kind: K;
  readonly number: NumberOf<K>;
  /**
   * Checks the arguments of the constructor, and returns the properties of a shared object. Errors begin with `what`:
   * the class, or its method `open`.
   */
  readonly properties: (what: string, ...args: A) => Properties;
  /** `make` calls it before it makes an object, with its last argument. It may throw. `open` does not call it. */
  readonly prepare?: (membership: Membership, options: A extends readonly [...unknown[], infer O] ? O : never) => void;
  /** If callers choose only one property, in which all objects of a name must agree: the name of this property. */
  readonly chosen?: string;
  /** Makes the error for an object of this name that has other properties. */
  readonly mismatch?: (name: string) => Error;
}

/** Returns the words of a new object of this kind that has these properties. */
function wordsOf(
  kind: number,
  { robust = (kind & IS_ROBUST) !== 0, hash = Number(robust), ...p }: Properties,
): ObjectWords {
  return { ...p, kind, robust: hash };
}

/**
 * @internal Returns the reference that stands in place of the options. If options stand there, makes a shared object by
 * the arguments.
 */
export function make<K extends Kind, A extends Arguments>(definition: Definition<K, A>, ...args: A): Reference {
  const options = args[args.length - 1] as A[number];
  if (options instanceof Reference) return options;
  const properties = definition.properties(definition.kind, ...args);
  const membership = membershipForNew(definition.kind, (options as { readonly arena?: Inside }).arena);
  definition.prepare?.(membership, options as never);
  return makeObject(definition.kind, definition.number, properties, membership);
}

/** @internal Makes a shared object with these properties. */
export function makeObject<K extends Kind>(
  kind: K,
  kindNumber: NumberOf<K>,
  p: Properties,
  membership: Membership,
): Reference {
  const answer = attached(membership, () =>
    createObject(membership.core, wordsOf(kindNumber, p), p.variant, p.firstTicket),
  );
  return referenceBy(membership, answer, kind, kind, true);
}

/** What the core answers when it is to attach the thread: the number of the attachment, or why there is none. */
type Attached = ReturnType<Core['createObject' | 'attach' | 'openName']>;

/**
 * Attaches the thread to an object by a call of the core. If the arena is full, the thread first lets go of what it
 * can.
 */
function attached<A extends Attached>(membership: Membership, attach: () => A): A {
  membership.tidy();
  const answer = attach();
  if (answer !== ANSWER_OBJECTS_FULL && answer !== ANSWER_FULL) return answer;
  membership.sweep();
  return attach();
}

/** @internal Checks that a handle is of this kind. */
export function checkKind(what: string, kind: string, handle: { readonly kind: string }): void {
  if (typeof handle?.kind !== 'string') {
    const instead = typeof handle === 'string' ? `for a name, call ${kind}.open(${shown(handle)})` : '';
    throw badType(what, `the handle of a ${kind} (its .handle, not the object)`, handle, instead);
  }
  if (handle.kind !== kind) throw new TypeError(`${what} must be of a ${kind}, but it is of a ${handle.kind}`);
}

/** @internal Attaches to the object of a handle. */
export function find<K extends Kind>(
  { kind, number }: Pick<Definition<K, never>, 'kind' | 'number'>,
  handle: Handle,
): Reference {
  const what = `${kind}.from: handle`;
  checkKind(what, kind, handle);
  for (const part of ['address', 'generation'] as const) {
    checkInteger(`${what}: its ${part}`, handle[part], ~LIMIT, LIMIT);
  }
  const membership = fromHandle(handle.arena, `${kind}.from: the arena of the handle`);
  const answer = attached(membership, () => membership.core.attach(handle.address, handle.generation, number));
  return referenceBy(membership, answer, what, kind);
}

/** Stands for the properties of an object that must exist, whatever they are. */
const ANY: Properties = { permits: -1, max: LIMIT };

/** @internal Opens the object of a name, or makes it by the arguments of the constructor. */
export function open<K extends Kind, A extends Arguments>(
  definition: Definition<K, A>,
  name: string,
  ...args: A
): Reference {
  const properties = definition.properties(`${definition.kind}.open`, ...args);
  const { arena } = args[args.length - 1] as { readonly arena?: Inside };
  return opened(definition, name, properties, arena);
}

/** @internal Opens the object of a name, which must exist. */
export function openKnown<K extends Kind, A extends Arguments>(
  definition: Definition<K, A>,
  name: string,
  arena: Inside | undefined,
): Reference {
  return opened(definition, name, ANY, arena);
}

function opened<K extends Kind, A extends Arguments>(
  { kind, number, chosen, mismatch }: Definition<K, A>,
  name: string,
  p: Properties,
  arena: Inside | undefined,
): Reference {
  const what = `${kind}.open: name`;
  checkType(what, name, 'string', 'a string', typeof name === 'number' ? 'the name comes first' : '');
  // UTF-8 has no code for half of a surrogate pair. An encoder writes the same character for every half.
  if (/[\ud800-\udfff]/u.test(name)) {
    throw badType(what, 'well-formed Unicode', name);
  }
  // jsdom has no TextEncoder.
  const bytes = Uint8Array.from(unescape(encodeURIComponent(name)), (byte) => byte.charCodeAt(0));
  if (bytes.length < 1 || bytes.length > NAME_ROOM) {
    throw bad('number', what, `1 to ${NAME_ROOM} bytes of UTF-8`, bytes.length);
  }
  const membership = membershipOf(`${kind}.open`, arena);
  const { core, memory } = membership;
  const answer = attached(membership, () => {
    // No other thread reads the draft of this thread, so plain writes suffice. The length is below 256.
    const draft = new Uint8Array(memory.buffer, core.draftName() + N_LENGTH, N_BYTES - N_LENGTH + NAME_ROOM).fill(0);
    draft[0] = bytes.length;
    draft.set(bytes, N_BYTES - N_LENGTH);
    return openName(core, bytes.length, wordsOf(number, p));
  });
  host.named?.();
  const which = `${what} ${quoted(name)}`;
  if (answer === ANSWER_WRONG_KIND) {
    const advice = `give the ${kind} another one`;
    throw new TypeError(`${which}: an object of another kind has this name, and all kinds share the names: ${advice}`);
  }
  const found = referenceBy(membership, answer, which, kind);
  found.name = name;
  if (p === ANY) return found;
  const has = new Int32Array(memory.buffer, found.address);
  const differences = p.differences?.(has) ?? differencesOf(has, p, chosen);
  if (differences === '') return found;
  core.letGo(answer, 1);
  throw mismatch?.(name) ?? new RangeError(`${which}: it exists already with ${differences}`);
}

/**
 * Says in which properties an object differs from those that are asked for: `permits 3, not 2; max 9, not 8`.
 * @param has are the words of the object.
 */
function differencesOf(has: Int32Array, p: Properties, only: string | undefined): string {
  const robust = has[O_ROBUST / 4] as number;
  // An object of the algorithms has its hash where a semaphore has `robust`.
  if (p.hash !== undefined && p.hash !== robust) return 'another hash or way to wait';
  const isRobust = p.hash === undefined && robust > 0;
  return differing(
    [only ?? 'permits', has[O_INITIAL / 4], p.permits],
    [only ?? 'max', has[O_MAX / 4], p.max],
    [only ?? 'robust', isRobust, p.robust ?? isRobust],
  );
}

/** @internal Says which of these properties an object does not have as they are asked for: the name, has, wanted. */
export function differing(...properties: readonly [string, unknown, unknown][]): string {
  const differences = properties
    .filter(([, has, wanted]) => has !== wanted)
    .map(([name, has, wanted]) => `${name} ${has}, not ${wanted}`);
  return [...new Set(differences)].join('; ');
}

/**
 * Returns the reference of an attachment, or throws the error of another answer. An answer without a case here does not
 * compile, because only an Attachment makes a Reference.
 */
function referenceBy(membership: Membership, answer: Attached, what: string, kind: Kind, isPrivate = false): Reference {
  switch (answer) {
    case ANSWER_OBJECTS_FULL:
      throw arenaFull('object', 'objects', membership.core.mostObjects());
    case ANSWER_FULL:
      throw noRoom(membership.core, 'attachment');
    case ANSWER_WRONG_KIND:
      throw new TypeError(`${what}: the object there is no ${kind}`);
    case ANSWER_NOT_FOUND:
      throw new Error(`${what}: nothing of that name exists; give permits to create it: ${kind}.open(name, permits)`);
    case ANSWER_CLOSED:
    case ANSWER_STALE:
      throw new DisposedError(`${what}: the ${kind} has been disposed of`);
    default:
      return new Reference(membership, answer, isPrivate);
  }
}
