/**
 * The arenas of the calling thread: how it makes one and attaches to one, and which of them is its default arena.
 *
 * In this file an arena is represented by the membership of the thread in it. Semaphores and locks need only the
 * membership. So the bundle of a program that never names an arena does not contain the class `Arena` (arena.ts).
 */
import { host } from '#host';
import { VERSION } from '../border/numbers.js';
import { now } from './clock.js';
import { common } from './common.js';
import { bad, badType, checkInteger, checkOptions, checkType, MOST } from './errors.js';
import { instantiate } from './instance.js';
import { attachedTo, Membership } from './membership.js';
import { bufferOf, isShared, requireSharedMemory, sharedMemory } from './requirements.js';

/** The capacities of an arena. Memory is touched, and so really used, only when it is needed. */
export interface ArenaOptions {
  /**
   * The number of shared objects at one time, 1 to 1,048,576. Default 65,536. As many of them as you like may have
   * names. An object counts until it is disposed of. An object whose handle was never taken counts at most until no
   * thread has it open any more: every library object of it has been collected, or its thread has ended. If the object
   * has no name either, is a `Mutex` or a `Semaphore` that is not robust, and is idle, the library may give its room to
   * other objects. It then gets room again when it is next used.
   */
  readonly objects?: number;
  /** The number of threads attached at one time, 1 to 4,095. Default 1024. */
  readonly threads?: number;
  /**
   * The number of waiters at one time, 8 to 4,000,000. Default 65,536. Blocked threads and pending promises both count.
   * If more than two threads are attached to an object, the third thread and each later one counts as a waiter, too.
   */
  readonly waiters?: number;
  /** @internal Buckets of the waiting array, a power of two from 1 to 65,536. Default 2048. For tests and measurements. */
  readonly slots?: number;
  /**
   * The bytes for the messages of the channels of `taketurns/channel`, and for the schedules of the rate limiters of
   * `taketurns/keyed`, 0 to 1,073,741,824. Default 16,777,216. They are address space, and are really used only when a
   * channel or a limiter is made. A channel takes pages of 4,096 bytes, and a limiter one such page at least. A
   * `KeyedRateLimiter` takes 60 to 100 bytes for each of its `keys`.
   * @since 0.3.0
   */
  readonly bytes?: number;
  /**
   * Whether the library notices the deaths of threads by itself: on Node, in Deno, in Bun (not of its web workers), and
   * in browsers. Default true. From the time when the arena is shared, this costs the program one small thread (none in
   * browsers). With false, a dead thread keeps what it holds and its place in the queue until `Arena.watch` or
   * `Arena.reap` tells the library of the death.
   */
  readonly watch?: boolean;
  /**
   * @internal Chains of the second waiting array, which `taketurns/algorithms` alone uses: a power of two from 1 to
   * 65,536. Default 4096, as in the paper. For tests and measurements.
   */
  readonly chains?: number;
}

/**
 * A shared `WebAssembly.Memory`. The library has this type because the types of some programs have no `WebAssembly`.
 * Every `WebAssembly.Memory` is a `SharedMemory`, and `instanceof WebAssembly.Memory` tells that a value is one.
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

/** This thread's membership of its default arena, which all copies of this package share. */
interface Own {
  membership?: Membership;
  /** If a worker has no default arena, its new objects without a name are in this arena (see membershipForNew). */
  apart?: Membership | undefined;
}
const own = common('default', (): Own => ({}));
/** The key under which a worker inherits its default arena. Each version of the library has its own key. */
const keyOf = (version: number): string => `taketurns:arena:${version}`;
const INHERITED = keyOf(VERSION);

/** Whether this thread has inherited a default arena that another version of the library has made. */
function isOfAnotherVersion(): boolean {
  /** How many later versions of the layout an error knows of. */
  const LATER = 100;
  return Array.from({ length: VERSION + LATER }, (_, version) => host.inherited(keyOf(version))).some(Boolean);
}

/** @internal An `Arena` gives the membership of this thread by this property. */
export const inside = Symbol();

/** @internal What may be named as the arena of an object. */
export interface Inside {
  readonly [inside]: Membership;
}

/** @internal This thread's membership of its default arena. Makes the arena if it may: see `Arena.default`. */
export function defaultArena(): Membership {
  const known = knownDefault();
  if (known) return Membership.of(known.memory) as Membership;
  if (!host.isMainThread) {
    const advice = isOfAnotherVersion()
      ? 'the main thread has loaded another version of the package, and each version has names of its own: install one ' +
        'version for all threads (npm ls taketurns shows them)'
      : host.toShare;
    throw new Error(`this worker has no default arena, in which threads find each other's objects by name: ${advice}`);
  }
  return makeDefault(makeArena(USUAL));
}

/**
 * @internal What `taketurns/share` does: makes the default arena, unless this thread has one. A worker that has
 * inherited the arena does not attach to it before it uses an object.
 */
export function shareDefault(): void {
  if (!knownDefault()) defaultArena();
}

/** @internal This thread's membership of the arena of a handle. */
export function fromHandle(handle: ArenaHandle, what = 'Arena.from: handle'): Membership {
  requireSharedMemory();
  const isHandle = handle?.kind === 'Arena';
  const buffer = isHandle ? bufferOf(handle.memory) : undefined;
  if (buffer === undefined) {
    const instead = isHandle
      ? 'its memory is missing; send a handle by postMessage or workerData, and not as JSON or to another process'
      : '';
    throw badType(what, 'the handle of an Arena of this process', handle, instead);
  }
  const membership = isShared(buffer) ? Membership.of(handle.memory as WebAssembly.Memory) : undefined;
  if (!membership)
    throw new TypeError(
      'Arena.from: the memory of the handle holds no shared arena of this version of the package: all threads need one ' +
        'version (npm ls taketurns shows them)',
    );
  return handle.isDefault && !knownDefault() ? makeDefault(membership) : membership;
}

/** This thread's default arena, or the handle by which the thread has inherited one. Both have its memory. */
function knownDefault(): { readonly memory: WebAssembly.Memory } | undefined {
  return own.membership ?? (host.inherited(INHERITED) as Membership | undefined);
}

/**
 * Whether an arena is the default arena of this thread. A worker may have inherited it and not have used it yet.
 * Undefined if the thread has no default arena.
 */
function isDefault(membership: Membership): boolean | undefined {
  const known = knownDefault();
  return known && (known === membership || attachedTo(known.memory) === membership);
}

/**
 * @internal Makes an arena the default one of this thread; see `Arena.makeDefault`.
 *
 * The default arena of a worker always comes from another thread: inherited, or by a handle. If workers made arenas of
 * their own their default ones, one name would lead two workers to two objects, and nothing would tell.
 */
export function makeDefault(membership: Membership): Membership {
  const is = isDefault(membership);
  if (is === false) {
    throw new Error(
      host.isMainThread
        ? 'makeDefault: this thread has a default arena already, made by the first use of an object or by ' +
            "taketurns/share: call makeDefault before all else, and in place of import 'taketurns/share'"
        : 'makeDefault: this worker has a default arena already, which another thread has made: take this call out, or ' +
            'call makeDefault in the main thread, before all else',
    );
  }
  if (is === undefined && !host.isMainThread && made.has(membership)) {
    throw new Error(
      'makeDefault: this worker has made the arena, so in another worker a name would lead to another object: take ' +
        `this call out, and ${host.toShare}`,
    );
  }
  own.membership = membership;
  host.setInherited(INHERITED, plainHandle(membership), () => membership.share());
  return membership;
}

/** @internal The handle of an arena. Another thread is about to get this handle. */
export function handleOf(membership: Membership): ArenaHandle {
  membership.share();
  return plainHandle(membership);
}

/**
 * An arena has one handle object at a time. So a message with several handles mentions the memory only once. This
 * matters in Firefox 140: if a message mentions a memory twice, the receiver gets its buffer instead the second time.
 */
function plainHandle(membership: Membership): ArenaHandle {
  const is = !!isDefault(membership);
  if (membership.handle?.isDefault !== is)
    membership.handle = Object.freeze({ kind: 'Arena', memory: membership.memory, isDefault: is });
  return membership.handle as ArenaHandle;
}

/** @internal Checks that this thread may leave an arena; see `Arena.dispose`. */
export function leave(membership: Membership | undefined): void {
  if (membership && isDefault(membership)) {
    throw new Error(
      'Arena.dispose: this is the default arena of the thread, in which objects without an { arena } are: ' +
        'dispose of these objects instead',
    );
  }
  if (own.apart === membership) own.apart = undefined;
}

/** The arenas that this thread has made, whichever copy of this package did it. */
const made = common('made', () => new WeakSet<Membership>());
/** The number of arenas that this module has made. */
let count = 0n;

/** What an arena has if nothing else is asked for, as a default arena. */
const USUAL: Required<ArenaOptions> = {
  objects: 65536,
  threads: 1024,
  waiters: 65536,
  bytes: 2 ** 24,
  watch: true,
  slots: 2048,
  chains: 4096,
};

/** @internal Makes an arena of these capacities. */
export function create(options: ArenaOptions): Membership {
  checkOptions('Arena', options, ['objects', 'threads', 'waiters', 'bytes', 'watch'], ['slots', 'chains']);
  const whole = (name: Exclude<keyof ArenaOptions, 'watch'>, min: number, max: number): number => {
    const { [name]: value = USUAL[name] } = options;
    return checkInteger(`Arena: ${name}`, value, min, max);
  };
  const table = (name: 'slots' | 'chains'): number => {
    const LONGEST = 65536;
    const size = whole(name, 1, LONGEST);
    if (size & (size - 1)) throw bad('number', `Arena: ${name}`, `a power of two from 1 to ${LONGEST}`, size);
    return size;
  };
  const { watch = USUAL.watch } = options;
  checkType('Arena: watch', watch, 'boolean', 'true or false');
  return makeArena({
    objects: whole('objects', 1, MOST.objects),
    threads: whole('threads', 1, MOST.threads),
    waiters: whole('waiters', 8, MOST.waiters),
    bytes: whole('bytes', 0, 2 ** 30),
    watch,
    slots: table('slots'),
    chains: table('chains'),
  });
}

function makeArena({ objects, threads, waiters, bytes, watch, slots, chains }: Required<ArenaOptions>): Membership {
  // Each attached thread owns up to two elements besides those of its waiters, and each of its attachments takes one.
  const elements = waiters + 2 * threads + 2 * objects;
  const sizes = [objects, threads, slots, chains, elements] as const;
  // The core computes the exact size of an arena only inside a memory. But V8 reserves 10 GiB of address space for each
  // memory, so the library makes no extra memory for that. The size here is an upper bound, which `open` checks. Pages
  // that are never touched cost nothing.
  // Metrics take 512 records at the end (report/series.ts).
  const records = objects + 2 * threads + slots + chains + 512;
  // An object with its name, a record, a bucket, and an element with its share of the overflow lines each take no more
  // bytes than are reckoned here (core/arena/arena.ts). The surplus makes up for the header, for the heads of the lists
  // of names, and for the gaps that align tables. In a small arena the surplus may be too small for them. But then the
  // whole arena fits the first page of 64 KiB.
  const PAGE = 65536;
  const RECORD = 256;
  const ELEMENT = 96;
  const memory = sharedMemory(Math.ceil((RECORD * records + ELEMENT * elements + bytes) / PAGE));
  // Node 20 may lack `crypto`, so the id comes from the clock and `Math.random`. A test may replace `Math.random`, and
  // a clock may be coarse. So a count tells apart arenas that are made at the same moment.
  const id = BigInt(Math.floor((now() + Math.random()) * 2 ** 40)) + ++count;
  const core = instantiate(memory);
  core.create(id, ...sizes);
  if (!watch) host.deaths?.unwatch(memory);
  const membership = Membership.of(memory, core) as Membership;
  made.add(membership);
  return membership;
}

/**
 * @internal This thread's membership of the arena that a caller has named, or of the default arena.
 * @param what how the error of something else begins: the call that got it.
 */
export function membershipOf(what: string, arena: Inside | undefined): Membership {
  if (arena === undefined) return defaultArena();
  const membership = arena?.[inside];
  if (!membership) {
    const isHandle = (arena as { readonly kind?: unknown } | null)?.kind === 'Arena';
    throw badType(`${what}: arena`, 'an Arena', arena, isHandle ? 'write Arena.from(handle)' : '');
  }
  return membership;
}

/**
 * @internal This thread's membership of the arena of a new object that other threads can find only by its handle. A
 * worker that has no default arena makes such an object in an arena of its own. The handle names the arena, so two
 * threads never take two arenas for one.
 */
export function membershipForNew(what: string, arena: Inside | undefined): Membership {
  if (arena !== undefined || host.isMainThread || knownDefault()) return membershipOf(what, arena);
  own.apart ??= makeArena(USUAL);
  return own.apart;
}
