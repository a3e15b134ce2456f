/**
 * RwLock: what a user sees of it. check/src/models/rw-lock.ts searches its interleavings. Many of the behaviours are those
 * that the suites of JSR-166 (ReentrantReadWriteLock, StampedLock), Go (RWMutex), parking_lot, tokio and glibc test.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { Arena, ArenaFullError, DisposedError, Semaphore, TimeoutError } from 'taketurns';
import { HeldRead, HeldUpdate, HeldWrite, RwLock } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { OtherThread } from '../support/other-thread.js';
import { runProgram } from '../support/program.js';
import { roundsInCi } from '../support/rounds.js';
import { reactions, until } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const WORKER = new URL('../workers/rw-lock.mjs', import.meta.url);
/** For what never happens. */
const timeout = 10_000;

/** A thread that runs code over the lock, one piece after the other. */
class Peer {
  readonly worker: Worker;
  readonly #ends = new Map<number, (answer: unknown) => void>();
  /** How many pieces have ended. */
  ended = 0;
  #begun = 0;

  constructor(lock: RwLock) {
    this.worker = new Worker(WORKER, { workerData: { handle: lock.handle } });
    this.worker.unref();
    this.worker.on('message', ({ id, value, error }) => {
      this.ended++;
      this.#ends.get(id)?.(error ?? value);
    });
  }

  /** Returns the value of the code, or the name of its error. */
  run(code: string, words?: Int32Array): Promise<unknown> {
    const id = this.#begun++;
    this.worker.postMessage({ id, code, words });
    return new Promise((resolve) => this.#ends.set(id, resolve));
  }
}

const waits = (lock: RwLock, count = 1) => until(() => lock.waiting === count, `${count} wait`);

describe('a RwLock', () => {
  it('has many readers at a time', async () => {
    const lock = new RwLock();
    const peers = [new Peer(lock), new Peer(lock)];
    lock.lockRead();
    for (const peer of peers) await peer.run('lock.lockRead()');
    expect([lock.readers, lock.writing, lock.waiting]).toEqual([3, false, 0]);
    expect(String(lock)).toBe('RwLock(3 readers, 0 waiting)');
    for (const peer of peers) await peer.run('lock.unlockRead()');
    lock.unlockRead();
    expect(lock.readers).toBe(0);
  });

  it('has one writer at a time, which comes after the readers', async () => {
    const lock = new RwLock();
    const [reader, writer] = [new Peer(lock), new Peer(lock)];
    lock.lockRead();
    await reader.run('lock.lockRead()');
    const written = writer.run('lock.lockWrite()');
    await until(() => lock.writing && lock.waiting === 1, 'the writer waits');
    lock.unlockRead();
    await sleep(10);
    expect(writer.ended).toBe(0);
    await reader.run('lock.unlockRead()');
    await written;
    expect(lock.tryLockRead()).toBe(false);
    expect(lock.tryLockWrite()).toBe(false);
    const second = reader.run('lock.lockWrite()');
    await waits(lock);
    await writer.run('lock.unlockWrite()');
    await second;
    expect([lock.writing, lock.inspect().writer !== undefined]).toEqual([true, true]);
    await reader.run('lock.unlockWrite()');
    expect([lock.writing, lock.inspect().writer]).toEqual([false, undefined]);
  });

  it('lets no reader in once a writer waits for the readers', async () => {
    const lock = new RwLock();
    const [writer, reader] = [new Peer(lock), new Peer(lock)];
    lock.lockRead();
    const written = writer.run('lock.lockWrite()');
    await until(() => lock.writing, 'the writer waits');
    expect(await reader.run('return lock.tryLockRead()')).toBe(false);
    expect(await reader.run('lock.lockRead({ timeout: 5 })')).toBe('TimeoutError');
    const read = reader.run('lock.lockRead()');
    await waits(lock, 2);
    expect(lock.inspect().waiters.map(({ wants }) => wants)).toEqual(['drain', 'read']);
    lock.unlockRead();
    await written;
    expect(reader.ended).toBe(2);
    await writer.run('lock.unlockWrite()');
    await read;
    expect(lock.readers).toBe(1);
  });

  it.each(['tryRead', 'readAsync'] as const)('lets no %s that overlaps a reading keep a writer out', async (call) => {
    const lock = new RwLock();
    const writer = new Peer(lock);
    let held = lock.read();
    const written = writer.run('lock.lockWrite()');
    await until(() => lock.writing, 'the writer waits');
    const next = lock[call]();
    if (call === 'tryRead') expect(next).toBe(undefined);
    // One that blocks would wait for itself, so it reads.
    const nested = lock.read();
    held.unlock();
    held = nested;
    expect([lock.tryLockRead(), lock.writing, writer.ended]).toEqual([false, true, 0]);
    held.unlock();
    await written;
    await writer.run('lock.unlockWrite()');
    (await next)?.unlock();
    expect([lock.readers, lock.writing, lock.waiting]).toEqual([0, false, 0]);
  });

  it('has a reader wait for one writer, though others are in line', async () => {
    const lock = new RwLock();
    const [reader, first, second] = [new Peer(lock), new Peer(lock), new Peer(lock)];
    lock.lockWrite();
    const writers = [first.run('lock.lockWrite()')];
    await waits(lock);
    writers.push(second.run('lock.lockWrite()'));
    await waits(lock, 2);
    const read = reader.run('lock.lockRead()');
    await waits(lock, 3);
    expect(lock.inspect().waiters.map(({ wants }) => wants)).toEqual(['read', 'write', 'write']);
    lock.unlockWrite();
    await read;
    await sleep(10);
    expect([first.ended, second.ended]).toEqual([0, 0]);
    await reader.run('lock.unlockRead()');
    await writers[0];
    expect(second.ended).toBe(0);
    await first.run('lock.unlockWrite()');
    await writers[1];
    await second.run('lock.unlockWrite()');
  });

  it('lets a thread read again while a writer waits', async () => {
    const lock = new RwLock();
    const writer = new Peer(lock);
    lock.lockRead();
    const written = writer.run('lock.lockWrite()');
    await until(() => lock.writing, 'the writer waits');
    lock.lockRead();
    using again = lock.read();
    expect([lock.tryLockRead(), lock.readers]).toEqual([false, 1]);
    for (let i = 0; i < 2; i++) lock.unlockRead();
    expect(writer.ended).toBe(0);
    again.unlock();
    await written;
    await writer.run('lock.unlockWrite()');
  });

  it('keeps two numbers alike that writers change one after the other', async () => {
    const lock = new RwLock();
    const words = new Int32Array(new SharedArrayBuffer(16));
    const peers = Array.from({ length: 4 }, () => new Peer(lock));
    const write = 'lock.lockWrite(); words[0]++; words[1]++; lock.unlockWrite();';
    const read = 'lock.lockRead(); if (words[0] !== words[1]) words[2]++; lock.unlockRead();';
    const renew =
      'const held = lock.update(); const before = words[0]; const all = held.upgrade(); if (words[0] !== before) words[2]++; ' +
      'words[0]++; words[1]++; all.downgrade().unlock();';
    const look =
      'const stamp = lock.stamp(); const [a, b] = words; if (lock.valid(stamp) && a !== b) words[2]++; ' +
      'if (lock.tryLockRead()) lock.unlockRead(); if (lock.tryLockWrite()) lock.unlockWrite();';
    const loop = (i: number) => `for (let i = 0; i < 300; i++) { ${write} ${read.repeat(i)} ${i % 2 ? renew : look} }`;
    await Promise.all(peers.map((peer, i) => peer.run(loop(i), words)));
    expect([...words.subarray(0, 3)]).toEqual([1800, 1800, 0]);
    expect([lock.readers, lock.writing, lock.waiting]).toEqual([0, false, 0]);
  });

  it('tells who reads, writes and waits, and since when', async () => {
    const lock = new RwLock();
    const [writer, reader] = [new Peer(lock), new Peer(lock)];
    expect(lock.inspect()).toEqual({ readers: [], writer: undefined, writing: false, deaths: 0, waiters: [] });
    await writer.run('lock.lockWrite()');
    const { writer: thread } = lock.inspect();
    const read = reader.run('lock.lockRead()');
    await waits(lock);
    await until(() => (lock.inspect().waiters[0]?.waited ?? 0) > 0, 'time passes');
    expect(lock.inspect()).toMatchObject({ readers: [], writing: true, waiters: [{ wants: 'read', calls: 1 }] });
    await writer.run('lock.unlockWrite()');
    await read;
    const { readers } = lock.inspect();
    expect(readers).toHaveLength(1);
    expect(readers[0]).not.toBe(thread);
    expect(Object.prototype.toString.call(lock)).toBe('[object RwLock]');
  });
});

describe('a thread that would wait for itself', () => {
  it('is told so, and nothing has changed', async () => {
    const lock = new RwLock();
    lock.lockRead();
    for (const method of ['lockWrite', 'write', 'update'] as const)
      expect(() => lock[method]()).toThrow(new RegExp(`^RwLock.${method}: this thread or a promise of it reads`));
    expect(lock.tryLockWrite()).toBe(false);
    lock.unlockRead();
    lock.lockWrite();
    for (const method of ['lockRead', 'read'] as const)
      expect(() => lock[method]()).toThrow(new RegExp(`^RwLock.${method}: this thread writes`));
    for (const method of ['lockWrite', 'write', 'update'] as const)
      expect(() => lock[method]()).toThrow(/wait for itself/);
    expect([lock.tryLockRead(), lock.tryLockWrite(), lock.tryRead(), lock.tryWrite()]).toEqual([
      false,
      false,
      undefined,
      undefined,
    ]);
    lock.unlockWrite();
    expect([lock.readers, lock.writing, lock.waiting]).toEqual([0, false, 0]);
    expect([lock.tryLockWrite(), lock.stamp()]).toEqual([true, 0]);
    lock.unlockWrite();
  });

  it('is told so if its promise has the lock, wants it, or drains', async () => {
    const lock = new RwLock();
    const held = await lock.readAsync();
    const written = lock.writeAsync();
    expect(() => lock.lockWrite()).toThrow(/wait for itself/);
    await reactions();
    expect(lock.writing).toBe(true);
    const read = lock.readAsync();
    held.unlock();
    expect(() => lock.lockRead()).toThrow(/wait for itself/);
    (await written).unlock();
    (await read).unlock();
    lock.lockWrite();
    lock.unlockWrite();
  });

  it('unlocks only what it has', () => {
    const lock = new RwLock();
    expect(() => lock.unlockRead()).toThrow(new Error('RwLock.unlockRead: this thread does not read the RwLock'));
    expect(() => lock.unlockWrite()).toThrow(new Error('RwLock.unlockWrite: this thread does not write the RwLock'));
    lock.lockRead();
    expect(() => lock.unlockWrite()).toThrow(/does not write/);
    lock.unlockRead();
    lock.lockWrite();
    expect(() => lock.unlockRead()).toThrow(/does not read/);
    lock.unlockWrite();
    using found = lock.update();
    expect(() => lock.unlockWrite()).toThrow(/does not write/);
    expect(found.held).toBe(true);
  });
});

describe('a time-out or a signal', () => {
  it('ends the wait of a reader', async () => {
    const lock = new RwLock();
    const writer = new Peer(lock);
    await writer.run('lock.lockWrite()');
    for (const timeout of [0, 5]) {
      expect(() => lock.lockRead({ timeout })).toThrow(
        new RegExp(`^timed out after ${timeout} ms waiting for the RwLock \\(writing by thread \\d+ .*\\)$`),
      );
      await expect(lock.lockReadAsync({ timeout })).rejects.toThrow(TimeoutError);
    }
    const abort = new AbortController();
    const promises = [lock.readAsync({ signal: abort.signal }), lock.readAsync()];
    abort.abort(new Error('enough'));
    await expect(promises[0]).rejects.toThrow('enough');
    expect(() => lock.lockRead({ signal: abort.signal })).toThrow('enough');
    expect(lock.waiting).toBe(1);
    await writer.run('lock.unlockWrite()');
    (await promises[1])?.unlock();
    await writer.run('lock.lockWrite({ timeout: 10000 })');
    await writer.run('lock.unlockWrite()');
    expect(lock.readers).toBe(0);
  });

  it('ends the wait of a writer in line, or for the readers, which are let in again', async () => {
    const lock = new RwLock();
    const reader = new Peer(lock);
    await reader.run('lock.lockRead()');
    const stamp = lock.stamp();
    for (const timeout of [0, 5]) {
      expect(() => lock.lockWrite({ timeout })).toThrow(TimeoutError);
      await expect(lock.lockWriteAsync({ timeout })).rejects.toThrow(TimeoutError);
      expect([lock.writing, lock.inspect().writer]).toEqual([false, undefined]);
    }
    expect(lock.tryLockWrite()).toBe(false);
    const abort = new AbortController();
    const promise = lock.writeAsync({ signal: abort.signal });
    await until(() => lock.writing, 'the writer waits');
    await reader.run('lock.lockRead()');
    abort.abort(new Error('enough'));
    await expect(promise).rejects.toThrow('enough');
    expect([lock.writing, lock.tryLockRead(), lock.valid(stamp)]).toEqual([false, true, false]);
    lock.unlockRead();
    await reader.run('lock.unlockRead(); lock.unlockRead(); lock.lockWrite()');
    expect(() => lock.lockWrite({ timeout: 5 })).toThrow(TimeoutError);
    await expect(lock.writeAsync({ timeout: 5 })).rejects.toThrow(TimeoutError);
    await reader.run('lock.unlockWrite()');
    lock.write({ timeout }).unlock();
  });

  it('takes no bad options', async () => {
    const lock = new RwLock();
    for (const method of ['lockRead', 'read', 'lockWrite', 'write', 'update'] as const) {
      expect(() => lock[method]({ timeout: -1 })).toThrow(new RegExp(`RwLock.${method}: timeout`));
      expect(() => lock[method](null as never)).toThrow('options must be of { timeout, signal }, got null');
      expect(() => lock[method]({ signal: 5 as never })).toThrow(`RwLock.${method}: signal`);
    }
    for (const method of ['lockReadAsync', 'readAsync', 'lockWriteAsync', 'writeAsync', 'updateAsync'] as const)
      await expect(lock[method]({ timeout: 'x' as never })).rejects.toThrow(new RegExp(`RwLock.${method}: timeout`));
    for (const within of [null, {}, 5])
      await expect(lock.readAsync({ within: within as never })).rejects.toThrow(TypeError);
    for (const bad of [-1, 1.5, '1', 2 ** 30]) expect(() => lock.valid(bad as never)).toThrow(/RwLock.valid: stamp/);
    expect(() => new RwLock(null as never)).toThrow('RwLock: options must be of { arena }, got null');
    expect([lock.readers, lock.writing, lock.waiting]).toEqual([0, false, 0]);
  });
});

describe('promises', () => {
  it('read together, and write one after the other, first come, first served', async () => {
    const lock = new RwLock();
    const order: string[] = [];
    const first = await lock.writeAsync();
    const task = async (name: string, held: Promise<{ unlock(): void }>) => {
      const guard = await held;
      order.push(name);
      await reactions();
      order.push(`/${name}`);
      guard.unlock();
    };
    const tasks = [
      task('w1', lock.writeAsync()),
      task('r1', lock.readAsync()),
      task('w2', lock.writeAsync()),
      task('r2', lock.readAsync()),
    ];
    await reactions();
    expect([order, lock.waiting]).toEqual([[], 4]);
    first.unlock();
    await Promise.all(tasks);
    expect(order).toEqual(['r1', 'r2', '/r1', '/r2', 'w1', '/w1', 'w2', '/w2']);
  });

  it('read at once where no writer is', async () => {
    const lock = new RwLock();
    const held = [await lock.readAsync(), await lock.readAsync(), lock.read()];
    await lock.lockReadAsync({ timeout: 0 });
    for (const guard of held) guard.unlock();
    lock.unlockRead();
    (await lock.writeAsync({ timeout: 0 })).unlock();
    expect([lock.readers, lock.writing]).toEqual([0, false]);
  });

  it('that want to read wait for a writer, though their thread reads, unless they are within a guard', async () => {
    const lock = new RwLock();
    const held = await lock.readAsync();
    const written = lock.writeAsync();
    await reactions();
    const late = lock.readAsync();
    const inner = await lock.readAsync({ within: held });
    await lock.lockReadAsync({ within: inner });
    lock.unlockRead();
    inner.unlock();
    held.unlock();
    (await written).unlock();
    (await late).unlock();
    await expect(lock.readAsync({ within: held })).rejects.toThrow(
      /within must be a HeldRead of this lock that is held/,
    );
    using other = new RwLock().read();
    await expect(lock.readAsync({ within: other })).rejects.toThrow(TypeError);
    expect(lock.readers).toBe(0);
  });

  it('that wait become readers together with a call that blocks', async () => {
    const lock = new RwLock();
    const writer = new Peer(lock);
    await writer.run('lock.lockWrite()');
    const promises = [lock.readAsync(), lock.readAsync()];
    const unlocked = writer.run('await new Promise((go) => setTimeout(go, 20)); lock.unlockWrite()');
    lock.lockRead();
    expect(lock.readers).toBe(1);
    lock.unlockRead();
    expect(lock.readers).toBe(1);
    for (const promise of promises) (await promise).unlock();
    await unlocked;
    expect(lock.readers).toBe(0);
  });

  it('that are aborted do not take the place of those that wait on', async () => {
    const lock = new RwLock();
    using written = lock.write();
    const aborts = Array.from({ length: 3 }, () => new AbortController());
    const promises = aborts.map(({ signal }) => lock.readAsync({ signal }).then((held) => held.unlock()));
    aborts[1]?.abort(new Error('no'));
    await expect(promises[1]).rejects.toThrow('no');
    written.unlock();
    aborts[0]?.abort(new Error('late'));
    await Promise.all([promises[0], promises[2]]);
    expect([lock.readers, lock.waiting]).toEqual([0, 0]);
  });

  it('may be ten thousand', async () => {
    const lock = new RwLock();
    lock.lockWrite();
    let most = 0;
    let inside = 0;
    const tasks = Array.from({ length: 10_000 }, async () => {
      await lock.lockReadAsync();
      most = Math.max(most, ++inside);
      await undefined;
      inside--;
      lock.unlockRead();
    });
    expect(lock.waiting).toBe(10_000);
    lock.unlockWrite();
    await Promise.all(tasks);
    expect([most > 1, lock.readers, lock.waiting]).toEqual([true, 0, 0]);
  });

  it('of many threads exclude one another', async () => {
    const lock = new RwLock();
    const words = new Int32Array(new SharedArrayBuffer(16));
    const peers = Array.from({ length: 3 }, () => new Peer(lock));
    const code = `const task = async (i) => {
      if (i % 3) { const held = await lock.readAsync(); await undefined; if (words[0] !== words[1]) words[2]++; held.unlock(); }
      else { const held = await lock.writeAsync(); words[0]++; await undefined; words[1]++; held.unlock(); }
    };
    await Promise.all(Array.from({ length: 300 }, (_, i) => task(i)));`;
    await Promise.all(peers.map((peer) => peer.run(code, words)));
    expect([...words.subarray(0, 3)]).toEqual([300, 300, 0]);
  });
});

describe('an update', () => {
  it('goes on beside readers, and excludes writers and other updates', async () => {
    const lock = new RwLock();
    const [reader, other] = [new Peer(lock), new Peer(lock)];
    using found = lock.update();
    await reader.run('lock.lockRead()');
    expect([lock.readers, lock.writing, await reader.run('return lock.tryLockWrite()')]).toEqual([1, false, false]);
    const update = other.run('kept.held = lock.update()');
    await waits(lock);
    expect(lock.inspect().waiters).toMatchObject([{ wants: 'write' }]);
    found.unlock();
    await update;
    await other.run('kept.held.unlock()');
    await reader.run('lock.unlockRead()');
  });

  it('becomes a writer when the readers have left', async () => {
    const lock = new RwLock();
    const reader = new Peer(lock);
    await reader.run('lock.lockRead()');
    const found = lock.update();
    expect(() => found.upgrade({ timeout: 5 })).toThrow(TimeoutError);
    expect([found.held, lock.writing, await reader.run('return lock.tryLockRead()')]).toEqual([true, false, true]);
    await expect(found.upgradeAsync({ timeout: 5 })).rejects.toThrow(TimeoutError);
    expect(found.held).toBe(true);
    const left = reader.run('await new Promise((go) => setTimeout(go, 20)); lock.unlockRead(); lock.unlockRead()');
    const held = found.upgrade();
    await left;
    expect([found.held, held.held, lock.writing]).toEqual([false, true, true]);
    expect(() => found.upgrade()).toThrow(new Error('HeldUpdate.upgrade: this guard does not hold the lock any more'));
    await expect(found.upgradeAsync()).rejects.toThrow('does not hold the lock any more');
    found.unlock();
    expect(lock.writing).toBe(true);
    held.unlock();
    expect([lock.writing, lock.inspect().writer]).toEqual([false, undefined]);
  });

  it('keeps the turn when an upgrade fails, also where the program has a Promise of its own', async () => {
    const lock = new RwLock();
    await new Peer(lock).run('lock.lockRead()');
    const found = await lock.updateAsync();
    const { Promise: ofTheEngine } = globalThis;
    Object.assign(globalThis, { Promise: class extends ofTheEngine<unknown> {} });
    const upgraded = found.upgradeAsync({ timeout: 5 });
    Object.assign(globalThis, { Promise: ofTheEngine });
    await expect(upgraded).rejects.toThrow(TimeoutError);
    expect(found.held).toBe(true);
    found.unlock();
    expect(lock.inspect().writer).toBeUndefined();
  });

  it('may become a writer of a task, while other tasks of its thread read', async () => {
    const lock = new RwLock();
    const found = await lock.updateAsync();
    const read = await lock.readAsync();
    expect(() => found.upgrade()).toThrow(/wait for itself/);
    const upgraded = found.upgradeAsync();
    await reactions();
    expect([lock.writing, lock.waiting]).toEqual([true, 1]);
    read.unlock();
    (await upgraded).unlock();
    expect(lock.writing).toBe(false);
  });

  it('may go on as a reader', async () => {
    const lock = new RwLock();
    const writer = new Peer(lock);
    const found = lock.update();
    const written = writer.run('lock.lockWrite()');
    await waits(lock);
    const held = found.downgrade();
    expect([found.held, held.held, lock.readers]).toEqual([false, true, 1]);
    await until(() => lock.writing, 'the writer waits for the reader');
    expect(writer.ended).toBe(0);
    held.unlock();
    await written;
  });
});

describe('a writer that goes on with the turn', () => {
  it('lets readers in and no writer between, and may write again', async () => {
    const lock = new RwLock();
    const [writer, reader] = [new Peer(lock), new Peer(lock)];
    const held = lock.write();
    const read = reader.run('lock.lockRead()');
    const promise = lock.readAsync();
    await waits(lock, 2);
    const written = writer.run('lock.lockWrite()');
    await waits(lock, 3);
    const stamp = lock.stamp();
    const found = held.downgradeToUpdate();
    expect([held.held, found.held, found.ownerDied, stamp, lock.writing]).toEqual([false, true, false, 0, false]);
    await read;
    (await promise).unlock();
    expect(() => held.downgradeToUpdate()).toThrow('HeldWrite.downgradeToUpdate: this guard does not hold the lock');
    expect(writer.ended).toBe(0);
    const upgraded = found.upgradeAsync();
    await reader.run('lock.unlockRead()');
    const again = await upgraded;
    expect(writer.ended).toBe(0);
    again.downgradeToUpdate().downgrade().unlock();
    await written;
  });
});

describe('a writer that goes on as a reader', () => {
  it('lets no writer between, and readers in', async () => {
    const lock = new RwLock();
    const [writer, reader] = [new Peer(lock), new Peer(lock)];
    const held = lock.write();
    const read = reader.run('lock.lockRead()');
    const promise = lock.readAsync();
    await waits(lock, 2);
    const written = writer.run('lock.lockWrite()');
    await waits(lock, 3);
    const after = held.downgrade();
    expect([held.held, after.held]).toEqual([false, true]);
    await read;
    const late = await promise;
    expect(lock.readers).toBe(2);
    expect(() => held.downgrade()).toThrow('HeldWrite.downgrade: this guard does not hold the lock any more');
    held.unlock();
    await reader.run('lock.unlockRead()');
    late.unlock();
    expect(writer.ended).toBe(0);
    after.unlock();
    await written;
  });
});

describe('a stamp', () => {
  it('is valid until somebody writes', () => {
    const lock = new RwLock();
    const stamp = lock.stamp();
    expect([stamp, lock.valid(stamp), lock.valid(0)]).toEqual([1, true, false]);
    lock.lockRead();
    expect([lock.valid(stamp), lock.stamp()]).toEqual([true, 1]);
    lock.unlockRead();
    const found = lock.update();
    expect(lock.valid(stamp)).toBe(true);
    const held = found.upgrade();
    expect([lock.valid(stamp), lock.stamp(), lock.valid(lock.stamp())]).toEqual([false, 0, false]);
    held.unlock();
    expect([lock.valid(stamp), lock.stamp(), lock.valid(2)]).toEqual([false, 2, true]);
    lock.dispose();
    expect(lock.valid(2)).toBe(false);
    expect(() => lock.stamp()).toThrow(DisposedError);
  });
});

describe('a guard', () => {
  it('unlocks once, at the end of its scope, in any order', async () => {
    const lock = new RwLock();
    const [first, second] = [lock.read(), lock.read()];
    first.unlock();
    first.unlock();
    expect([first.held, second.held, lock.readers]).toEqual([false, true, 1]);
    second[Symbol.dispose]();
    expect(lock.readers).toBe(0);
    {
      await using held = await lock.writeAsync();
      expect([held.held, lock.writing]).toEqual([true, true]);
    }
    {
      using held = lock.tryRead();
      using none = lock.tryWrite();
      expect([held?.held, none]).toEqual([true, undefined]);
    }
    {
      using held = lock.tryWrite();
      expect(held?.held).toBe(true);
    }
    expect([lock.readers, lock.writing]).toEqual([0, false]);
  });

  it('says what it is', () => {
    const lock = new RwLock();
    const [read, update] = [lock.read(), undefined];
    expect([String(read), read instanceof HeldRead, update]).toEqual(['HeldRead(held)', true, undefined]);
    read.unlock();
    const found = lock.update();
    expect([String(found), found instanceof HeldUpdate]).toEqual(['HeldUpdate(held)', true]);
    const write = found.upgrade();
    expect([String(write), write instanceof HeldWrite, String(found)]).toEqual([
      'HeldWrite(held)',
      true,
      'HeldUpdate(unlocked)',
    ]);
    write.unlock();
    expect(Object.prototype.toString.call(write)).toBe('[object HeldWrite]');
  });

  it('keeps its lock alive, also without a library object', async () => {
    const lock = new RwLock();
    const { handle } = lock;
    (() => RwLock.from(handle).lockRead())();
    await sleep(0);
    collect();
    await sleep(0);
    expect(lock.readers).toBe(1);
    RwLock.from(handle).unlockRead();
    expect(lock.readers).toBe(0);
  });
});

describe('a thread that dies', () => {
  it('reads no more', async () => {
    const lock = new RwLock();
    const peer = new Peer(lock);
    await peer.run('lock.lockRead(); lock.lockRead()');
    const written = lock.writeAsync();
    await until(() => lock.waiting === 1, 'the writer waits');
    peer.worker.terminate();
    const held = await written;
    expect([held.ownerDied, lock.inspect().deaths]).toEqual([false, 0]);
    held.unlock();
    const other = new Peer(lock);
    await other.run('lock.lockRead(); setTimeout(() => process.exit(), 20)');
    lock.lockWrite({ timeout });
    lock.unlockWrite();
  });

  it('as a writer is told to readers until another has written, and once to writers', async () => {
    const lock = new RwLock();
    const told: number[] = [];
    lock.onOwnerDied = (deaths) => told.push(deaths);
    const peer = new Peer(lock);
    await peer.run('lock.lockWrite()');
    const read = lock.readAsync();
    await waits(lock);
    peer.worker.terminate();
    const first = await read;
    const again = lock.read();
    expect([first.ownerDied, again.ownerDied]).toEqual([true, true]);
    first.unlock();
    again.unlock();
    expect([lock.tryRead()?.ownerDied, told]).toEqual([true, [1, 1]]);
    lock.unlockRead();
    const held = lock.write();
    expect([held.ownerDied, told]).toEqual([true, [1, 1, 1]]);
    held.unlock();
    for (const method of ['read', 'write', 'update'] as const) {
      const next = lock[method]();
      expect(next.ownerDied).toBe(false);
      next.unlock();
    }
    expect([told, lock.inspect().deaths]).toEqual([[1, 1, 1], 1]);
  });

  it('is told of again if the callback throws, or the writer gives up', async () => {
    const lock = new RwLock();
    const peer = new Peer(lock);
    await peer.run('lock.lockWrite()');
    peer.worker.terminate();
    await until(() => lock.inspect().deaths === 1, 'it is reaped');
    lock.onOwnerDied = () => {
      throw new Error('not mended');
    };
    for (const method of ['lockRead', 'lockWrite', 'update', 'tryLockRead', 'tryLockWrite'] as const)
      expect(() => lock[method]()).toThrow('not mended');
    for (const method of ['lockReadAsync', 'lockWriteAsync', 'updateAsync'] as const)
      await expect(lock[method]()).rejects.toThrow('not mended');
    lock.onOwnerDied = undefined;
    const reader = new Peer(lock);
    await reader.run('lock.lockRead()');
    expect(() => lock.lockWrite({ timeout: 5 })).toThrow(TimeoutError);
    expect(lock.tryLockWrite()).toBe(false);
    await reader.run('lock.unlockRead()');
    expect([lock.readers, lock.writing, lock.read().ownerDied]).toEqual([0, false, true]);
    lock.unlockRead();
    const held = lock.write();
    expect(held.ownerDied).toBe(true);
    expect(held.downgrade().ownerDied).toBe(false);
    lock.unlockRead();
    expect(lock.write().ownerDied).toBe(false);
  });

  it('is told of by an update and by those after it, until one has written', async () => {
    const lock = new RwLock();
    const peer = new Peer(lock);
    await peer.run('lock.lockWrite()');
    peer.worker.terminate();
    await until(() => lock.inspect().deaths === 1, 'it is reaped');
    for (const method of ['update', 'update', 'read'] as const) {
      using held = lock[method]();
      expect(held.ownerDied).toBe(true);
    }
    const found = lock.update();
    const held = found.upgrade();
    expect(held.ownerDied).toBe(true);
    held.unlock();
    for (const method of ['update', 'read', 'write'] as const) {
      using held = lock[method]();
      expect(held.ownerDied).toBe(false);
    }
  });

  it('gives its turn on: in line, as an update, and while it waits for readers', async () => {
    const lock = new RwLock();
    const peers = Array.from({ length: 3 }, () => new Peer(lock));
    await peers[0]?.run('kept.held = lock.update()');
    peers[1]?.run('lock.lockWrite()');
    await waits(lock);
    lock.lockRead();
    peers[2]?.run('lock.lockWrite()');
    await waits(lock, 2);
    peers[1]?.worker.terminate();
    await waits(lock, 1);
    peers[0]?.worker.terminate();
    await until(() => lock.writing, 'the third waits for this thread');
    peers[2]?.worker.terminate();
    await until(() => !lock.writing, 'the gate is open');
    expect([lock.waiting, lock.inspect().writer]).toEqual([0, undefined]);
    lock.unlockRead();
    lock.write({ timeout }).unlock();
  });

  it('ends as one that dies, if it ends by itself', async () => {
    const lock = new RwLock();
    const peer = new Peer(lock);
    await peer.run('lock.lockWrite()');
    const read = lock.readAsync();
    await waits(lock);
    peer.worker.postMessage({ id: 99, code: 'process.exit()' });
    expect((await read).ownerDied).toBe(true);
    const arena = new Arena();
    const own = new RwLock({ arena });
    own.lockRead();
    arena.dispose();
    expect(own.disposed).toBe(true);
  });
});

describe('a lock that is disposed of', () => {
  it('tells all who wait, and lets those inside unlock', async () => {
    const lock = new RwLock();
    const peers = Array.from({ length: 3 }, () => new Peer(lock));
    lock.lockRead();
    await peers[0]?.run('kept.held = lock.read()');
    const drain = peers[1]?.run('lock.lockWrite()');
    await until(() => lock.writing, 'the writer waits');
    const read = peers[2]?.run('lock.lockRead()');
    await waits(lock, 2);
    const promises = [lock.writeAsync(), lock.updateAsync(), lock.readAsync()];
    await waits(lock, 5);
    lock.dispose();
    for (const promise of promises)
      await expect(promise).rejects.toThrow(new DisposedError('the RwLock has been disposed of'));
    expect(await drain).toBe('DisposedError');
    expect(await read).toBe('DisposedError');
    expect(await peers[0]?.run('kept.held.unlock()')).toBe(undefined);
    lock.unlockRead();
    lock.unlockWrite();
    for (const method of ['lockRead', 'tryLockRead', 'lockWrite', 'tryLockWrite', 'update'] as const)
      expect(() => lock[method]()).toThrow(DisposedError);
    expect([lock.readers, lock.writing, lock.waiting, String(lock)]).toEqual([0, false, 0, 'RwLock(disposed)']);
    expect(lock.inspect()).toMatchObject({ readers: [], waiters: [] });
    expect(() => lock.handle).toThrow(DisposedError);
  });

  it('is noticed by a promise that waits for readers, and by a writer that unlocks', async () => {
    const lock = new RwLock();
    const peer = new Peer(lock);
    await peer.run('lock.lockRead()');
    const promise = lock.writeAsync();
    await until(() => lock.writing, 'it waits');
    const noticed = expect(promise).rejects.toThrow(DisposedError);
    await peer.run('lock.dispose()');
    await noticed;
    const other = new RwLock();
    const held = other.write();
    await new Peer(other).run('lock.dispose()');
    held.unlock();
    expect(() => other.lockRead()).toThrow(DisposedError);
  });

  it('leaves no seat behind, and takes no room', () => {
    const arena = new Arena({ objects: 2, threads: 2, waiters: 8 });
    for (let i = 0; i < 1000; i++) {
      const lock = new RwLock({ arena });
      if (i % 2) lock.lockRead();
      else lock.lockWrite();
      lock.dispose();
    }
    expect(arena.stats().objects.used).toBe(0);
    const kept = [1, 2].map(() => new RwLock({ arena }));
    for (const lock of kept) lock.write({ timeout: 0 }).unlock();
    expect(() => new RwLock({ arena })).toThrow(ArenaFullError);
  });

  it('rejects its promises when the thread leaves the arena', async () => {
    const arena = new Arena();
    const lock = new RwLock({ arena });
    const held = lock.read();
    const promise = lock.writeAsync();
    await reactions();
    arena.dispose();
    await expect(promise).rejects.toThrow(DisposedError);
    held.unlock();
    expect(lock.disposed).toBe(true);
  });
});

describe('a RwLock at a bad moment', () => {
  it('keeps what a thread reads, or waits to read, that finds the lock again', async () => {
    const lock = RwLock.open('found again');
    const [writer, next] = [new Peer(lock), new Peer(lock)];
    lock.lockRead();
    RwLock.from(lock.handle);
    RwLock.open('found again');
    expect(lock.readers).toBe(1);
    expect(await writer.run('return lock.tryLockWrite()')).toBe(false);
    lock.unlockRead();
    await writer.run('lock.lockWrite()');
    const reads = lock.readAsync();
    RwLock.from(lock.handle);
    const written = next.run('lock.lockWrite(); return lock.readers');
    await until(() => lock.waiting === 2, 'a promise and a writer wait');
    await writer.run('lock.unlockWrite()');
    const held = await reads;
    await sleep(10);
    expect([lock.readers, next.ended]).toEqual([1, 0]);
    held.unlock();
    expect(await written).toBe(0);
    lock.dispose();
  });

  it('reads within nothing but a reading', async () => {
    const lock = new RwLock();
    using held = lock.write();
    await expect(lock.readAsync({ within: held as never })).rejects.toThrow(/within must be a HeldRead of this lock/);
    held.unlock();
    using found = lock.update();
    await expect(lock.readAsync({ within: found as never })).rejects.toThrow(TypeError);
    found.unlock();
    const guard = lock.read();
    lock.unlockRead();
    await expect(lock.readAsync({ within: guard })).rejects.toThrow(TypeError);
    expect(lock.readers).toBe(0);
  });

  it('gives the turn back when an upgrade fails after the scope of its guard', async () => {
    const lock = new RwLock();
    await new Peer(lock).run('lock.lockRead()');
    const found = lock.update();
    const upgraded = found.upgradeAsync({ timeout: 20 });
    found.unlock();
    await expect(upgraded).rejects.toThrow(TimeoutError);
    expect(lock.inspect().writer).toBeUndefined();
    expect(found.held).toBe(false);
  });

  it('says by tryLockWrite that another thread has disposed of it beside readers', async () => {
    const lock = new RwLock();
    const peer = new Peer(lock);
    await peer.run('lock.lockRead(); lock.dispose()');
    expect(() => lock.tryLockWrite()).toThrow(DisposedError);
  });
});

function interrupted(lock: RwLock, call: string): void {
  Object.assign(globalThis, { interrupted: lock });
  expect(() => runInThisContext(`interrupted.${call}`, { timeout: 50 })).toThrow(/timed out/);
}

describe('a call that the runtime interrupts', () => {
  it('has given up, once the thread uses the lock again', async () => {
    const lock = new RwLock();
    const peer = new Peer(lock);
    await peer.run('lock.lockWrite()');
    interrupted(lock, 'lockRead()');
    await peer.run('lock.unlockWrite()');
    expect(lock.tryLockWrite()).toBe(true);
    lock.unlockWrite();
    await peer.run('lock.lockRead()');
    for (const call of ['lockWrite()', 'update().upgrade()']) {
      interrupted(lock, call);
      expect([lock.writing, lock.tryLockRead()]).toEqual([true, true]);
      expect([lock.writing, lock.waiting, lock.inspect().writer]).toEqual([false, 0, undefined]);
      lock.unlockRead();
    }
    await peer.run('lock.unlockRead()');
    lock.write({ timeout }).unlock();
  });

  it.each(['lockRead()', 'lockWrite()', 'update()'])('leaves nothing in line: %s', async (call) => {
    const lock = new RwLock();
    const [writer, next] = [new Peer(lock), new Peer(lock)];
    await writer.run('lock.lockWrite()');
    interrupted(lock, call);
    await writer.run('lock.unlockWrite()');
    // This thread makes no other call on the lock.
    expect(await next.run('lock.lockWrite({ timeout: 10_000 }); lock.unlockWrite(); return 1')).toBe(1);
  });

  it('opens the gate again, though the thread makes no other call', async () => {
    const lock = new RwLock();
    const [reader, next] = [new Peer(lock), new Peer(lock)];
    await reader.run('lock.lockRead()');
    interrupted(lock, 'lockWrite()');
    expect(await next.run('lock.lockRead({ timeout: 10_000 }); lock.unlockRead(); return 1')).toBe(1);
  });

  /** Lets calls of this function of a lock end only by an interrupt, after they have had their effect. */
  function endless(lock: RwLock, name: string): () => void {
    const inside = lock as unknown as Record<symbol, Record<string, (...given: unknown[]) => unknown>>;
    const has = (name: string): symbol =>
      Object.getOwnPropertySymbols(lock).find((key) => name in Object(inside[key])) as symbol;
    const functions = has('shutGate');
    inside[functions] = { ...inside[functions] };
    const side = inside[has('endReadAt')] ?? {};
    const owner = name in side ? side : (inside[functions] ?? {});
    const call = owner[name] as (...given: unknown[]) => unknown;
    owner[name] = (...given) => {
      call.apply(owner, given);
      for (;;);
    };
    return () => {
      owner[name] = call;
    };
  }

  // A thread with the turn looks whether a writer has died; an update that is downgraded begins to read.
  it.each([
    ['update()', 'hasDied'],
    ['write()', 'hasDied'],
    ['lockWrite()', 'hasDied'],
    ['tryWrite()', 'shut'],
    ['update().upgradeAsync()', 'shut'],
    ['update().downgrade()', 'beginRead'],
    ['write().downgrade()', 'readOn'],
    ['write().downgrade()', 'endTurn'],
  ])('gives back the turn that its caller has not got or has passed on: %s, at %s', (source, at) => {
    const lock = new RwLock();
    const mend = endless(lock, at);
    interrupted(lock, source);
    mend();
    if (at !== 'endTurn') expect(lock.inspect().writer).toBeDefined();
    expect(lock.tryLockWrite()).toBe(true);
    lock.unlockWrite();
    expect(lock.inspect()).toMatchObject({ writer: undefined, writing: false, readers: [] });
  });

  it('reads and waits no more than the thread was told, whatever the thread does next', async () => {
    for (const readings of [1, 2]) {
      const lock = new RwLock();
      const peer = new Peer(lock);
      for (let i = 0; i < readings; i++) lock.lockRead();
      const written = peer.run('lock.lockWrite(); lock.unlockWrite(); lock.lockWrite({ timeout: 10_000 }); return 1');
      await until(() => lock.writing, 'the writer waits for this thread');
      const mend = endless(lock, 'readToo');
      interrupted(lock, 'lockReadAsync()');
      mend();
      for (let i = 0; i < readings; i++) lock.unlockRead();
      expect(await written).toBe(1);
    }
  });

  it.each([
    'interrupted.lockWrite(); interrupted.unlockWrite()',
    'interrupted.lockRead(); interrupted.unlockRead()',
    'if (interrupted.tryLockWrite()) interrupted.unlockWrite()',
  ])('may be cut short anywhere: %s', (calls) => {
    for (let i = 0; i < roundsInCi(150, 20); i++) {
      const lock = new RwLock();
      Object.assign(globalThis, { interrupted: lock });
      expect(() => runInThisContext(`for (;;) { ${calls} }`, { timeout: 2 })).toThrow(/timed out/);
      // It may have ended between the two calls.
      for (const unlock of ['unlockWrite', 'unlockRead'] as const) {
        try {
          lock[unlock]();
        } catch {}
      }
      expect(lock.tryLockWrite()).toBe(true);
      lock.dispose();
    }
  });
});

describe('a thread that may not block', () => {
  it('has the lock where it need not wait, and else is told what to use', async () => {
    const { out, err } = await runProgram('rw-lock-forbidden', []);
    expect(err).toBe('');
    const { errors, state, end } = JSON.parse(out);
    const hint = expect.stringMatching(
      /^TypeError: .*(lockReadAsync, readAsync or tryLockRead|lockWriteAsync, writeAsync)/,
    );
    expect(errors).toEqual([hint, hint, hint, expect.stringMatching(/^TypeError: .*upgradeAsync/)]);
    expect({ state, end }).toEqual({ state: [true, false, true, 2], end: [0, false, 0] });
  });
});

describe('several locks', () => {
  it('are read at a time, up to 8', async () => {
    const arena = new Arena();
    const locks = Array.from({ length: 9 }, () => new RwLock({ arena }));
    const ninth = locks[8] as RwLock;
    for (const lock of locks.slice(0, 8)) lock.lockRead();
    expect(() => ninth.lockRead()).toThrow(ArenaFullError);
    expect(() => ninth.tryLockRead()).toThrow(/this thread reads 8 RwLocks/);
    await expect(ninth.lockReadAsync()).rejects.toThrow(ArenaFullError);
    const held = ninth.write();
    expect(() => held.downgrade()).toThrow(ArenaFullError);
    expect([held.held, ninth.writing]).toEqual([true, true]);
    held.unlock();
    const found = ninth.update();
    expect(() => found.downgrade()).toThrow(ArenaFullError);
    expect(found.held).toBe(true);
    found.unlock();
    locks[3]?.unlockRead();
    ninth.lockRead();
    expect(locks.map(({ readers }) => readers)).toEqual([1, 1, 1, 0, 1, 1, 1, 1, 1]);
    const peer = new Peer(ninth);
    expect(await peer.run('return lock.tryLockWrite()')).toBe(false);
    for (const lock of locks) if (lock.readers) lock.unlockRead();
    expect(await peer.run('return lock.tryLockWrite()')).toBe(true);
  });

  it('say that they are disposed of, also to a thread that reads 8', async () => {
    const arena = new Arena();
    const lock = new RwLock({ arena });
    lock.dispose();
    for (let i = 0; i < 8; i++) new RwLock({ arena }).lockRead();
    expect(() => lock.lockRead()).toThrow(DisposedError);
    expect(() => lock.tryLockRead()).toThrow(DisposedError);
    expect(() => lock.read()).toThrow(DisposedError);
  });

  const eight = (arena: Arena): RwLock[] => Array.from({ length: 8 }, () => new RwLock({ arena }));
  const readAll = (locks: RwLock[]): void => {
    for (const lock of locks) lock.lockRead();
    expect(locks.map(({ readers }) => readers)).toEqual(locks.map(() => 1));
  };

  it.each(['lockRead', 'tryLockRead', 'lockReadAsync', 'downgrade', 'downgrade of an update'])(
    'that another thread has disposed of have no seat when it is needed: %s',
    async (how) => {
      const arena = new Arena();
      // To make another lock later would let go of these.
      const [gone, next] = [eight(arena), eight(arena)];
      const lock = next[0] as RwLock;
      readAll(gone);
      for (const old of gone) new OtherThread(old).dispose();
      if (how === 'downgrade') lock.write().downgrade();
      else if (how === 'downgrade of an update') lock.update().downgrade();
      else await lock[how as 'lockRead']();
      readAll(next.slice(1));
      // These were read, and there is nothing to unlock any more.
      for (const old of gone) old.unlockRead();
      const other = new OtherThread(lock);
      expect([lock.readers, other.tryWrite()]).toEqual([1, false]);
      lock.unlockRead();
      expect(other.tryWrite()).toBe(true);
    },
  );

  it('that are disposed of while it reads, and unlocked then, leave it 8', () => {
    const arena = new Arena();
    for (let i = 0; i < 3; i++) {
      const locks = eight(arena);
      readAll(locks);
      for (const [i, lock] of locks.entries()) {
        if (i % 2) lock.dispose();
        else new OtherThread(lock).dispose();
        lock.unlockRead();
      }
    }
  });

  it('that a dead thread has read, and its place in the arena, are free for others', async () => {
    const arena = new Arena({ threads: 3 });
    const locks = eight(arena);
    for (let i = 0; i < 3; i++) {
      const peer = new Peer(locks[0] as RwLock);
      const words = locks.map(({ handle: { address, generation } }) => ({ address, generation }));
      await peer.run(
        `kept.locks = ${JSON.stringify(words)}.map((place) => lock.constructor.from({ ...lock.handle, ...place }));
        for (const lock of kept.locks) lock.lockRead();`,
      );
      expect(locks.map(({ readers }) => readers)).toEqual(locks.map(() => 1));
      await peer.worker.terminate();
      for (const lock of locks) lock.write({ timeout }).unlock();
    }
  });

  it('that a thread has read which has left the arena, leave it 8 when it comes back', async () => {
    const arena = new Arena();
    const locks = eight(arena);
    readAll(locks);
    const { handle } = arena;
    const handles = locks.map(({ handle }) => handle);
    arena.dispose();
    const again = Arena.from(handle);
    readAll(eight(again));
    for (const [i, handle] of handles.entries()) {
      const lock = RwLock.from(handle);
      expect([lock.readers, locks[i]?.disposed]).toEqual([0, true]);
      lock.write({ timeout }).unlock();
    }
  });

  it('are shared by handle and by name, and one thread is one reader by all its library objects', () => {
    const lock = RwLock.open('rw lock');
    expect(lock.handle.kind).toBe('RwLock');
    const [same, other] = [RwLock.open('rw lock'), RwLock.from(lock.handle)];
    lock.lockRead();
    same.lockRead();
    other.unlockRead();
    expect([lock.readers, same.readers]).toEqual([1, 1]);
    other.unlockRead();
    same.lockWrite();
    expect(() => other.lockRead()).toThrow(/this thread writes/);
    other.unlockWrite();
    expect(() => RwLock.from(new Semaphore(1).handle as never)).toThrow(
      'must be of a RwLock, but it is of a Semaphore',
    );
    expect(() => Semaphore.from(lock.handle as never)).toThrow('but it is of a RwLock');
    same.dispose();
    expect(() => RwLock.from(other.handle)).toThrow(DisposedError);
  });
});
