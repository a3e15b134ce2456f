/**
 * This file lists the exports of the compiled core and the numbers of its answers. core/memory/layout.ts has the same
 * numbers, and a unit test compares the two. The file imports nothing: a bundler can then write a number in place of its
 * name, wherever that is used.
 */

/** The version of the layout of an arena, and of what copies of this package share in a thread (common.ts). */
export const VERSION = 2;

/** The answers of the functions of the core. */
export const ADMITTED = 0;
export const OWNER_DIED = 1;
export const REFUSED = 2;
export const TIMED_OUT = 6;
export const LEAVE = 9;
export const BEGUN = 7;
export const CONTENDED = 7;
export const ARRIVED = 16;
export const ANSWER_CLOSED = -1;
export const ANSWER_FULL = -2;
export const ANSWER_OVER_MAX = -3;
export const ANSWER_STALE = -4;
export const ANSWER_WRONG_KIND = -5;
export const ANSWER_NOT_FOUND = -6;
export const ANSWER_MISMATCH = -7;
export const ANSWER_NAMES_FULL = -8;
export const ANSWER_OBJECTS_FULL = -9;
export const ANSWER_NOT_HELD = -10;
export const ANSWER_HELD = -11;
export const ANSWER_BROKEN = -12;
export const QUEUED = 3;
export const MORE = 4;
export const INTERRUPTED = 5;
export const HEAD = 8;
export const MOVE = 10;
export const GONE = 0;
export const REAPED = 1;
export const STILL_AWAKE = 2;

// These are states of wait elements. ASYNC marks an owner whose promises wait, not the thread itself.
export const IDLE = 0;
export const WAITING = 2;
export const AWAKE = 6;
export const TOMBSTONE = 7;
export const ATTACHED = 10;
export const ASYNC = 0x1000;

/** The address of an object that is always disposed of. A library object that has released its object points here. */
export const CLOSED_OBJECT = 512;
/** The number of bytes of an object. */
export const OBJECT_SIZE = 128;
/** The size of the record of a thread, and the offsets of its doorbell and its counts. */
export const THREAD_SIZE = 128;
export const T_DOORBELL = 4;
export const T_COLLISIONS = 16;
export const T_FUTILE_WAKES = 20;
/** The offset of the place in the object of an AtomicSemaphore. */
export const O_PLACE = 40;
/** The offsets of the owner and of the bytes in a drafted name, and the number of bytes that fit. */
export const NAME_USED = 16;
export const NAME_BYTES = 20;
export const NAME_ROOM = 108;
/** The greatest number of permits that one semaphore can have, and that one request can ask for. */
export const LIMIT = 0x7fffffff;
/** The number of waiters with which a mutex refuses another. */
export const MOST_WAITERS = 0x7f000;

/** The exports of core.wasm; see the docstrings in core/. Addresses and answers are int32. */
export interface Core {
  measure(objects: number, names: number, threads: number, buckets: number, chains: number, elements: number): number;
  create(
    id: bigint,
    objects: number,
    names: number,
    threads: number,
    buckets: number,
    chains: number,
    elements: number,
  ): void;
  open(): number;
  id(): bigint;
  register(host: number): number;
  unregister(): void;
  doorbell(): number;
  threadCount(): number;
  trapIfDead(): void;
  mostThreads(): number;
  lifeIfAlive(thread: number): number;
  isAsleep(thread: number): number;
  hostOf(thread: number): number;
  reap(thread: number, life: number, asleep: number): number;
  createObject(
    kind: number,
    permits: number,
    max: number,
    spin: number,
    threshold: number,
    robust: number,
    variant: bigint,
    first: bigint,
  ): number;
  generation(address: number): number;
  maxOf(address: number): number;
  isRobust(address: number): number;
  isDisposed(address: number): number;
  attach(address: number, generation: number, kind: number): number;
  attachedTo(attachment: number): number;
  detach(attachment: number): void;
  held(attachment: number): number;
  ownersDied(address: number): number;
  restoreOwnerDeaths(address: number, deaths: number): void;
  draftName(): number;
  openName(
    draft: number,
    length: number,
    kind: number,
    permits: number,
    max: number,
    spin: number,
    threshold: number,
    robust: number,
  ): number;
  acquire(address: number, n: number): number;
  acquireOne(address: number): number;
  acquireRobust(address: number, n: number, attachment: number): number;
  enqueue(address: number, n: number, acquired: number, attachment: number): number;
  park(now: number, attachment: number): number;
  parkFor(nanoseconds: bigint, now: number, attachment: number): number;
  reserveSecond(): number;
  cancel(address: number, attachment: number): number;
  cancelRun(run: number): number;
  askAll(address: number): void;
  asks(address: number): number;
  tryAcquire(address: number, n: number): number;
  tryAcquireRobust(address: number, n: number, attachment: number): number;
  arrive(address: number, n: number, last: number, attachment: number): number;
  settle(run: number, attachment: number): number;
  enterRun(run: number, now: number): number;
  dropRun(run: number): void;
  drain(address: number, attachment: number): number;
  reduce(address: number, n: number): number;
  add(address: number, n: number): number;
  release(address: number, n: number): number;
  releaseOne(address: number): number;
  releaseRobust(address: number, n: number, attachment: number): number;
  finishRelease(address: number, n: number, released: number, run: number, attachment: number): number;
  exceeds(address: number, n: number): number;
  available(address: number): number;
  waiting(address: number): number;
  added(address: number): number;
  balance(address: number): bigint;
  deaths(address: number): number;
  elementHeld(index: number): number;
  elementObject(index: number): number;
  elementOwner(index: number): number;
  elementSince(index: number): number;
  elementStart(index: number): bigint;
  elementState(index: number): number;
  elementWaiting(index: number): number;
  elementWidth(index: number, isTombstone: number): bigint;
  initial(address: number): number;
  liveObjects(): number;
  mostElements(): number;
  mostObjects(): number;
  timeouts(address: number): number;
  usedElements(): number;
  setAwake(turns: number, near: number): void;
  spend(turns: number): void;
  dispose(address: number): void;
  disposeAgain(address: number): void;
  lock(address: number): number;
  tryLock(address: number): number;
  turnLasted(address: number, microseconds: number): void;
  queue(address: number, attachment: number): number;
  compete(address: number, nanoseconds: bigint, attachment: number): number;
  cancelHead(address: number, attachment: number): void;
  reserveLock(address: number, attachment: number): number;
  unlock(address: number): number;
  wakeHead(address: number): void;
  mutexDispose(address: number): void;
  ownerOf(address: number): number;
  waitersOf(address: number): number;
  waitsSince(attachment: number, now: number): void;
  /** The last ticket of the thread. The instance of the algorithms writes it too. */
  readonly ticketTaken: WebAssembly.Global<'i64'>;
}
