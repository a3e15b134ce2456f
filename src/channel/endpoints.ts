/**
 * Attaches the thread to the two ends of a channel or a watch, and lets go of them.
 *
 *     Channel ──► Shared of the sending end ──► Endpoints ──► ReceivingEnd ──► Shared of the receiving end
 *
 * The receiving end is a shared object with an attachment of its own. All library objects of the thread for one channel
 * have one `Endpoints`. What the thread knows of the sending end refers to it. So the thread lets go of the sending end
 * first, and then at once of the receiving end, also if the collector has taken the last library object. A thread that
 * finds a sending end thus nearly always finds its receiving end. If it does not, the last other thread has just let go
 * of the channel, which is gone.
 *
 * Whoever makes a channel makes the sending end first, by name or without one, then the receiving end with its pages,
 * and then links the two by one exchange. So all threads that open a name at the same time get one receiving end. A
 * receiving end that was not linked goes with its attachment, and its pages go with it (core/kinds/channel/pages.ts).
 */
import { host } from '#host';
import {
  ANSWER_CLOSED,
  ANSWER_FULL,
  ANSWER_OBJECTS_FULL,
  ANSWER_STALE,
  ANSWER_WRONG_KIND,
  type Attachment,
  CLOSED_OBJECT,
  IS_ROBUST,
  O_MAX,
  O_SPIN,
  O_THRESHOLD,
  P_NEXT,
  P_PEER,
  PAGE_SIZE,
} from '../border/numbers.js';
import { createObject, type ObjectWords } from '../objects/new-object.js';
import { Reference } from '../objects/reference.js';
import { close, forget, reference, SharedObject } from '../objects/shared-object.js';
import { ArenaFullError, arenaFull, DisposedError, noRoom, quoted } from '../runtime/errors.js';
import type { Membership, Shared } from '../runtime/membership.js';
import { leaves } from '../runtime/membership.js';
import { closed } from '../runtime/promises.js';
import type { Views } from './codec.js';
import { channelOf, type Module } from './compiled.js';
import { Endpoint, type Texts } from './endpoint.js';

/** What tells the ends of channels and of watches apart. */
export interface Form {
  readonly kind: 'ReceivingEnd' | 'WatchingEnd';
  readonly kindNumber: number;
  readonly sending: Texts;
  readonly receiving: Texts;
}

/** The receiving end as an object of this thread. It goes when `Endpoints` lets go of it, and not by itself. */
class ReceivingEnd extends SharedObject<Form['kind']> {
  readonly #forget: () => void;

  constructor(found: Reference, { kind }: Form, forgets: () => void) {
    super(kind, found);
    this.#forget = forgets;
  }

  get shared(): Shared {
    return this[reference].shared;
  }

  override get [leaves](): boolean {
    return false;
  }

  protected override [close](): void {}

  protected override [forget](): void {
    this.#forget?.();
  }
}

/** The two ends of a channel or a watch, as one thread uses them. Of a watch, who sets values is at the sending end. */
export class Endpoints {
  readonly module: Module;
  readonly views: Views;
  readonly sending: Endpoint;
  readonly receiving: Endpoint;
  /** The guards of this thread that count as senders, and their channels, which the collector must not take. */
  readonly senders = new Map<object, object>();
  readonly #object: ReceivingEnd;
  #hasLetGo = false;

  /** @param name by which the thread has opened the channel or the watch, if it has. */
  constructor(
    membership: Membership,
    module: Module,
    shared: Shared,
    receivingEnd: Reference,
    form: Form,
    name: string | undefined,
  ) {
    const buffer = membership.memory.buffer as unknown as SharedArrayBuffer;
    this.module = module;
    this.views = { u8: new Uint8Array(buffer), f64: new Float64Array(buffer), i32: new Int32Array(buffer) };
    const { f64 } = this.views;
    // If the thread leaves the arena, nothing lets go of the sending end, and its elements may belong to another thread.
    this.#object = new ReceivingEnd(receivingEnd, form, () => {
      this.receiving?.forget();
      if (membership.isOver) this.sending?.forget();
    });
    const release = (): void => {
      if (!membership.isOver) membership.letGo(shared);
    };
    const object = (): string => {
      const { at } = this.sending;
      // Another object may have the memory of one that this thread has let go of.
      const found = at === CLOSED_OBJECT ? undefined : host.nameText?.(membership.memory, at, '');
      const text = name === undefined ? found : quoted(name);
      return `the ${form.sending.thing}${text === undefined ? '' : ` ${text}`}`;
    };
    this.sending = new Endpoint(membership, module, shared, f64, release, form.sending, object);
    this.receiving = new Endpoint(membership, module, this.#object.shared, f64, release, form.receiving, object);
    this.sending.join(this.receiving);
    this.receiving.join(this.sending);
    shared.detached = () => this.#letGo();
  }

  /** Whether the channel is closed or disposed of. */
  get isClosed(): boolean {
    const { core, words, at } = this.sending;
    return core.isDisposed(at) !== 0 || Atomics.load(words, (at + P_NEXT) / 4 + 1) < 0;
  }

  /** The thread has released the sending end. It releases the receiving end, unless it still uses a place. */
  #letGo(): void {
    this.#hasLetGo = true;
    this.sending.forget();
    if (this.sending.inUse === undefined && this.receiving.inUse === undefined) this.#object[closed]();
  }

  /**
   * A library object is about to release the sending end. Another thread may have closed this end and not the other one
   * yet. Promises of this thread that wait there must find it closed now, as in `Reference.detach`.
   */
  closeAlike(): void {
    const { core, at } = this.sending;
    if (core.isDisposed(at) !== 0) core.dispose(this.receiving.at);
  }

  /** A Place or Message is over. */
  placeIsOver(): void {
    if (this.#hasLetGo) this.#letGo();
  }

  /** Keeps the receiving end until a thread disposes of the channel: other threads are about to attach to it. */
  keep(): void {
    this.receiving.shared.isPrivate = false;
    this.receiving.core.keep(this.receiving.at);
  }
}

/** The sending ends of this thread have this property in `Shared`. */
const endpoints = Symbol.for('taketurns:endpoints');
type Known = Shared & { [endpoints]?: Endpoints };

/** The errors of `endpointsOf` for objects that are gone. A codec may throw a DisposedError, too. */
const gone = new WeakSet<Error>();

/** Opens a name, and makes a library object of what was found. Begins again if the object is gone. */
export function unlessGone<T>(open: () => Reference, make: (found: Reference) => T): T {
  while (true) {
    const found = open();
    try {
      return make(found);
    } catch (error) {
      if (!gone.has(error as Error)) throw error;
    }
  }
}

/**
 * Returns the ends of the object to whose sending end the thread has just attached. Makes the receiving end if there is
 * none yet, and calls `prepare` with its address before another thread can know it.
 * @throws {DisposedError} if the object is gone. Then its sending end is disposed of, so that its name is free.
 */
export function endpointsOf(
  { membership, shared, name }: Reference,
  form: Form,
  what: string,
  prepare?: (words: Int32Array, m: number) => void,
): Endpoints {
  const known = (shared as Known)[endpoints];
  if (known) return known;
  const module = channelOf(membership);
  const words = new Int32Array(membership.memory.buffer);
  const peer = (): number => Atomics.load(words, (shared.address + P_PEER) / 4);
  const end =
    peer() !== 0
      ? found(membership, words, shared.address, peer(), form)
      : prepare && made(membership, module, words, shared, form, prepare);
  if (end === undefined) {
    // The thread still holds the sending end.
    membership.core.dispose(shared.address);
    const error = new DisposedError(`${what}: the ${form.sending.thing} has been disposed of`);
    gone.add(error);
    throw error;
  }
  const all = new Endpoints(membership, module, shared, end, form, name);
  (shared as Known)[endpoints] = all;
  return all;
}

/** Makes the receiving end of a sending end. Returns that of another thread if that thread was faster. */
function made(
  membership: Membership,
  module: Module,
  words: Int32Array,
  { address: f, isPrivate }: Shared,
  form: Form,
  prepare: (words: Int32Array, m: number) => void,
): Reference | undefined {
  const { core } = membership;
  const word = (offset: number): number => words[(f + offset) / 4] as number;
  const ofEnd: ObjectWords = {
    kind: form.kindNumber,
    permits: 0,
    max: word(O_MAX),
    spin: word(O_SPIN),
    threshold: word(O_THRESHOLD),
    robust: Number((form.kindNumber & IS_ROBUST) !== 0),
  };
  const make = (): number => {
    const attachment = createObject(core, ofEnd, BigInt(f));
    if (attachment < 0) return attachment;
    if (module.claimPages(core.attachedTo(attachment)) !== 0) return attachment;
    core.letGo(attachment, 0);
    return NO_PAGES;
  };
  let attachment = make();
  if (attachment < 0) {
    membership.sweep();
    attachment = make();
  }
  if (attachment === ANSWER_OBJECTS_FULL) throw arenaFull('object', 'objects', core.mostObjects());
  if (attachment === ANSWER_FULL) throw noRoom(core, 'attachment');
  if (attachment === NO_PAGES) throw noPages(module, (word(O_MAX) + 1) * word(O_THRESHOLD), form);
  const m = core.attachedTo(attachment);
  prepare(words, m);
  if (module.link(f, m) !== 0) return new Reference(membership, attachment as Attachment, isPrivate);
  core.letGo(attachment, 0);
  return found(membership, words, f, Atomics.load(words, (f + P_PEER) / 4), form);
}

const NO_PAGES = -100;
/** The most bytes that an arena has for messages. */
const MOST_BYTES = 2 ** 30;

function noPages(module: Module, wanted: number, { sending: { thing } }: Form): ArenaFullError {
  const room = module.pageCount() * PAGE_SIZE;
  const advice =
    wanted > MOST_BYTES
      ? `no arena has more than ${MOST_BYTES}`
      : `dispose of channels and watches, or make a larger arena: new Arena({ bytes: ${Math.min(2 * Math.max(room, wanted), MOST_BYTES)} }), ` +
        'and for the default arena, in the main thread before all else, call its makeDefault()';
  return new ArenaFullError(
    `the arena has no room for the ${wanted} bytes of another ${thing}: ${module.freePages() * PAGE_SIZE} of ${room} bytes are ` +
      `free: ${advice}`,
  );
}

/** Attaches to the receiving end of a sending end. */
function found(
  membership: Membership,
  words: Int32Array,
  f: number,
  m: number,
  { kindNumber }: Form,
): Reference | undefined {
  const { core } = membership;
  const attachment = core.attach(m, core.generation(m), kindNumber);
  switch (attachment) {
    case ANSWER_FULL:
      throw noRoom(core, 'attachment');
    case ANSWER_CLOSED:
    case ANSWER_STALE:
    case ANSWER_WRONG_KIND:
      return undefined;
    default:
  }
  // Another object may have come there meanwhile.
  if (Atomics.load(words, (m + P_PEER) / 4) === f) return new Reference(membership, attachment);
  core.letGo(attachment, 0);
  return undefined;
}
