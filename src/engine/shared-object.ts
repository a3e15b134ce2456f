/**
 * Making, finding and letting go of shared objects, the same for every kind.
 */
import { Arena, type ArenaHandle, arenaOf, attachmentOf } from '../arena.js';
import { ArenaFullError, badType, checkInteger, checkOptions, checkType, DisposedError } from '../errors.js';
import { type Attachment, HELD, type Owner, type Shared } from './attachment.js';
import {
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_MISMATCH,
  ANSWER_NAMES_FULL,
  ANSWER_NOT_FOUND,
  ANSWER_OBJECTS_FULL,
  ANSWER_WRONG_KIND,
  LIMIT,
  NAME_BYTES,
  NAME_ROOM,
} from './core.js';
import type { Kind, NumberOf } from './kinds.js';
import { budget, type Policy, type PolicyOptions } from './policy.js';

/** A plain, structured-cloneable value that stands for a shared object in a message to another thread. */
export interface Handle<K extends Kind = Kind> {
  /** The name of its class. */
  readonly kind: K;
  /** Where it lives. */
  readonly arena: ArenaHandle;
  /** At which byte of the arena's memory. */
  readonly address: number;
  /** Which of those that have lived there. */
  readonly generation: number;
}

/** Properties fixed when an object is made. */
export interface Properties {
  readonly permits: number;
  readonly max: number;
  readonly spin: number;
  readonly threshold: number;
  readonly robust: boolean;
  /** Of the algorithms' semaphores, which are never robust: one of HASH_* of core/memory/layout.ts. */
  readonly hash?: number;
  readonly firstTicket: bigint;
}

/**
 * A shared object as one library object of this thread knows it: where it is, and that the thread is attached to it.
 * Library objects are made from this, by their constructors, `from` and `open` alike.
 */
export class Reference {
  readonly attachment: Attachment;
  readonly address: number;
  #number: number;

  /** The core has just attached the thread, under this number. */
  constructor(attachment: Attachment, number: number) {
    this.attachment = attachment;
    this.address = attachment.core.attachedTo(number);
    this.#number = number;
  }

  /** The thread stays attached for as long as the library object lives: any of them, if there are several. */
  hold(owner: Owner): Shared {
    const number = this.#number;
    this.#number = HELD;
    return this.attachment.hold(owner, this.address, number);
  }

  letGo(owner: Owner): void {
    this.attachment.letGo(owner, this.address);
  }

  handle<K extends Kind>(kind: K): Handle<K> {
    const { attachment, address } = this;
    return {
      kind,
      arena: arenaOf(attachment).handle,
      address,
      generation: attachment.core.generation(address),
    };
  }
}

let referred: Reference;

/**
 * What a class extends whose fields are set, from `reference()`, where they are declared: a base class is made before
 * them. Fields that are set once, and not first to undefined, are constants to the engine wherever the object is one,
 * and a call of the core by way of them is compiled in with no load before it (docs/internals/what-was-tried.md).
 */
export class Referring {
  /** @internal */
  constructor(reference: Reference) {
    referred = reference;
  }
}

/** What the object that is being made refers to. */
export function reference(): Reference {
  return referred;
}

const LAST_FIRST_TICKET = 2n ** 61n;

/** What a user may say about a new object, checked. */
export function checkProperties(
  kind: Kind,
  permits: unknown,
  options: { max?: number; robust?: boolean; firstTicket?: bigint } & PolicyOptions,
  spin: number,
  policies: Partial<Record<Policy, number>>,
  first = 'firstTicket',
): Properties {
  checkOptions(kind, options);
  const robust = options.robust ?? false;
  const firstTicket = options.firstTicket ?? 0n;
  const max = checkInteger(`${kind}: max`, options.max ?? LIMIT, 1, LIMIT);
  checkType(`${kind}: robust`, robust, 'boolean', 'true or false');
  checkType(`${kind}: ${first}`, firstTicket, 'bigint', 'a bigint');
  if (firstTicket < 0n || firstTicket > LAST_FIRST_TICKET) {
    throw new RangeError(`${kind}: ${first} must be from 0n to 2n ** 61n, got ${firstTicket}n`);
  }
  return {
    permits: checkInteger(`${kind}: permits`, permits, 0, max),
    max,
    spin: budget(kind, options, spin, policies),
    threshold: 0,
    robust,
    firstTicket,
  };
}

export function make<K extends Kind>(
  kind: K,
  number: NumberOf<K>,
  p: Properties,
  arena: Arena | undefined,
): Reference {
  const attachment = attachmentOf(arena);
  const answer = attachment.core.createObject(
    number,
    p.permits,
    p.max,
    p.spin,
    p.threshold,
    p.hash ?? Number(p.robust),
    p.firstTicket,
  );
  if (answer < 0) throw refusal(answer, kind, kind);
  return new Reference(attachment, answer);
}

export function find<K extends Kind>(kind: K, number: NumberOf<K>, handle: Handle): Reference {
  const what = `${kind}.from: handle`;
  if (typeof handle !== 'object' || handle === null || typeof handle.kind !== 'string') {
    throw badType(what, `the handle of a ${kind}`, handle);
  }
  if (handle.kind !== kind)
    throw new TypeError(`${what} must be of a ${kind}, but it is of a ${handle.kind}`);
  if (!isInt32(handle.address) || !isInt32(handle.generation)) {
    throw new TypeError(`${what} is damaged: address and generation must be integers`);
  }
  const attachment = attachmentOf(Arena.from(handle.arena));
  const answer = attachment.core.attach(handle.address, handle.generation, number);
  if (answer > 0) return new Reference(attachment, answer);
  throw refusal(answer, what, kind);
}

export function open<K extends Kind>(
  kind: K,
  number: NumberOf<K>,
  name: string,
  p: Properties | undefined,
  arena: Arena | undefined,
): Reference {
  const what = `${kind}.open: name`;
  checkType(what, name, 'string', 'a string');
  const bytes = new TextEncoder().encode(name);
  if (bytes.length < 1 || bytes.length > NAME_ROOM) {
    throw new RangeError(`${what} must be 1 to ${NAME_ROOM} bytes of UTF-8, got ${bytes.length}`);
  }
  const attachment = attachmentOf(arena);
  const { core, memory } = attachment;
  const draft = core.draftName();
  if (draft === 0) throw arenaFull('name', 'names');
  // Nobody else knows the draft until openName publishes it, so plain writes do.
  new Uint8Array(memory.buffer, draft + NAME_BYTES, bytes.length).set(bytes);
  const answer = core.openName(
    draft,
    bytes.length,
    number,
    p?.permits ?? -1,
    p?.max ?? LIMIT,
    p?.spin ?? 0,
    p?.threshold ?? 0,
    Number(p?.robust ?? false),
  );
  if (answer > 0) return new Reference(attachment, answer);
  throw refusal(answer, `${what} ${JSON.stringify(name)}`, kind);
}

function refusal(answer: number, what: string, kind: Kind): Error {
  switch (answer) {
    case ANSWER_CLOSED:
      return new DisposedError(`${what}: the ${kind} has been disposed of`);
    case ANSWER_OBJECTS_FULL:
      return arenaFull('object', 'objects');
    case ANSWER_FULL:
      return arenaFull('attachment of a thread to an object', 'waiters');
    case ANSWER_NAMES_FULL:
      return arenaFull('name', 'names');
    case ANSWER_WRONG_KIND:
      return new TypeError(`${what}: the object there is of another kind, not a ${kind}`);
    case ANSWER_MISMATCH:
      return new RangeError(
        `${what}: it exists already, with other permits, another max, or robust where this is not`,
      );
    case ANSWER_NOT_FOUND:
      return new Error(`${what}: nothing of that name exists; give the permits to create it`);
    default:
      return new DisposedError(`${what}: what it stood for has been disposed of, and its memory used again`);
  }
}

export function arenaFull(thing: string, option: string): ArenaFullError {
  return new ArenaFullError(
    `the arena has no room for another ${thing}: dispose of some, or make it with more \`${option}\``,
  );
}

function isInt32(value: unknown): boolean {
  return typeof value === 'number' && (value | 0) === value;
}
