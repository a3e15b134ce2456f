/** The jobs of the workers. Each is called by its name, with arguments that can be cloned. */
import {
  Arena,
  type ArenaHandle,
  Mutex,
  type MutexHandle,
  Semaphore,
  type SemaphoreHandle,
  type ThreadHandle,
} from 'taketurns';
import type { EventCount, Sequencer } from 'taketurns/algorithms';
import { Channel, type ChannelHandle, number, Watch, type WatchHandle } from 'taketurns/channel';
import {
  type Key,
  type KeyedMutex,
  KeyedRateLimiter,
  type KeyedRateLimiterHandle,
  type KeyedSemaphore,
  RateLimiter,
  type RateLimiterHandle,
} from 'taketurns/keyed';
import { startMetrics } from 'taketurns/metrics';
import { type AtomicSemaphore, atomicWait, atomicWaitAsync } from 'taketurns/p0514';
import { nameThread, watchDeadlocks } from 'taketurns/report';
import type { Barrier, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { type Board, log } from './board.js';
import { threads } from './globals.js';
import { attach, type Handle, type Lock } from './objects.js';
import { type PairRound, pairRounds } from './pair.js';
import { Member, type WorkerKind } from './team.js';

type Job = (...args: never[]) => unknown;

/** Increments a word in several steps. Unless threads exclude one another, increments are lost. */
function increment(words: Int32Array, turns: number): void {
  const before = words[0] as number;
  for (let i = 0; i < turns; i++) words[1] = i;
  words[0] = before + 1;
}

/** Keeps objects of this thread from being collected during a case. */
const kept: unknown[] = [];

export const jobs: Record<string, Job> = {
  join(handle: ArenaHandle): ThreadHandle {
    Arena.from(handle);
    return Arena.default.thread;
  },

  /** Returns this worker's thread in its default arena, without a handle, or returns the error. */
  askDefault(): { thread?: ThreadHandle; error?: string } {
    try {
      return { thread: Arena.default.thread };
    } catch (error) {
      return { error: (error as Error).message };
    }
  },

  /** Makes an arena, which this worker is the first to share. */
  makeMutex(): MutexHandle {
    const mutex = new Mutex({ arena: new Arena({ objects: 16, threads: 8 }) });
    kept.push(mutex);
    return mutex.handle;
  },

  acquire(handle: SemaphoreHandle, board: Board, entry: number, permits = 1, timeout = Infinity): void {
    const semaphore = Semaphore.from(handle);
    kept.push(semaphore);
    if (timeout === Infinity) semaphore.acquire(permits);
    else semaphore.acquire(permits, { timeout });
    log(board, entry);
  },

  async acquireAsync(handle: SemaphoreHandle, board: Board, entry: number): Promise<void> {
    const semaphore = Semaphore.from(handle);
    kept.push(semaphore);
    await semaphore.acquireAsync();
    log(board, entry);
  },

  lockOnce(handle: MutexHandle): void {
    const mutex = Mutex.from(handle);
    kept.push(mutex);
    mutex.lock();
    mutex.unlock();
  },

  /** Locks two mutexes, one after the other. Returns what has come of it. */
  lockBoth(name: string, gate: SemaphoreHandle, ...handles: MutexHandle[]): string {
    const [first, second] = handles.map((handle) => Mutex.from(handle)) as [Mutex, Mutex];
    kept.push(first, second);
    nameThread(name);
    watchDeadlocks();
    first.lock();
    try {
      Semaphore.from(gate).acquire();
      second.lock();
      second.unlock();
      return 'has both';
    } catch (error) {
      return (error as Error).name;
    } finally {
      first.unlock();
    }
  },

  measure(): void {
    startMetrics();
  },

  waitFor(handle: Handle): boolean {
    return (attach(handle) as Latch | Event).wait();
  },

  waitOn(handle: Handle): boolean {
    const condition = attach(handle) as Condition;
    kept.push(condition);
    condition.mutex.lock();
    const isNotified = condition.wait();
    condition.mutex.unlock();
    return isNotified;
  },

  meet(handle: Handle, rounds: number): void {
    const barrier = attach(handle) as Barrier;
    kept.push(barrier);
    for (let round = 0; round < rounds; round++) barrier.arriveAndWait();
  },

  runOnce(handle: Handle, words: Int32Array): boolean {
    return (attach(handle) as Once).run(() => void Atomics.add(words, 0, 1));
  },

  /** Receives from one channel until it is closed, sends twice as much by another, and closes that. */
  pipe(from: ChannelHandle, to: ChannelHandle): number {
    const [source, sink] = [Channel.from(from, number), Channel.from(to, number)];
    let count = 0;
    for (const x of source) {
      sink.send(2 * x);
      count++;
    }
    sink.close();
    return count;
  },

  /** Sends one number, as one of the senders of the channel. */
  sendOne(handle: ChannelHandle, x: number): void {
    const channel = Channel.from(handle, number);
    const sender = channel.sender();
    channel.send(x);
    sender.leave();
  },

  sendAndStay(handle: ChannelHandle, x: number): void {
    const channel = Channel.from(handle, number);
    kept.push(channel.sender());
    channel.send(x);
  },

  /** Sets a watch to one number after the other. */
  setForEver(handle: WatchHandle): void {
    const watch = Watch.from(handle, number);
    for (let x = 0; ; x++) watch.set(x);
  },

  /** Sees all changes of one watch until it is closed, and sets another one to the sum of them. */
  sumUp(from: WatchHandle, to: WatchHandle): number {
    const target = Watch.from(to, number);
    let sum = 0;
    for (const x of Watch.from(from, number)) {
      sum += x;
      target.set(sum);
    }
    return sum;
  },

  takeAndStay(handle: ChannelHandle): void {
    const channel = Channel.from(handle, number);
    kept.push(channel, channel.take());
  },

  holdTask(handle: Handle): void {
    const group = attach(handle) as WaitGroup;
    kept.push(group);
    group.hold();
  },

  /**
   * Writes and reads the first two words, which differ only during a write. Word 2 counts the reads that found them
   * different.
   */
  readAndWrite(handle: Handle, words: Int32Array, rounds: number): void {
    const lock = attach(handle) as RwLock;
    // This increment is not one atomic step. Only the lock keeps other threads out of it.
    const count = (i: number): void => {
      words[i] = (words[i] as number) + 1;
    };
    const write = (held: { unlock(): void }): void => {
      count(0);
      count(1);
      held.unlock();
    };
    for (let i = 0; i < rounds; i++) {
      write(i % 3 === 0 ? lock.update().upgrade() : lock.write());
      lock.lockRead();
      if (words[0] !== words[1]) count(2);
      lock.unlockRead();
    }
  },

  holdRead(handle: Handle): void {
    const lock = attach(handle) as RwLock;
    kept.push(lock);
    lock.lockRead();
  },

  holdWrite(handle: Handle): void {
    const lock = attach(handle) as RwLock;
    kept.push(lock);
    lock.lockWrite();
  },

  /** Waits, and gives a permit of another semaphore on the way out. */
  acquireFinally(handle: SemaphoreHandle, other: SemaphoreHandle): void {
    const [semaphore, permits] = [Semaphore.from(handle), Semaphore.from(other)];
    try {
      semaphore.acquire();
    } finally {
      permits.release();
    }
  },

  /** Waits for a key, and gives it back. Returns whether an owner had died. */
  passKey(handle: Handle, key: Key): boolean {
    const held = (attach(handle) as KeyedMutex).hold(key);
    held.unlock();
    return held.ownerDied;
  },

  tryTake(handle: RateLimiterHandle): boolean {
    const limiter = RateLimiter.from(handle);
    kept.push(limiter);
    return limiter.tryTake();
  },

  tryTakeOf(handle: KeyedRateLimiterHandle, key: Key): boolean {
    const limiter = KeyedRateLimiter.from(handle);
    kept.push(limiter);
    return limiter.tryTake(key);
  },

  keepKey(handle: Handle, key: Key): void {
    kept.push((attach(handle) as KeyedSemaphore).hold(key));
  },

  lockFinally(handle: MutexHandle, other: SemaphoreHandle): void {
    const [mutex, permits] = [Mutex.from(handle), Semaphore.from(other)];
    try {
      mutex.lock();
    } finally {
      permits.release();
    }
  },

  acquireAborted(handle: SemaphoreHandle): void {
    Semaphore.from(handle).acquire(1, { signal: AbortSignal.abort(new Error('enough')) });
  },

  tryAcquire(handle: SemaphoreHandle): boolean {
    return Semaphore.from(handle).tryAcquire();
  },

  release(handle: SemaphoreHandle, permits: number, times = 1): void {
    const semaphore = Semaphore.from(handle);
    for (let i = 0; i < times; i++) semaphore.release(permits);
  },

  /** Acquires and releases varying numbers of permits. The board has the permits held now, and the most held so far. */
  churn(gate: SemaphoreHandle, handle: SemaphoreHandle, board: Int32Array, rounds: number, most: number): void {
    const semaphore = Semaphore.from(handle);
    Semaphore.from(gate).acquire();
    for (let i = 0; i < rounds; i++) {
      const n = 1 + (i % most);
      semaphore.acquire(n);
      const out = Atomics.add(board, 0, n) + n;
      for (let seen = Atomics.load(board, 1); seen < out; seen = Atomics.load(board, 1))
        Atomics.compareExchange(board, 1, seen, out);
      Atomics.sub(board, 0, n);
      semaphore.release(n);
    }
  },

  holdTwice(handle: SemaphoreHandle): readonly number[] {
    const semaphore = Semaphore.from(handle);
    const seen: number[] = [];
    const held = semaphore.hold(2);
    for (let i = 0; i < 3; i++) {
      seen.push(semaphore.available);
      held.release();
    }
    return seen;
  },

  openByName(name: string, permits?: number): void {
    const semaphore = Semaphore.open(name, permits);
    kept.push(semaphore);
    semaphore.release();
  },

  handleBack(permits: number): SemaphoreHandle {
    const semaphore = new Semaphore(permits);
    kept.push(semaphore);
    return semaphore.handle;
  },

  from(handle: Handle): void {
    attach(handle);
  },

  lockAndCount(gate: SemaphoreHandle, handle: Handle, words: Int32Array, rounds: number): void {
    const lock = attach(handle) as Lock;
    Semaphore.from(gate).acquire();
    for (let i = 0; i < rounds; i++) {
      lock.lock();
      increment(words, 20);
      lock.unlock();
    }
  },

  lockAndLog(handle: Handle, board: Board, entry: number): void {
    const lock = attach(handle) as Lock;
    lock.lock();
    log(board, entry);
    lock.unlock();
  },

  tryLock(handle: Handle): boolean {
    const lock = attach(handle) as Required<Lock>;
    if (!lock.tryLock()) return false;
    lock.unlock();
    return true;
  },

  lock(handle: Handle, timeout?: number): void {
    const mutex = attach(handle) as Mutex;
    kept.push(mutex);
    mutex.lock(timeout === undefined ? undefined : { timeout });
  },

  unlock(handle: Handle): void {
    (attach(handle) as Lock).unlock();
  },

  async lockAsyncAndCount(gate: SemaphoreHandle, handle: Handle, words: Int32Array, rounds: number): Promise<void> {
    const mutex = attach(handle) as Mutex;
    Semaphore.from(gate).acquire();
    for (let i = 0; i < rounds; i++) await mutex.runExclusive(() => increment(words, 20));
  },

  arrive(handle: Handle, board: Board, entry: number): void {
    (attach(handle) as { arrive(): void }).arrive();
    log(board, entry);
  },

  /** Passes a semaphore of the papers, or one of P0514R1, whose methods have other names. */
  pass(handle: Handle, board: Board, entry: number): void {
    const semaphore = attach(handle) as { acquire?(): void; wait?(): void };
    if (semaphore.acquire) semaphore.acquire();
    else semaphore.wait?.();
    log(board, entry);
  },

  takeTurns(gate: SemaphoreHandle, sequencer: Handle, events: Handle, board: Board, rounds: number): void {
    const tickets = attach(sequencer) as Sequencer;
    const count = attach(events) as EventCount;
    Semaphore.from(gate).acquire();
    for (let i = 0; i < rounds; i++) {
      const ticket = tickets.ticket();
      count.await(ticket);
      log(board, Number(ticket));
      count.advance();
    }
  },

  waitForWord(words: Int32Array, old: number): number {
    atomicWait(words, 0, old);
    return Atomics.load(words, 0);
  },

  async waitForWordAsync(words: Int32Array, old: number): Promise<number> {
    await atomicWaitAsync(words, 0, old);
    return Atomics.load(words, 0);
  },

  waitWith(handle: Handle, words: Int32Array, old: number): number {
    (attach(handle) as AtomicSemaphore).wait(words, 0, old);
    return Atomics.load(words, 0);
  },

  pair(rounds: number): PairRound[] {
    return pairRounds(rounds);
  },

  /** Starts a worker that locks the mutex and keeps it. */
  async nest(kind: WorkerKind, mutex: Handle): Promise<void> {
    const child = await new Member(kind, '').join();
    kept.push(child);
    await child.call('lock', mutex);
  },

  /** Locks the mutex, and counts in word 0 for this number of milliseconds. The job never unlocks. */
  computeOn(handle: Handle, words: Int32Array, milliseconds: number): void {
    const mutex = attach(handle) as Mutex;
    kept.push(mutex);
    mutex.lock();
    for (const end = performance.now() + milliseconds; performance.now() < end; ) Atomics.add(words, 0, 1);
  },

  /**
   * Takes a permit, and exits in the same task. An exit handler gives the permit back, and a permit of `done`. The job
   * never answers.
   */
  exitAtOnce(semaphore: SemaphoreHandle, done: SemaphoreHandle): void {
    const [held, told] = [Semaphore.from(semaphore).hold(), Semaphore.from(done)];
    process.on('exit', () => {
      held.release();
      told.release();
    });
    process.exit(0);
  },

  /** Ends the worker in the way of its runtime. It does so after a while, so the answer is sent before. */
  endSoon(): string {
    if (threads?.parentPort) {
      setTimeout(() => process.exit(0), 20);
      return 'process.exit';
    }
    setTimeout(() => (globalThis as unknown as { close(): void }).close(), 20);
    return 'close';
  },
};
