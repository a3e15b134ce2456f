/**
 * What others check of a read-write lock, as far as `RwLock` promises the same: ReentrantReadWriteLockTest and
 * StampedLockTest of JSR-166's TCK, rwmutex_test.go of Go (sync), tst-rwlock1 to 20 of glibc (nptl), src/rwlock.rs of
 * parking_lot, and tests/sync_rwlock.rs of tokio. Each test names the case that it follows.
 *
 * Here a thread that writes may neither read nor write again: it gets an error where others let it in, or hang. A writer
 * goes on as a reader by `downgrade`. A blocked thread cannot be interrupted: where the others do that, a promise is aborted.
 */
import { Arena } from 'taketurns';
import { RwLock } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { callers } from '../support/callers.js';
import { isSettled, watch } from '../support/settled.js';
import { Member } from '../support/team.js';
import { turn, until } from '../support/until.js';

const THREADS = 5;
const { run, call, calls } = callers(THREADS);
const numbers = (count: number) => new Int32Array(new SharedArrayBuffer(4 * count));
const all = <T>(answer: T, count = THREADS) => Array.from({ length: count }, () => answer);

describe('ReentrantReadWriteLockTest', () => {
  it('testConstructor, testLock: nobody has it at first, and each side is free again after it', async () => {
    const lock = new RwLock();
    const free = { readers: [], writer: undefined, writing: false, deaths: 0, waiters: [] };
    expect(lock.inspect()).toEqual(free);
    lock.lockWrite();
    expect([lock.writing, lock.readers]).toEqual([true, 0]);
    lock.unlockWrite();
    lock.lockRead();
    expect([lock.writing, lock.readers]).toEqual([false, 1]);
    lock.unlockRead();
    expect(lock.inspect()).toEqual(free);
  });

  it('testUnlock_IMSE, testReadUnlock_IMSE: who has not locked does not unlock', async () => {
    const lock = new RwLock();
    expect(() => lock.unlockWrite()).toThrow(/does not write/);
    expect(() => lock.unlockRead()).toThrow(/does not read/);
    await call(0, lock, 'lockWrite');
    expect(() => lock.unlockWrite(), 'while another writes').toThrow(/does not write/);
    await call(0, lock, 'unlockWrite');
    await call(0, lock, 'lockRead');
    expect(() => lock.unlockRead(), 'while another reads').toThrow(/does not read/);
    expect(lock.readers).toBe(1);
    await call(0, lock, 'unlockRead');
  });

  it('testTryLockWhenLocked, testReadTryLockWhenLocked: no try succeeds while another writes', async () => {
    const lock = new RwLock();
    lock.lockWrite();
    expect(await call(0, lock, 'tryLockWrite')).toBe(false);
    expect(await call(0, lock, 'tryLockRead')).toBe(false);
    await expect(call(0, lock, 'lockWrite', { timeout: 0 })).rejects.toThrow(/after 0 ms/);
    await expect(call(0, lock, 'lockRead', { timeout: 5 })).rejects.toThrow(/after 5 ms/);
    lock.unlockWrite();
    expect(await call(0, lock, 'tryLockWrite')).toBe(true);
    await call(0, lock, 'unlockWrite');
  });

  it('testTryLockWhenReadLocked, testWriteTryLockWhenReadLocked: while another reads, to read succeeds, and to write not', async () => {
    const lock = new RwLock();
    lock.lockRead();
    expect(await call(0, lock, 'tryLockRead')).toBe(true);
    await call(0, lock, 'unlockRead');
    expect(await call(0, lock, 'tryLockWrite')).toBe(false);
    await expect(call(0, lock, 'lockWrite', { timeout: 5 })).rejects.toThrow(/after 5 ms/);
    // One that has given up keeps nobody out.
    expect(await call(0, lock, 'tryLockRead')).toBe(true);
    await call(0, lock, 'unlockRead');
    lock.unlockRead();
  });

  it('testMultipleReadLocks, testGetReadHoldCount: a thread reads as often as it likes, and is out after the last', async () => {
    const lock = new RwLock();
    for (let i = 0; i < 1000; i++) lock.lockRead();
    expect(lock.readers).toBe(1);
    for (let i = 0; i < 1000; i++) {
      expect(lock.readers).toBe(1);
      lock.unlockRead();
    }
    expect([lock.readers, await call(0, lock, 'tryLockWrite')]).toEqual([0, true]);
    await call(0, lock, 'unlockWrite');
  });

  it('testWriteAfterMultipleReadLocks, testReadAfterWriteLock: a writer comes after all readers, and readers after it', async () => {
    const lock = new RwLock();
    await Promise.all(calls(2, lock, 'lockRead'));
    const write = call(2, lock, 'lockWrite');
    await until(() => lock.writing, 'it waits for the readers');
    await call(0, lock, 'unlockRead');
    expect(await isSettled(write)).toBe(false);
    await call(1, lock, 'unlockRead');
    await write;
    const reads = calls(2, lock, 'lockRead');
    await until(() => lock.waiting === 2, 'they wait');
    await call(2, lock, 'unlockWrite');
    await Promise.all(reads);
    expect(lock.readers).toBe(2);
    await Promise.all(calls(2, lock, 'unlockRead'));
  });

  it('testReadHoldingWriteLock, testWriteHoldingWriteLock: a writer goes on as a reader, and does not lock again', () => {
    const lock = new RwLock();
    const held = lock.write();
    expect(() => lock.lockRead()).toThrow(/would wait for itself/);
    expect(() => lock.lockWrite()).toThrow(/would wait for itself/);
    expect([lock.tryLockWrite(), lock.tryLockRead(), lock.writing]).toEqual([false, false, true]);
    const read = held.downgrade();
    expect([held.held, lock.writing, lock.readers]).toEqual([false, false, 1]);
    lock.lockRead();
    lock.unlockRead();
    read.unlock();
    expect(lock.readers).toBe(0);
  });

  it('testReadHoldingWriteLockFair: a thread reads again though a writer waits, and another does not', async () => {
    const lock = new RwLock();
    lock.lockRead();
    const write = call(0, lock, 'lockWrite');
    await until(() => lock.writing, 'a writer waits');
    lock.lockRead();
    expect(lock.tryLockRead(), 'in Java a try passes the writer').toBe(false);
    expect(await call(1, lock, 'tryLockRead')).toBe(false);
    for (let i = 0; i < 2; i++) lock.unlockRead();
    await write;
    await call(0, lock, 'unlockWrite');
  });

  it('testUpgrade: one that reads is not let write, and is told what to use', async () => {
    const lock = new RwLock();
    lock.lockRead();
    expect(() => lock.lockWrite()).toThrow(/to read and then perhaps write, use update/);
    expect([lock.tryLockWrite(), lock.readers, lock.waiting]).toEqual([false, 1, 0]);
    lock.unlockRead();
  });

  it('testWriteLockInterruptibly_Interruptible: one that is aborted leaves the line, and those behind it go on', async () => {
    const lock = new RwLock();
    await call(0, lock, 'lockRead');
    const abort = new AbortController();
    const write = lock.lockWriteAsync({ signal: abort.signal });
    await until(() => lock.writing, 'it waits for the reader');
    const behind = [call(1, lock, 'lockRead'), call(2, lock, 'lockRead')];
    await until(() => lock.waiting === 3, 'readers wait for it');
    abort.abort(new Error('interrupted'));
    await expect(write).rejects.toThrow('interrupted');
    await Promise.all(behind);
    expect([lock.readers, lock.writing, lock.waiting]).toEqual([3, false, 0]);
    await Promise.all(calls(3, lock, 'unlockRead'));
  });

  it('testReadLockInterruptibly_Interruptible: a reader that is aborted does not read', async () => {
    const lock = new RwLock();
    await call(0, lock, 'lockWrite');
    const abort = new AbortController();
    const read = lock.lockReadAsync({ signal: abort.signal });
    await until(() => lock.waiting === 1, 'it waits');
    abort.abort(new Error('interrupted'));
    await expect(read).rejects.toThrow('interrupted');
    await call(0, lock, 'unlockWrite');
    expect([lock.readers, lock.waiting, lock.tryLockWrite()]).toEqual([0, 0, true]);
    lock.unlockWrite();
  });

  it('testHasQueuedThreads, testGetQueuedThreads, testToString: who waits is told', async () => {
    const lock = new RwLock();
    expect(`${lock}`).toBe('RwLock(0 readers, 0 waiting)');
    lock.lockWrite();
    expect(`${lock}`).toMatch(/^RwLock\(writing by thread \d+ \(threadId \d+\), 0 waiting\)$/);
    const read = call(0, lock, 'lockRead');
    await until(() => lock.waiting === 1, 'a reader waits');
    const write = call(1, lock, 'lockWrite');
    await until(() => lock.waiting === 2, 'and a writer');
    expect(lock.inspect().waiters.map(({ wants }) => wants)).toEqual(['read', 'write']);
    lock.unlockWrite();
    await read;
    await call(0, lock, 'unlockRead');
    await write;
    await call(1, lock, 'unlockWrite');
    expect(`${lock}`).toBe('RwLock(0 readers, 0 waiting)');
  });
});

describe('StampedLockTest', () => {
  it('testValidateOptimistic, testValidateOptimisticWriteLocked: a stamp is valid until one writes', async () => {
    const lock = new RwLock();
    const stamp = lock.stamp();
    expect([stamp > 0, lock.valid(stamp), lock.valid(0)]).toEqual([true, true, false]);
    lock.lockRead();
    expect([lock.valid(stamp), lock.valid(lock.stamp())]).toEqual([true, true]);
    lock.unlockRead();
    await call(0, lock, 'lockWrite');
    expect([lock.valid(stamp), lock.stamp()]).toEqual([false, 0]);
    await call(0, lock, 'unlockWrite');
    expect([lock.valid(stamp), lock.stamp() > 0]).toEqual([false, true]);
  });

  it('testTryConvertToReadLock, testTryConvertToWriteLock: from one mode to another, with what the stamp says of it', async () => {
    const lock = new RwLock();
    const update = lock.update();
    const stamp = lock.stamp();
    expect(lock.valid(stamp)).toBe(true);
    const write = update.upgrade();
    expect([lock.stamp(), lock.valid(stamp)]).toEqual([0, false]);
    const read = write.downgrade();
    const after = lock.stamp();
    expect([after > 0, await call(0, lock, 'tryLockRead'), await call(0, lock, 'tryLockWrite')]).toEqual([
      true,
      true,
      false,
    ]);
    await call(0, lock, 'unlockRead');
    read.unlock();
    expect(lock.valid(after)).toBe(true);
  });

  it('testUnlockWrite_IMSE, bad stamps: what is no stamp is refused', () => {
    const lock = new RwLock();
    for (const bad of [-1, 0.5, Number.NaN, 2 ** 29 + 1]) expect(() => lock.valid(bad)).toThrow(RangeError);
    expect(() => lock.valid('1' as never)).toThrow(TypeError);
  });
});

describe('rwmutex_test.go', () => {
  it.each([1, 3, 4])('TestParallelReaders: %i read at a time', async (readers) => {
    const lock = new RwLock();
    const words = numbers(1);
    const code = `object.lockRead(); Atomics.add(words, 0, 1); Atomics.notify(words, 0);
      for (let there; (there = Atomics.load(words, 0)) < ${readers}; ) Atomics.wait(words, 0, there); object.unlockRead();`;
    await Promise.all(Array.from({ length: readers }, (_, thread) => run(thread, lock, code, words)));
    expect([words[0], lock.readers]).toEqual([readers, 0]);
  });

  it.each([
    [1, 1],
    [1, 3],
    [2, 3],
    [4, 1],
  ])('HammerRWMutex: %i writers and %i readers', async (writers, readers) => {
    const lock = new RwLock();
    // How many are inside, a writer counting as 10,000; how many were there that must not be.
    const words = numbers(2);
    const code = (lock: string, unlock: string, n: number, most: number) => `for (let i = 0; i < 300; i++) {
      object.${lock}(); const there = Atomics.add(words, 0, ${n}) + ${n};
      if (there < 1 || there > ${most}) Atomics.add(words, 1, 1);
      for (let j = 0; j < 100; j++) Atomics.load(words, 0);
      Atomics.sub(words, 0, ${n}); object.${unlock}(); }`;
    const write = code('lockWrite', 'unlockWrite', 10_000, 10_000);
    const read = code('lockRead', 'unlockRead', 1, 9_999);
    await Promise.all([...all(write, writers), ...all(read, readers)].map((code, i) => run(i, lock, code, words)));
    expect([...words]).toEqual([0, 0]);
  });

  it('TestRWMutexTryLock: tries beside what is locked', async () => {
    const lock = new RwLock();
    const tries = async () => [await call(0, lock, 'tryLockWrite'), await call(0, lock, 'tryLockRead')];
    expect(lock.tryLockWrite()).toBe(true);
    expect(await tries()).toEqual([false, false]);
    lock.unlockWrite();
    expect([lock.tryLockRead(), lock.tryLockRead()]).toEqual([true, true]);
    expect(await tries()).toEqual([false, true]);
    await call(0, lock, 'unlockRead');
    lock.unlockRead();
    lock.unlockRead();
    expect(lock.tryLockWrite()).toBe(true);
    lock.unlockWrite();
  });
});

describe('tst-rwlock of glibc', () => {
  it('tst-rwlock2: beside readers a writer that tries is refused, beside a writer all', async () => {
    const lock = new RwLock();
    const [first, second] = [lock.read(), lock.read()];
    expect(await call(0, lock, 'tryLockWrite')).toBe(false);
    first.unlock();
    expect(await call(0, lock, 'tryLockWrite')).toBe(false);
    second.unlock();
    expect(await call(0, lock, 'tryLockWrite')).toBe(true);
    expect([lock.tryLockRead(), lock.tryLockWrite()]).toEqual([false, false]);
    await call(0, lock, 'unlockWrite');
  });

  it('tst-rwlock4, tst-rwlock12: two threads that find it by its name have one lock', async () => {
    const lock = RwLock.open('tst-rwlock4');
    const same = RwLock.open('tst-rwlock4');
    lock.lockWrite();
    expect([same.writing, await call(0, same, 'tryLockRead')]).toEqual([true, false]);
    same.unlockWrite();
    lock.dispose();
  });

  it('tst-rwlock6, tst-rwlock7, tst-rwlock9: time-outs beside a writer and beside readers', async () => {
    const lock = new RwLock();
    lock.lockWrite();
    const limited = { timeout: 5 };
    const refused = [...calls(2, lock, 'lockRead', limited), call(2, lock, 'lockWrite', limited)];
    for (const { status } of await Promise.allSettled(refused)) expect(status).toBe('rejected');
    lock.unlockWrite();
    lock.lockRead();
    await Promise.all(calls(2, lock, 'lockRead', limited));
    await expect(call(2, lock, 'lockWrite', limited)).rejects.toThrow(/after 5 ms/);
    await Promise.all(calls(2, lock, 'unlockRead'));
    lock.unlockRead();
    expect([lock.waiting, lock.readers, lock.writing]).toEqual([0, 0, false]);
  });

  it('tst-rwlock8, tst-rwlock-pwn: many that write and read, with and without a time, keep two numbers alike', async () => {
    const lock = new RwLock();
    const words = numbers(3);
    const code = (write: number) => `let n = 0; for (let i = 0; i < 200; i++) {
      const options = i % 3 ? undefined : { timeout: 0.02 * (i % 9) };
      const writes = i % 10 < ${write};
      try { if (writes) object.lockWrite(options); else object.lockRead(options); } catch { continue; }
      if (writes) { words[0]++; words[1]++; n++; object.unlockWrite(); }
      else { if (words[0] !== words[1]) words[2]++; object.unlockRead(); } } return n;`;
    const writes = await Promise.all([2, 2, 2, 5, 0].map((write, i) => run<number>(i, lock, code(write), words)));
    const sum = writes.reduce((sum, each) => sum + each, 0);
    expect([...words]).toEqual([sum, sum, 0]);
  });

  it('tst-rwlock14: a bad time is refused, and nothing is locked', async () => {
    const lock = new RwLock();
    for (const bad of [-1, Number.NaN, '5']) {
      const options = { timeout: bad as number };
      expect(() => lock.lockRead(options)).toThrow(/timeout/);
      expect(() => lock.lockWrite(options)).toThrow(/timeout/);
      await expect(lock.lockReadAsync(options)).rejects.toThrow(/timeout/);
      await expect(lock.updateAsync(options)).rejects.toThrow(/timeout/);
    }
    expect([lock.readers, lock.writing, lock.waiting]).toEqual([0, false, 0]);
  });

  it('tst-rwlock16, 17, tst-rwlock-tryrdlock-stall, tst-rwlock-trywrlock-stall: tries among others hold up nobody', async () => {
    const lock = new RwLock();
    const words = numbers(2);
    const tries = `let n = 0; while (Atomics.load(words, 0) < 3) { n++;
      if (object.tryLockRead()) object.unlockRead(); if (object.tryLockWrite()) object.unlockWrite(); } return n;`;
    const code = `for (let i = 0; i < 300; i++) { object.lockRead(); object.unlockRead(); object.lockWrite(); words[1]++;
      object.unlockWrite(); } Atomics.add(words, 0, 1);`;
    await Promise.all([tries, tries, code, code, code].map((code, i) => run(i, lock, code, words)));
    expect([words[1], lock.readers, lock.writing, lock.waiting]).toEqual([900, 0, false, 0]);
  });

  it('tst-rwlock19, 20: of readers and writers that come by turns nobody waits for ever', async () => {
    const lock = new RwLock();
    const words = numbers(1);
    const code = (lock: string, unlock: string) =>
      `for (let i = 0; i < 300; i++) { object.${lock}(); object.${unlock}(); } return Atomics.add(words, 0, 1);`;
    const [read, write] = [code('lockRead', 'unlockRead'), code('lockWrite', 'unlockWrite')];
    await Promise.all([read, write, read, write, read].map((code, i) => run(i, lock, code, words)));
    expect(words[0]).toBe(THREADS);
  });
});

describe('rwlock.rs of parking_lot', () => {
  it('test_rw_access_in_unwind: what is held is unlocked when an error leaves its scope', () => {
    const lock = new RwLock();
    for (const hold of ['read', 'write', 'update'] as const) {
      expect(() => {
        using _ = lock[hold]();
        throw new Error('unwind');
      }).toThrow('unwind');
      expect([lock.readers, lock.writing, lock.inspect().writer]).toEqual([0, false, undefined]);
    }
  });

  it('test_ruw_arc: those that update come one at a time, beside readers', async () => {
    const lock = new RwLock();
    const words = numbers(3);
    const update = `for (let i = 0; i < 50; i++) { const held = object.update(); const before = words[0];
      const write = held.upgrade(); if (words[0] !== before) words[1]++; words[0] = before + 1; write.unlock(); }`;
    const read = `for (let i = 0; i < 200; i++) { const held = object.read(); const before = words[0];
      for (let j = 0; j < 50; j++) if (words[0] !== before) words[2]++; held.unlock(); }`;
    await Promise.all([update, update, update, read, read].map((code, i) => run(i, lock, code, words)));
    expect([...words]).toEqual([150, 0, 0]);
  });

  it('test_rwlock_try_read, test_rwlock_try_write, test_rwlock_try_upgrade: tries that give guards', async () => {
    const lock = new RwLock();
    const read = lock.tryRead();
    expect([read?.held, await run(0, lock, 'return object.tryWrite() === undefined')]).toEqual([true, true]);
    const other = run<boolean>(0, lock, 'kept.update = object.update(); return kept.update.held');
    expect(await other, 'an update is beside a reader').toBe(true);
    await expect(run(0, lock, 'return kept.update.upgrade({ timeout: 0 })')).rejects.toThrow(/after 0 ms/);
    expect(await run(1, lock, 'return object.tryLockRead()'), 'and lets others in still').toBe(true);
    await call(1, lock, 'unlockRead');
    read?.unlock();
    await run(0, lock, 'kept.write = kept.update.upgrade(); kept.write.unlock()');
    const write = lock.tryWrite();
    expect([write?.held, lock.tryRead(), lock.tryWrite()]).toEqual([true, undefined, undefined]);
    write?.unlock();
  });

  it('test_rwlock_recursive: one that reads reads again while a writer waits', async () => {
    const lock = new RwLock();
    const words = numbers(1);
    const reads = `const first = object.read(); Atomics.add(words, 0, 1);
      while (Atomics.load(words, 0) < 2) Atomics.wait(words, 0, 1, 1);
      object.read().unlock(); first.unlock();`;
    const reading = run(0, lock, reads, words);
    await until(() => words[0] === 1, 'it reads');
    const writing = call(1, lock, 'lockWrite');
    await until(() => lock.writing, 'a writer waits');
    Atomics.add(words, 0, 1);
    await reading;
    await writing;
    await call(1, lock, 'unlockWrite');
  });
});

describe('sync_rwlock.rs', () => {
  it('read_shared, write_shared_pending, read_exclusive_pending: promises wait where they must', async () => {
    const lock = new RwLock();
    const [first, second] = [await lock.readAsync(), await lock.readAsync()];
    const write = watch(
      lock.writeAsync().then((held) => held.unlock()),
      'write',
    );
    await turn();
    expect(write.state).toBe('pending');
    first.unlock();
    await turn();
    expect(write.state).toBe('pending');
    second.unlock();
    await until(() => write.state === 'fulfilled', 'it writes');
    const held = await lock.writeAsync();
    const read = watch(lock.readAsync(), 'read');
    await turn();
    expect(read.state).toBe('pending');
    held.unlock();
    await until(() => read.state === 'fulfilled', 'it reads');
  });

  it('write_shared_drop, write_read_shared_drop_pending: a writer that leaves lets readers in', async () => {
    const lock = new RwLock();
    const held = await lock.readAsync();
    const abort = new AbortController();
    const write = lock.writeAsync({ signal: abort.signal });
    await until(() => lock.writing, 'it waits for the reader');
    const read = lock.readAsync();
    expect(await isSettled(read), 'a reader waits for the writer').toBe(false);
    abort.abort(new Error('dropped'));
    await expect(write).rejects.toThrow('dropped');
    (await read).unlock();
    held.unlock();
  });

  it('write_order: writers have it in the order in which they came', async () => {
    const lock = new RwLock();
    const log: number[] = [];
    const held = await lock.writeAsync();
    const writes = [0, 1, 2, 3].map(async (i) => {
      const held = await lock.writeAsync();
      log.push(i);
      held.unlock();
    });
    held.unlock();
    await Promise.all(writes);
    expect(log).toEqual([0, 1, 2, 3]);
  });

  it('exhaust_reading: very many read together, and one more', async () => {
    const lock = new RwLock();
    const held = await Promise.all(Array.from({ length: 5000 }, () => lock.readAsync()));
    const write = watch(lock.writeAsync(), 'write');
    for (const each of held.slice(1)) each.unlock();
    await turn();
    expect([write.state, lock.readers]).toEqual(['pending', 1]);
    held[0]?.unlock();
    await until(() => write.state === 'fulfilled', 'it writes');
  });

  it('the death of a reader or a writer, which none of them survives, holds up nobody', async () => {
    const lock = new RwLock();
    for (const method of ['lockRead', 'lockWrite', 'update']) {
      const doomed = new Member();
      Arena.default.watch(doomed.worker);
      await doomed.run('script', { handle: lock.handle, code: `object.${method}()` });
      const write = call<unknown>(0, lock, 'lockWrite');
      await doomed.kill();
      await write;
      await call(0, lock, 'unlockWrite');
    }
    expect([lock.readers, lock.writing, lock.waiting, lock.inspect().deaths]).toEqual([0, false, 0, 2]);
  });
});
