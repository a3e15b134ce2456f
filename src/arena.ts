/**
 * An arena is the shared memory that semaphores and locks live in. This file makes arenas and lets threads share one.
 */
import { host } from '#host';
import { bad, badType, checkInteger, checkOptions, checkType, DisposedError } from './errors.js';
import { dispose } from './held-permits.js';
import { Attachment, isAttachment } from './runtime/attachment.js';
import { common } from './runtime/common.js';
import { VERSION } from './runtime/core.js';
import { instantiate } from './runtime/instance.js';
import { bufferOf, isShared, requireSharedMemory, sharedMemory } from './runtime/requirements.js';
import { type ArenaStats, arenaStats } from './stats.js';

/** The capacities of an arena. Memory is touched, and so really used, only when it is needed. */
export interface ArenaOptions {
  /**
   * The number of shared objects at one time, 1 to 1,048,576. Default 65,536. An object counts until it is disposed of.
   * One that no other thread can know, since it has no name and its handle was never taken, counts until its library
   * object is collected.
   */
  readonly objects?: number;
  /**
   * The number of names at one time, 1 to 1,048,576. Default 1024. A name counts until its object is disposed of.
   * Threads that open new names at the same moment may exceed the number by one each, and threads that open and dispose
   * of names at its limit may be refused one too early.
   */
  readonly names?: number;
  /** The number of threads attached at one time, 1 to 4,095. Default 1024. */
  readonly threads?: number;
  /**
   * The number of waiters at one time, 8 to 4,000,000. Default 65,536. Blocked threads and pending promises both count.
   * If more than two threads are attached to an object, each further one takes a place too.
   */
  readonly waiters?: number;
  /** Buckets of the waiting array, a power of two from 1 to 65,536. Default 2048; 1 and 2 are for tests. */
  readonly slots?: number;
  /**
   * Whether the deaths of threads are noticed with nobody's help: on Node, in Deno, in Bun (not of its web workers), and
   * in browsers. This costs the program one small thread, from the time when the arena is shared (none in browsers).
   * Default true. With false, a dead thread keeps what it holds and its place in the queue until `Arena.watch` or
   * `Arena.reap` tells of its death.
   */
  readonly watch?: boolean;
  /**
   * Chains of the second waiting array, which `taketurns/algorithms` alone uses: a power of two from 1 to 65,536.
   * Default 4096, as in the paper; 1 and 2 are for tests.
   */
  readonly chains?: number;
}

/**
 * A shared `WebAssembly.Memory`, for programs whose types have no `WebAssembly`. Where they have it, every memory is
 * one, and `instanceof WebAssembly.Memory` tells that one is a memory.
 */
export interface SharedMemory {
  /** Its bytes. */
  readonly buffer: ArrayBufferLike;
}

/** A plain, structured-cloneable value that stands for an arena in a message to another thread. */
export interface ArenaHandle {
  /** The kind of this handle. */
  readonly kind: 'Arena';
  /** The shared memory of the arena. */
  readonly memory: SharedMemory;
  /** Whether it is the default arena of its program. A worker without a default arena adopts it. */
  readonly isDefault: boolean;
}

/** A plain, structured-cloneable value that stands for a thread of an arena, until that thread ends. */
export interface ThreadHandle {
  /** The kind of this handle. */
  readonly kind: 'Thread';
  /** The id of the arena. */
  readonly arena: bigint;
  /** The number of the thread in the arena, from 1 on. A later thread may get the same number. */
  readonly thread: number;
  /** Distinguishes the thread from earlier threads with the same number. */
  readonly life: number;
}

/** The part of a worker that `Arena.watch` needs. The worker is one of `worker_threads` or a web worker. */
export type WatchedWorker =
  | {
      /** The id that Node gives the thread. */
      readonly threadId: number;
      /** Registers a function that is called when the worker has ended. */
      once(event: 'exit', listener: () => void): unknown;
    }
  | {
      /** Ends the worker. */
      terminate(): unknown;
    };

const PAGE = 65536;
const MOST_SLOTS = 65536;

// No record or bucket, and no element with its share of the overflow lines, takes so many bytes (core/memory/arena.ts).
// What they leave exceeds the header and the gaps that align tables, or fits the first page with them.
const RECORD = 256;
const ELEMENT = 96;

/** This thread's attachment to its default arena, which all copies of this package share. */
interface Own {
  attachment: Attachment | undefined;
  /** The arena of the new objects of a worker that has no default arena. */
  apart: Attachment | undefined;
}
const own = common('default', (): Own => ({ attachment: undefined, apart: undefined }));
/** The key under which a worker inherits it. Each version has its own. */
const INHERITED = `taketurns:arena:${VERSION}`;
/** The one Arena object of each attachment. */
const arenas = new WeakMap<Attachment, Arena>();
let attachmentIn: (arena: Arena) => Attachment;

/**
 * A piece of shared memory that holds semaphores and locks. Threads that attach to one arena share its contents. Most
 * programs use only `Arena.default`, and never name it.
 *
 * @example
 * ```ts
 * import { Arena, Semaphore } from 'taketurns';
 *
 * const arena = new Arena({ objects: 16 }); // threads share it by arena.handle, or by the handle of what is in it
 * const pool = new Semaphore(4, { max: 4, arena });
 * console.log(arena.stats().objects);
 * ```
 */
export class Arena {
  /** Undefined after `dispose`. */
  #given: Attachment | undefined;
  /**
   * The one handle object. A message with several handles so names the memory once: Firefox 140 takes the second
   * mention of a memory for a mention of its buffer.
   */
  #handle: ArenaHandle | undefined;

  static {
    attachmentIn = (arena) => arena.#attachment;
  }

  /**
   * Makes an arena and attaches the calling thread to it.
   * @throws `RangeError` or `TypeError` for options that are no object, or a capacity out of its range.
   * @throws {Error} if the runtime or page lacks a feature such as shared memory, or if there is no address space left:
   * V8 reserves 10 GiB of it for each arena. The message names the reason.
   */
  constructor(options?: ArenaOptions);
  constructor(options: ArenaOptions | Attachment = {}) {
    this.#given = isAttachment(options) ? options : create(options);
    arenas.set(this.#given, this);
  }

  /**
   * The arena of every object that names none. On the main thread it is made on first use. Workers of `worker_threads`
   * that start later inherit it; web workers inherit it in Bun alone. In a worker that has inherited none, the default
   * arena of the first handle that arrives becomes its default.
   *
   * A worker without a default arena may make objects all the same. They lie in an arena that is its own, and that no
   * other thread can take for the default one: others reach an object there by its handle, which names the arena. What
   * threads find without a handle, by a name or by a key, they must seek in one and the same arena. So `open` throws
   * the error of this property there. If the main thread does not use the library, `new Arena().makeDefault()` makes
   * the worker the first thread, for itself and the workers that it starts.
   * @throws {Error} in a worker that has none: two threads would use two arenas and not synchronise.
   */
  static get default(): Arena {
    if (own.attachment) return arenaOf(own.attachment);
    const inherited = host.inherited(INHERITED);
    if (inherited !== undefined) return Arena.from(inherited as ArenaHandle);
    if (!host.isMainThread) {
      throw new Error(
        'this worker has no arena. Use Arena.default (or new Semaphore) on the main thread before it starts the worker, ' +
          'or send the worker a handle and call Semaphore.from(handle) there, or name an arena ({ arena }). If the main ' +
          'thread does not use the library, call new Arena().makeDefault() here',
      );
    }
    return new Arena().makeDefault();
  }

  /**
   * Attaches the calling thread to the arena of a handle. Handles of one arena give one `Arena` object. Never blocks.
   * @throws `TypeError` if the value is not the handle of an arena.
   * @throws {@link ArenaFullError} if the arena has no room for another thread.
   */
  static from(handle: ArenaHandle): Arena {
    requireSharedMemory();
    const buffer = handle?.kind === 'Arena' ? bufferOf(handle.memory) : undefined;
    if (buffer === undefined) throw badType('Arena.from: handle', 'the handle of an Arena of this process', handle);
    if (!isShared(buffer)) throw new TypeError('Arena.from: the memory of the handle is not shared');
    const attachment = Attachment.of(handle.memory as WebAssembly.Memory);
    if (!attachment) throw new TypeError('Arena.from: the memory of the handle holds no arena of this version');
    const arena = arenaOf(attachment);
    if (handle.isDefault && !own.attachment && host.inherited(INHERITED) === undefined) arena.makeDefault();
    return arena;
  }

  /**
   * Makes this arena the default of this thread, and of later workers, where workers inherit. Never blocks.
   * @throws {Error} if the thread has another default arena already.
   */
  makeDefault(): this {
    if (own.attachment && own.attachment !== this.#attachment) {
      throw new Error('makeDefault: this thread has a default arena already');
    }
    own.attachment = this.#attachment;
    host.setInherited(INHERITED, this.#plainHandle, () => this.#attachment.share());
    return this;
  }

  /** @throws {@link DisposedError} after `dispose`, be it of the arena object that another copy of this package has. */
  get #attachment(): Attachment {
    if (!isAttachment(this.#given)) throw new DisposedError('the arena has been disposed of');
    return this.#given;
  }

  /** The value to send to another thread, for `Arena.from` there. */
  get handle(): ArenaHandle {
    this.#attachment.share();
    return this.#plainHandle;
  }

  get #plainHandle(): ArenaHandle {
    const isDefault = own.attachment === this.#attachment;
    if (this.#handle?.isDefault !== isDefault)
      this.#handle = Object.freeze({ kind: 'Arena', memory: this.#attachment.memory, isDefault });
    return this.#handle;
  }

  /** The number of threads that are attached now. It is racy, and meant for diagnostics. */
  get threads(): number {
    return this.#attachment.core.threadCount();
  }

  /** Describes the arena, for diagnostics. It looks at every waiter and is racy. Never blocks, throws nothing. */
  stats(): ArenaStats {
    return arenaStats(this.#attachment);
  }

  /** The handle of the calling thread. Another thread needs it to `reap` this one after its death. */
  get thread(): ThreadHandle {
    return { kind: 'Thread', arena: this.#attachment.id, ...this.#attachment.identity };
  }

  /**
   * Reaps the thread of a worker when the worker ends, in whatever way; see `reap`. That is needed only if the arena was
   * made with `{ watch: false }`, and for web workers of Bun; it does no harm otherwise. The thread that started the
   * worker calls this before the worker ends. The worker may attach to the arena before or after. Never blocks. The end
   * is heard in the event loop of the calling thread, so that thread must not block while it waits for what the worker
   * holds.
   *
   * A worker of `worker_threads` (Node, Deno, Bun) is reaped at its `exit`. A web worker reports its end to nobody but
   * in Bun, so it is reaped when `terminate` is called on this very object, and the caller must name its thread. Deno's
   * `exit` and a browser's `terminate` do not prove that the thread has stopped. So the thread is reaped at once only if
   * it sleeps in this library; otherwise when its end is noticed, or after 3 s with `{ watch: false }`.
   * @param thread of the worker, from its own `arena.thread`. Only web workers need it.
   * @throws `TypeError` if the value is not a worker, or is a web worker without a thread.
   * @throws {Error} if the worker has ended already.
   */
  watch(worker: WatchedWorker, thread?: ThreadHandle): void {
    checkType('Arena.watch: worker', worker, 'object', 'a worker');
    if (host.watchExit?.(worker, this.#attachment.core, this.#attachment.memory)) return;
    if (!('terminate' in worker) || typeof worker.terminate !== 'function')
      throw badType('Arena.watch: worker', 'a worker', worker);
    const { thread: index, life } = this.#check('Arena.watch: thread (which a worker of the web needs)', thread);
    if (host.whenClosed) {
      host.whenClosed(worker, () => this.#attachment.reap(index, life));
      return;
    }
    const terminate = worker.terminate;
    worker.terminate = (): unknown => {
      const ended = terminate.call(worker);
      this.#given?.reapTerminated(index, life);
      return ended;
    };
  }

  /**
   * Declares a thread dead. Its waiting requests are cancelled, as by a time-out. The permits and locks that it holds
   * of robust objects go back, and the next owner learns of it. Its other attachments end. Never blocks.
   *
   * The thread must have ended, or must sleep in a blocking call of this library, in which it then sleeps for ever. A
   * thread that runs on would damage the memory of the arena.
   * @returns whether it was attached until now.
   * @throws `TypeError` if the value is not the handle of a thread.
   * @throws {Error} if it is the calling thread.
   */
  reap(thread: ThreadHandle): boolean {
    const { thread: index, life } = this.#check('Arena.reap: thread', thread);
    const own = this.#attachment.identity;
    if (index === own.thread && life === own.life) throw new Error('Arena.reap: a thread cannot declare itself dead');
    return this.#attachment.reap(index, life);
  }

  /**
   * Lets the calling thread leave the arena, as if the thread had ended. Its pending promises reject with a
   * `DisposedError`, what it holds of robust objects goes back, its place in the arena is free for another thread, and
   * it reaps none of the workers that it watches. Every later use of this object, and of the objects of the arena that
   * the thread has, throws a `DisposedError`; giving back has no effect. Other threads are not disturbed, and the thread
   * may attach again by a handle that it gets from one. Does nothing the second time. Never blocks.
   *
   * The memory goes when every thread has left, none keeps an object or a handle of the arena, and the runtime has
   * collected them. V8 does so at the latest when it needs the address space for another arena, but only for what was
   * used in earlier turns of the event loop: who makes thousands of arenas in turn must let the loop turn. (Under a tight
   * `ulimit -v` this is true only of arenas whose handle was never taken.) Locks and capacitors of
   * `taketurns/algorithms` that the thread holds stay locked, as at its end: unlock them before.
   * @throws {Error} for the default arena of the thread, which others use without naming it.
   */
  dispose(): void {
    const attachment = this.#given;
    if (attachment && own.attachment === attachment)
      throw new Error('Arena.dispose: this is the default arena of the thread, which others use without naming it');
    if (own.apart === attachment) own.apart = undefined;
    if (isAttachment(attachment)) attachment.dispose();
    this.#given = this.#handle = undefined;
  }

  /** Ends a `using` scope: calls `dispose`. */
  [dispose](): void {
    this.dispose();
  }

  #check(what: string, thread: unknown): ThreadHandle {
    const handle = thread as ThreadHandle | null | undefined;
    if (handle?.kind !== 'Thread') throw badType(what, 'the handle of a thread (arena.thread)', thread);
    if (handle.arena !== this.#attachment.id) throw new TypeError(`${what} is of another arena`);
    checkInteger(`${what}.thread`, handle.thread, 1, this.#attachment.core.mostThreads());
    checkInteger(`${what}.life`, handle.life, 1, 0x7fffffff);
    return handle;
  }
}

function create(options: ArenaOptions): Attachment {
  checkOptions('Arena', options);
  const objects = checkInteger('objects', options.objects ?? 65536, 1, 1 << 20);
  const names = checkInteger('names', options.names ?? 1024, 1, 1 << 20);
  const threads = checkInteger('threads', options.threads ?? 1024, 1, 4095);
  const waiters = checkInteger('waiters', options.waiters ?? 65536, 8, 4_000_000);
  const watch = options.watch ?? true;
  checkType('watch', watch, 'boolean', 'true or false');
  const slots = tableSize('slots', options.slots ?? 2048);
  const chains = tableSize('chains', options.chains ?? 4096);
  // Each attached thread owns up to two elements besides those of its waiters, and each of its attachments takes one.
  const elements = waiters + 2 * threads + 2 * objects;
  const sizes = [objects, names, threads, slots, chains, elements] as const;
  // V8 reserves 10 GiB of address space for each memory, whatever its size. So there is no second memory in which the
  // core could measure the arena: this is a bound of its size, which `open` checks. Untouched pages are free.
  const records = objects + names + 3 * threads + slots + chains;
  const memory = sharedMemory(Math.ceil((RECORD * records + ELEMENT * elements) / PAGE));
  instantiate(memory).create(crypto.getRandomValues(new BigInt64Array(1))[0] as bigint, ...sizes);
  if (!watch) host.deaths?.unwatch(memory);
  return Attachment.of(memory) as Attachment;
}

function tableSize(name: string, value: unknown): number {
  const size = checkInteger(name, value, 1, MOST_SLOTS);
  if (size & (size - 1)) throw bad('number', name, `a power of two from 1 to ${MOST_SLOTS}`, size);
  return size;
}

/** @internal The Arena object of an attachment. */
export function arenaOf(attachment: Attachment): Arena {
  return arenas.get(attachment) ?? new Arena(attachment as ArenaOptions);
}

/** @internal The calling thread's attachment to the arena, or to the default one. */
export function attachmentOf(arena: Arena | undefined): Attachment {
  if (arena === undefined) return attachmentIn(Arena.default);
  if (!(arena instanceof Arena)) throw badType('arena', 'an Arena', arena);
  return attachmentIn(arena);
}

/**
 * @internal The same for a new object, which other threads can find by its handle alone. A worker that has no default
 * arena makes it in an arena of its own, and no two threads then take two arenas for one.
 */
export function attachmentForNew(arena: Arena | undefined): Attachment {
  const hasDefault = own.attachment || host.isMainThread || host.inherited(INHERITED) !== undefined;
  if (arena !== undefined || hasDefault) return attachmentOf(arena);
  own.apart ??= create({});
  return own.apart;
}
