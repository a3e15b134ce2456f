/**
 * A membership is one thread's part in one arena: its core instance, its doorbell, and its objects.
 *
 * A thread attaches to an arena once, however many handles of the arena arrive, and however many copies of this package
 * are loaded (common.ts), because the thread must have one record in the registry. The thread is attached to a shared
 * object (core/arena/attachments.ts) for as long as one of its library objects may still use the shared object. The
 * last of these library objects lets go when
 *
 *     this thread disposes of the shared object       all library objects of the thread let go at once (letGo)
 *     another thread has disposed of it               one lets go when it notices, the others by a look (tidy, sweep)
 *     it is collected                                 the thread detaches, and disposes of the object if it is private
 *     it is evicted                                   the same, and the object gets another address when it is used again
 *     the thread ends, or leaves the arena (dispose)
 *
 * So no garbage collection is needed for objects that are disposed of. Each time the thread attaches to an object, it
 * looks at other objects, one after another, until it has met two that stay. A round of looks at all objects is over
 * after at most as many attachments as there were objects when the round began. It finds all objects that were disposed
 * of before the round. So a thread that goes on attaching keeps at most about as many disposed objects as it has
 * others. If a thread finds the arena full, it looks at all its objects. An idle thread lets go of nothing, because no
 * other thread may let go for it.
 *
 * If a thread has many objects, an object is evicted if it is idle, no other thread can know it, and it is a mutex or a
 * semaphore that is not robust. The words of an evicted object stay with its library object. They go to another address
 * when the library object is next used.
 *
 * The collector sees only the small library objects, and does not know that an arena is nearly full. So a thread that
 * is attached to very many objects asks for a collection once in each round of looks. Finalizers run only in a later
 * iteration of the event loop.
 */
import { host } from '#host';
import type { Core } from '../border/core.js';
import {
  ANSWER_FULL,
  CAN_MOVE,
  CLOSED_OBJECT,
  GONE,
  GRANT,
  H_OBJECTS,
  H_THREADS,
  IS_ROBUST,
  O_ADDED,
  O_INITIAL,
  O_KIND,
  O_LIFE,
  OBJECT_SIZE,
  TICKET,
} from '../border/numbers.js';
import type { Line } from '../host/host.js';
import { common } from './common.js';
import { Doorbell } from './doorbell.js';
import { arenaFull, DisposedError, mayNotBlock, noRoom } from './errors.js';
import type { HeadPromise } from './head-promise.js';
import { coreModule, instantiate } from './instance.js';
import { afterInterrupt } from './interrupts.js';
import { HELD } from './numbers.js';
import { PollTime } from './poll-time.js';
import { closed, Promises } from './promises.js';

/** Is called on a library object when the thread ends. The object must not use the shared object afterwards. */
export const threadEnded = Symbol.for('taketurns:ended');

/** Says that a library object has nothing more to do once another thread has disposed of the shared object. */
export const leaves = Symbol.for('taketurns:leaves');

/** A library object, as its membership sees it. */
export interface LibraryObject {
  [threadEnded](): void;
  /** Lets go of the shared object, which has been disposed of, or is evicted with the words `away`. */
  [closed](away?: Int32Array): void;
  readonly [leaves]?: boolean;
}

/** The memberships of this thread, whichever copy of the library made them, by the id of the arena. */
const memberships = common('memberships', () => new Map<bigint, Membership>());
/** The same memberships by memory object. Each message brings a new memory object. */
const byMemory = common('byMemory', () => new WeakMap<WebAssembly.Memory, Membership>());

/** Whether a value is a membership of this thread, made by this copy of the library or another one. */
export function isMembership(value: unknown): value is Membership {
  return value !== undefined && memberships.get((value as Membership | null)?.id as bigint) === value;
}

/** Returns the words of an arena's memory that are written once. The second is the id. */
function headerOf(buffer: ArrayBufferLike): BigInt64Array {
  return new BigInt64Array(buffer, 0, 5);
}

/**
 * Returns this thread's membership of the arena of a memory object that has arrived, if the thread has attached. The
 * search makes no instance of the core.
 */
export function attachedTo({ buffer }: WebAssembly.Memory): Membership | undefined {
  // A memory has pages of 64 KiB, or no page.
  if (buffer.byteLength === 0) return undefined;
  const header = headerOf(buffer);
  const membership = memberships.get(Atomics.load(header, 1));
  // If another memory happens to hold this id, the core refuses it.
  const isIts =
    membership?.memory.buffer.byteLength === buffer.byteLength &&
    membership.header.every((word, i) => word === header[i]);
  return isIts ? membership : undefined;
}

/**
 * Returns the available permits in the words of an object, less the permits that requests ask for. Returns a number
 * below 0 if the difference does not fit the result.
 */
export function balanceOf(words: Int32Array): number {
  return ((words[GRANT / 4] as number) - (words[TICKET / 4] as number)) | 0;
}

/**
 * Refers to a library object: strongly until the running code has ended, and weakly from then on. A WeakRef would keep
 * the library object until then, even if the object lets go before. So a loop that makes and disposes of very many
 * objects, in one iteration of the event loop, would fill the memory.
 */
interface Ref {
  deref(): LibraryObject | undefined;
}
/** The references that are perhaps strong. */
const strong = new Set<Ref>();
let willWeaken = false;

function weaken(): void {
  willWeaken = false;
  for (const ref of strong) {
    const libraryObject = ref.deref();
    const weak = libraryObject && new WeakRef(libraryObject);
    ref.deref = () => weak?.deref();
  }
  strong.clear();
}

/**
 * The things that this thread knows of a shared object to which it is attached. Each object has all fields from the
 * beginning: V8 compiles the runtime of promises anew for each set of fields that an object comes with.
 */
export class Shared {
  address: number;
  /** The number of the attachment in the core. `attach` sets it, and the next two. */
  attachment = 0;
  /**
   * The attachment that counts what this thread holds of the object: `attachment` if the object is robust. Otherwise
   * the core does not count what a thread holds, and the number here is 0.
   */
  countedBy = 0;
  /** The promises of this thread that wait on the object. */
  promises!: Promises;
  /** The promise of this thread that is the head of the object. A mutex makes it. */
  head: HeadPromise | undefined;
  /** The library objects that hold the shared object. If one was collected, its finalizer may not have run yet. */
  readonly heldBy = new Set<Ref>();
  /** Whether no other thread can know the shared object: it has no name, and its handle was never taken. */
  isPrivate: boolean;
  /** The words of the object while it is evicted. */
  away: Int32Array | undefined;
  /** Whether `runExclusive` of a mutex has called a function that has not returned yet. */
  isRunning = false;
  /** How many permits promises of this thread have got, less what its guards have given back; see owner-deaths.ts. */
  grants = 0;
  /** Is called by the event loop before promises are settled (promises.ts). */
  atRest: (() => void) | undefined;
  /**
   * Whether the object has something that a new one of its name would not have, and of which the core knows nothing. As
   * long as it answers true, the thread stays attached, also if its library objects were collected. The thread asks again
   * when it attaches to other objects. Refers to no library object.
   */
  stays: (() => boolean) | undefined;
  /** Is called when the thread has been detached, also if its library objects were collected. */
  detached: (() => void) | undefined;

  constructor(address: number, isPrivate: boolean) {
    this.address = address;
    this.isPrivate = isPrivate;
  }
}

export class Membership {
  readonly memory: WebAssembly.Memory;
  readonly core: Core;
  readonly id: bigint;
  /** The index of the thread in the registry of the arena. */
  readonly thread: number;
  /** Whether the runtime lets this thread block: a browser forbids it on the main thread. */
  readonly mayBlock = mayBlock();
  readonly doorbell: Doorbell;
  readonly pollTime: PollTime;
  /**
   * A thread calls this when it is about to wait for a mutex. If an exception cuts the wait short, the call is finished
   * as soon as the thread has returned to its event loop.
   */
  readonly expectInterrupt = afterInterrupt(() => this.core.finishPendingCall());
  /** The words that are written once, when an arena is made: magic, version, id and sizes. */
  readonly header: BigInt64Array;
  /** The handle of the arena that this thread last made. */
  handle: { readonly isDefault: boolean } | undefined;
  readonly #endings: ((reason?: Error) => void)[] = [];
  readonly #spare: (() => void)[] = [];
  readonly #line: Line | undefined;
  readonly #ignoreExit: () => void;
  readonly #ignoreWorkers: (() => void) | undefined;
  /**
   * What the thread knows of each object, by address. After an object has been let go, its key stays until `tidy` finds
   * the key. If each key were deleted at once, the map would become slow: the next object often gets the same address,
   * and V8 walks over all deleted entries of one key.
   */
  readonly #shared = new Map<number, Shared | undefined>();
  /** The addresses at which the thread looks next. */
  #toLookAt = this.#shared.keys();
  readonly #words: Int32Array;
  /** Whether the library objects of this thread can no longer reach the arena. */
  isOver = false;
  /** Whether the thread has left the arena, and lives on. */
  hasLeft = false;
  readonly #refs = new WeakMap<LibraryObject, Ref>();
  readonly #collected = new FinalizationRegistry<{ shared: Shared; ref: Ref }>(({ shared, ref }) =>
    this.#forget(shared, ref),
  );

  private constructor(memory: WebAssembly.Memory, core: Core) {
    this.memory = memory;
    this.core = core;
    this.id = core.id();
    this.header = headerOf(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
    this.#line = host.deaths?.openLine(memory, this.id, () => this.share());
    this.thread = core.register(host.threadName);
    if (this.thread === ANSWER_FULL) {
      this.#line?.close();
      // A thread needs a record and an element.
      const threads = this.#words[H_THREADS / 4] as number;
      throw core.threadCount() < threads ? noRoom(core, 'thread') : arenaFull('thread', 'threads', threads);
    }
    this.#line?.announce();
    host.onSleep?.(core, ['park', 'parkFor', 'compete'], this);
    this.doorbell = new Doorbell(core, memory);
    this.pollTime = new PollTime(core);
    if (!this.mayBlock) {
      core.acquire = core.acquireOne = core.acquireRobust = refuseToBlock;
      // The event loop of such a thread is never blocked for long, so this thread notices deaths best.
      this.share();
    }
    this.#ignoreExit = host.onExit(() => this.#end());
    this.#ignoreWorkers = host.reapWorkers?.(this);
  }

  /**
   * Returns this thread's membership of the arena in the memory, and makes it if needed. Undefined if there is no
   * arena.
   * @param made the instance of the core by which this thread has just made the arena.
   */
  static of(memory: WebAssembly.Memory, made?: Core): Membership | undefined {
    let membership = made ? undefined : (byMemory.get(memory) ?? attachedTo(memory));
    if (!isMembership(membership)) {
      const core = made ?? instantiate(memory);
      if (!core.open()) return undefined;
      membership = memberships.get(core.id()) ?? new Membership(memory, core);
      memberships.set(membership.id, membership);
    }
    byMemory.set(memory, membership);
    return membership;
  }

  /**
   * Keeps the thread attached to an object until the library object is collected or calls `detach`.
   * @param attachment the number of an attachment that the core has just made, or HELD if another library object holds
   * the attachment.
   * @param given is what the thread knows of the object from now on, if the object is new to the thread or was evicted.
   */
  attach(libraryObject: LibraryObject, attachment: number, given: Shared, address = given.address): Shared {
    let shared = this.#shared.get(address);
    if (shared) {
      // One attachment serves the thread, however many library objects it has.
      if (attachment !== HELD) this.core.letGo(attachment, 0);
    } else {
      shared = given;
      const { away } = shared;
      if (away) {
        // O_LIFE, which has two words, belongs to the memory and not to the object.
        const life = O_LIFE / 4;
        this.#words.set(away.subarray(0, life), address / 4);
        this.#words.set(away.subarray(life + 2), address / 4 + life + 2);
      }
      shared.address = address;
      shared.attachment = attachment;
      shared.countedBy = this.core.isRobust(address) ? attachment : 0;
      shared.promises ??= new Promises(this.core, this.doorbell, shared);
      this.#shared.set(address, shared);
    }
    const ref: Ref = this.#refs.get(libraryObject) ?? { deref: () => libraryObject };
    strong.add(ref);
    if (!willWeaken) Promise.resolve().then(weaken);
    willWeaken = true;
    shared.heldBy.add(ref);
    this.#refs.set(libraryObject, ref);
    this.#collected.register(libraryObject, { shared, ref }, libraryObject);
    return shared;
  }

  /** Ends what `attach` began. */
  detach(libraryObject: LibraryObject, shared: Shared): void {
    this.#collected.unregister(libraryObject);
    const ref = this.#refs.get(libraryObject) as Ref;
    strong.delete(ref);
    this.#forget(shared, ref);
  }

  /**
   * Makes library objects of this thread let go of an object that is disposed of or evicted. By default all of them let
   * go. `leaves` may choose some.
   */
  letGo(
    shared: Shared,
    leaves: (libraryObject: LibraryObject) => boolean | undefined = () => true,
    away?: Int32Array,
  ): void {
    for (const ref of [...shared.heldBy]) {
      const libraryObject = ref.deref();
      if (libraryObject === undefined) this.#forget(shared, ref);
      else if (leaves(libraryObject)) libraryObject[closed](away);
    }
    this.#drop(shared);
  }

  /**
   * Looks at objects of the thread until it has met two that stay. Lets go of each object that has been disposed of,
   * and evicts objects while there are too many. If very many stay, asks for a collection once in a round of looks.
   */
  tidy(): void {
    /** A thread that has no more objects than this, and a few for each that it may keep, asks for no collection. */
    const MANY = 1024;
    /** The look is over when so many objects have stayed. So it comes around although the thread attaches to more. */
    const STAYING = 2;
    /** A thread keeps so many idle objects in any arena. */
    const LEAST_KEPT = 8;
    /** There is room for so many more threads than have been attached. */
    const THREADS_TO_COME = 7;
    const capacity = this.#words[H_OBJECTS / 4] as number;
    // All threads together may keep half of the arena.
    const most = capacity / (2 * (this.core.mostThreads() + THREADS_TO_COME)) + LEAST_KEPT;
    for (let stay = 0; stay < STAYING; ) {
      let next = this.#toLookAt.next();
      if (next.done) {
        this.#toLookAt = this.#shared.keys();
        next = this.#toLookAt.next();
        if (this.#shared.size > 4 * most + MANY) askCollector();
      }
      if (next.done) return;
      this.#look(this.#shared.get(next.value), most);
      if (this.#shared.get(next.value)) stay++;
      else this.#shared.delete(next.value);
    }
  }

  /** Registers a function that lets go of what the thread keeps attached for speed alone. */
  whenFull(letGo: () => void): void {
    this.#spare.push(letGo);
  }

  /** The arena is full: looks at all objects of the thread, and lets go of what can go. */
  sweep(): void {
    for (const letGo of this.#spare) letGo();
    for (const shared of this.#shared.values()) this.#look(shared, 0);
  }

  #look(shared: Shared | undefined, most: number): void {
    if (!shared) return;
    if (this.core.isDisposed(shared.address)) this.letGo(shared, (libraryObject) => libraryObject[leaves]);
    else if (shared.heldBy.size === 0) this.#drop(shared);
    else if (this.#shared.size > most) this.#evict(shared);
  }

  /**
   * Takes the memory of a private object that is idle, if the class of the object can enter it again (SharedObject). A
   * semaphore that is robust is not evicted: its calls contain the number of its attachment.
   */
  #evict(shared: Shared): void {
    const { core } = this;
    const { address, attachment, countedBy, promises } = shared;
    const at = address / 4;
    // As in #drop.
    core.finishPendingCall();
    const words = this.#words.slice(at, at + OBJECT_SIZE / 4);
    const kind = words[O_KIND / 4] as number;
    if (
      (kind & CAN_MOVE) !== 0 &&
      (countedBy === 0 || (kind & IS_ROBUST) !== 0) &&
      shared.isPrivate &&
      promises.first === 0 &&
      core.held(attachment) === 0 &&
      balanceOf(words) >= Math.max(0, (words[O_INITIAL / 4] as number) + (words[O_ADDED / 4] as number))
    ) {
      this.letGo(shared, undefined, words);
      // The memory may become that of another object. Until the object has a new address, it is like a closed one.
      shared.address = CLOSED_OBJECT;
    }
  }

  /** A library object has let go, or has been collected. Nothing happens if the membership knows this already. */
  #forget(shared: Shared, ref: Ref): void {
    if (shared.heldBy.delete(ref)) this.#drop(shared);
  }

  /** Detaches the thread from an object that no library object holds. Does nothing if the thread has been detached. */
  #drop(shared: Shared): void {
    const { address, attachment, heldBy } = shared;
    if (heldBy.size > 0 || this.#shared.get(address) !== shared) return;
    const { core } = this;
    // The thread may get an object that other threads can know again, by handle or name. So it stays attached while it
    // holds something of the object, or would be the last and the object is not as it was made. Nobody can reach a
    // private object any more. So nobody waits for it, and losing what is held of it does no harm.
    const mayStay = !shared.isPrivate;
    if (mayStay && !core.isDisposed(address) && (core.held(attachment) > 0 || shared.stays?.())) return;
    // An exception may have cut a call on the object short. The call is finished while the memory belongs to the object.
    core.finishPendingCall();
    if (!core.letGo(attachment, Number(mayStay))) return;
    this.#shared.set(address, undefined);
    shared.detached?.();
  }

  /** Is called when another thread may be about to attach. From then on the death of this thread will be noticed. */
  share(): void {
    host.deaths?.watchOver(this.memory, coreModule(), this.id, this.core);
  }

  /**
   * Registers a function that is called when the thread ends or leaves the arena, while it is still in the registry. If
   * the thread leaves, the function gets the error with which everything that is pending ends.
   */
  beforeEnd(ending: (reason?: Error) => void): void {
    this.#endings.push(ending);
  }

  /** The thread leaves the arena, as if it had ended. It may attach again. */
  dispose(): void {
    this.#ignoreExit();
    this.#ignoreWorkers?.();
    this.hasLeft = true;
    memberships.delete(this.id);
    this.doorbell.close();
    this.#end(new DisposedError('the arena has been disposed of'));
    // The death of the thread would have been noticed until here.
    this.#line?.close();
  }

  /** From now on the library objects of this thread cannot reach the arena. */
  endObjects(): void {
    this.isOver = true;
    for (const shared of this.#shared.values()) for (const ref of shared?.heldBy ?? []) ref.deref()?.[threadEnded]();
  }

  #end(reason?: Error): void {
    for (const ending of this.#endings) ending(reason);
    for (const shared of this.#shared.values()) {
      shared?.promises.forget(reason);
      shared?.head?.forget(reason);
    }
    this.endObjects();
    this.#shared.clear();
    const { core } = this;
    core.unregister();
    const refuse = (): never => {
      throw reason ?? new Error('this thread has left the arena');
    };
    core.createObject = core.attach = core.draftName = core.reap = refuse;
    // A timer may still check whether a worker has ended.
    if (reason) core.reap = () => GONE;
  }
}

/** Makes the engine collect what nobody can reach any more, if it can. */
export function askCollector(): void {
  /** An allocation of so many bytes makes an engine collect. The bytes are never touched. */
  const BALLAST = 1 << 26;
  try {
    // A bundler would drop an object that nothing uses.
    new ArrayBuffer(BALLAST).slice(BALLAST);
  } catch {
    // The collector has been asked even if the allocation fails.
  }
}

function mayBlock(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}

/** Stands in the place of the functions of the core that would block. */
export function refuseToBlock(): never {
  throw mayNotBlock('acquireAsync, holdAsync or tryAcquire');
}
