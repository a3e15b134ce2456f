/**
 * An arena is the shared memory that semaphores and locks live in. This file is its public face: what a program may ask
 * of an arena that it names. own-arenas.ts makes arenas and lets threads share one.
 */
import { host } from '#host';
import { REAPED, STILL_AWAKE } from '../border/numbers.js';
import { inspected, shown } from '../common/shown.js';
import { dispose } from '../common/symbols.js';
import { type ArenaStats, arenaStats } from '../objects/stats.js';
import { setTimeout } from '../runtime/clock.js';
import { badType, checkInteger, checkType, DisposedError } from '../runtime/errors.js';
import { afterInterrupt } from '../runtime/interrupts.js';
import { isMembership, type Membership } from '../runtime/membership.js';
import {
  type ArenaHandle,
  type ArenaOptions,
  create,
  defaultArena,
  fromHandle,
  handleOf,
  inside,
  leave,
  makeDefault,
} from '../runtime/own-arenas.js';

export type { ArenaHandle, ArenaOptions, SharedMemory } from '../runtime/own-arenas.js';

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

/** The one Arena object of each membership. */
const arenas = new WeakMap<Membership, Arena>();

/**
 * A piece of shared memory that holds semaphores and locks. Threads that attach to one arena share its contents. Most
 * programs use only `Arena.default`, and never name it.
 *
 * @example
 * ```ts
 * import { Arena, Semaphore } from 'taketurns';
 *
 * const arena = new Arena({ objects: 16 }); // threads share it by arena.handle, or by the handle of what is in it
 * const pool = new Semaphore(4, { arena });
 * console.log(arena.stats().objects);
 * ```
 */
export class Arena {
  /** Undefined after `dispose`. */
  #membership: Membership | undefined;
  /** Goes on with a `reap` that an exception of the runtime has ended; until then this thread stays the reaper. */
  readonly #expectInterrupt = afterInterrupt(() => this.#membership?.core.reap(0, 0, 0));
  /**
   * Makes an arena and attaches the calling thread to it.
   * @throws {RangeError | TypeError} for options that are no object, or a capacity out of its range.
   * @throws {Error} if the runtime or page lacks a feature such as shared memory, or if there is no address space left:
   * V8 reserves 10 GiB of it for each arena. The message names the reason.
   */
  constructor(options?: ArenaOptions);
  constructor(options: ArenaOptions | Membership = {}) {
    this.#membership = isMembership(options) ? options : create(options);
    arenas.set(this.#membership, this);
  }

  /**
   * The arena of every object that names none. On the main thread the default arena is made on first use, or by
   * `import 'taketurns/share'`. Workers of `worker_threads` that start later inherit the default arena; web workers
   * inherit it in Bun alone. If a worker has inherited no default arena, the default arena of the first handle that
   * arrives becomes its default.
   *
   * A worker without a default arena may make objects all the same. These objects lie in an arena of the worker's own,
   * which no other thread can take for the default arena. Other threads reach an object there by its handle, which
   * names the arena. A name or a key leads threads to one object only if they look in the same arena. So in such a
   * worker `open` throws the error of this property.
   * @throws {Error} in a worker that has none: two threads would use two arenas and not synchronise.
   */
  static get default(): Arena {
    return arenaOf(defaultArena());
  }

  /**
   * Attaches the calling thread to the arena of a handle. Handles of one arena give one `Arena` object. Never blocks.
   * @throws {TypeError} if the value is not the handle of an arena.
   * @throws {ArenaFullError} if the arena has no room for another thread.
   * @example const arena = Arena.from(handle); // where the handle of a message has arrived
   */
  static from(handle: ArenaHandle): Arena {
    return arenaOf(fromHandle(handle));
  }

  /**
   * Makes this arena the default of this thread, and of later workers, where workers inherit. Never blocks. Call this
   * on the main thread. A worker calls this only for an arena that it has got from another thread by a handle.
   * @throws {Error} if the thread has another default arena already, as a worker has that has inherited one. So a file
   * that the main thread and workers run calls this on the main thread only.
   * @throws {Error} in a worker that has made the arena: another worker could do the same, and one name would then lead
   * the two to two objects.
   * @example new Arena({ watch: false }).makeDefault();
   */
  makeDefault(): this {
    makeDefault(this[inside]);
    return this;
  }

  /**
   * @internal @throws {DisposedError} after `dispose`, also if another copy of this package has made the arena
   * object that was disposed of.
   */
  get [inside](): Membership {
    if (!isMembership(this.#membership)) throw new DisposedError('the arena has been disposed of');
    return this.#membership;
  }

  /** The value to send to another thread, for `Arena.from` there. */
  get handle(): ArenaHandle {
    return handleOf(this[inside]);
  }

  /** The number of threads that are attached now. It is racy, and meant for diagnostics. */
  get threads(): number {
    return this[inside].core.threadCount();
  }

  /**
   * Describes the arena, for diagnostics. It looks at every waiter and is racy. Never blocks, throws nothing.
   * @example console.log(arena.stats().objects.used);
   */
  stats(): ArenaStats {
    return arenaStats(this[inside]);
  }

  /** The handle of the calling thread. Another thread needs it to `reap` this one after its death. */
  get thread(): ThreadHandle {
    const { id, thread, core } = this[inside];
    return { kind: 'Thread', arena: id, thread, life: core.lifeIfAlive(thread) };
  }

  /**
   * Reaps the thread of a worker when the worker ends, in whatever way; see `reap`. You need this call only if the
   * arena was made with `{ watch: false }`, and for web workers of Bun; otherwise the library does so by itself, and the
   * call does no harm. The thread that
   * started the worker calls this before the worker ends. The worker may attach to the arena before or after the call.
   * Never blocks. The calling thread hears of the end of the worker in its event loop, so it must not block while it
   * waits for what the worker holds.
   *
   * A worker of `worker_threads` (Node, Deno, Bun) is reaped at its `exit`. A web worker reports its end only in Bun,
   * so it is reaped when `terminate` is called on this very object, and the caller must name its thread. Deno's `exit`
   * and a browser's `terminate` do not prove that the thread has stopped. So there the thread is reaped at once only if
   * it sleeps in this library. Otherwise it is reaped when its end is noticed, or after 3 s with `{ watch: false }`.
   * @param thread of the worker, from its own `arena.thread`. Only web workers need it.
   * @throws {TypeError} if the value is not a worker, or is a web worker without a thread.
   * @throws {Error} if the worker has ended already.
   * @example arena.watch(worker);
   */
  watch(worker: WatchedWorker, thread?: ThreadHandle): void {
    checkType('Arena.watch: worker', worker, 'object', 'a worker');
    if (host.watchExit?.(worker, this[inside].core, this[inside].memory)) return;
    const { terminate } = worker as { terminate?: () => unknown };
    if (typeof terminate !== 'function') throw badType('Arena.watch: worker', 'a worker', worker);
    const { thread: index, life } = this.#check('Arena.watch: thread', thread);
    if (host.whenClosed) {
      host.whenClosed(worker, () => this.#membership && reap(this.#membership, index, life));
      return;
    }
    (worker as { terminate: typeof terminate }).terminate = (): unknown => {
      const ended = terminate.call(worker);
      if (this.#membership) reapTerminated(this.#membership, index, life);
      return ended;
    };
  }

  /**
   * Declares a thread dead. Its waiting requests are cancelled, as by a time-out. The permits and locks that the thread
   * holds of robust objects go back, and the next owner learns of the death. Its other attachments end. Never blocks.
   *
   * The thread must have ended, or must sleep in a blocking call of this library and never wake again. A thread that
   * runs on would damage the memory of the arena.
   * @returns whether it was attached until now.
   * @throws {TypeError} if the value is not the handle of a thread.
   * @throws {Error} if it is the calling thread.
   * @example arena.reap(thread); // the `arena.thread` of the dead worker, which it had sent
   */
  reap(thread: ThreadHandle): boolean {
    const { thread: index, life } = this.#check('Arena.reap: thread', thread);
    const { thread: own, core } = this[inside];
    if (index === own && life === core.lifeIfAlive(own))
      throw new Error('Arena.reap: a thread cannot declare itself dead');
    this.#expectInterrupt();
    return reap(this[inside], index, life);
  }

  /**
   * Lets the calling thread leave the arena, as if the thread had ended. Its pending promises reject with a
   * `DisposedError`, what it holds of robust objects goes back, its record in the arena is free for another thread, and
   * it no longer reaps the workers that it watches. Every later use of this object, and of the objects of the arena
   * that the thread has, throws a `DisposedError`; a call that gives something back has no effect. Other threads are
   * not disturbed. The thread may attach again by a handle that it gets from another thread. Does nothing the second
   * time. Never blocks.
   *
   * The memory is freed when every thread has left, no thread keeps an object or a handle of the arena, and the runtime
   * has collected these objects and handles. V8 collects them at the latest when it needs the address space for another
   * arena. But V8 does not collect what the present iteration of the event loop has used. So a program that makes
   * thousands of arenas one after another must let the event loop turn. (Under a tight `ulimit -v` V8 collects in this
   * way only arenas whose handle was never taken.)
   *
   * Locks and capacitors of `taketurns/algorithms` that the thread holds stay locked, as they do when a thread ends.
   * Unlock them before you call `dispose`.
   * @throws {Error} for the default arena of the thread, which others use without naming it.
   * @example arena.dispose();
   */
  dispose(): void {
    const membership = this.#membership;
    leave(membership);
    if (isMembership(membership)) membership.dispose();
    this.#membership = undefined;
  }

  /** Ends a `using` scope: calls `dispose`. */
  [dispose](): void {
    this.dispose();
  }

  /**
   * Returns, for example, `Arena(3 of 65536 objects)`. It is racy, and meant for diagnostics. Never blocks, throws
   * nothing.
   */
  toString(): string {
    if (!isMembership(this.#membership)) return 'Arena(disposed)';
    const { core } = this.#membership;
    return `Arena(${core.liveObjects()} of ${core.mostObjects()} objects)`;
  }

  /** `Arena`. */
  get [Symbol.toStringTag](): string {
    return 'Arena';
  }

  /** @internal */
  [inspected](): string {
    return shown(this);
  }

  #check(what: string, thread: unknown): ThreadHandle {
    const handle = thread as ThreadHandle | null | undefined;
    if (handle?.kind !== 'Thread') throw badType(what, 'the handle of a thread (arena.thread)', thread);
    if (handle.arena !== this[inside].id) throw new TypeError(`${what} is of another arena`);
    checkInteger(`${what}.thread`, handle.thread, 1, this[inside].core.mostThreads());
    checkInteger(`${what}.life`, handle.life, 1, 0x7fffffff);
    return handle;
  }
}

/** @internal The Arena object of a membership. */
export function arenaOf(membership: Membership): Arena {
  return arenas.get(membership) ?? new Arena(membership as ArenaOptions);
}

/** Reaps a thread that was registered with this life and no longer runs. Returns whether it was alive until now. */
function reap({ core }: Membership, thread: number, life: number): boolean {
  return core.reap(thread, life, 0) === REAPED;
}

/** Reaps a terminated thread, as soon as it sleeps, or at the end of the grace period if it counts as ended then. */
function reapTerminated(membership: Membership, thread: number, life: number, left = host.grace): void {
  // A terminated worker may run on. This thread looks at it every LOOK milliseconds for host.grace milliseconds. After
  // that time the worker counts as ended if no thread notices ends in the arena.
  const LOOK = 20;
  const { core, memory } = membership;
  // When the grace period is over, the record may say that the thread is awake although the thread has ended. If a
  // keeper or a page notices deaths in this arena, it decides. Otherwise the thread counts as ended here.
  const onlyAsleep = left > 0 || (host.grace > 0 && host.deaths?.isWatched(memory));
  if (core.reap(thread, life, Number(onlyAsleep)) !== STILL_AWAKE || left <= 0) return;
  setTimeout(() => reapTerminated(membership, thread, life, left - LOOK), LOOK);
}
