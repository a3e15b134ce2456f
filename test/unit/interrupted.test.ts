/**
 * A thread survives an interruption in the middle of a call: the runtime ends the call by an exception that no code of
 * the library sees. The thread's request stays queued, as that of a killed thread would, and the thread's later calls
 * must still be right.
 */
import { runInThisContext } from 'node:vm';
import { Arena, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { describe, expect, it } from 'vitest';
// The attachment gives this thread's own core, for half a call.
import { attachmentOf } from '../../dist/arena.js';
import { at, Memory } from '../support/memory.js';
import { team } from '../support/team.js';
import { until } from '../support/until.js';

/** Calls `semaphore.acquire()` and interrupts it while it is parked. */
function interruptedAcquire(semaphore: Semaphore): void {
  Object.assign(globalThis, { interrupted: semaphore });
  expect(() => runInThisContext('interrupted.acquire()', { timeout: 50 })).toThrow(/timed out/);
}

describe('after an interrupted acquire', () => {
  it('the next acquire does not take the grant of the interrupted one', () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    interruptedAcquire(semaphore);
    interruptedAcquire(semaphore);
    expect(semaphore.waiting).toBe(2);
    expect(semaphore.tryAcquire()).toBe(false);
  });

  it('the thread waits in line behind its interrupted request, and is served', async () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    interruptedAcquire(semaphore);
    let served = false;
    semaphore.acquireAsync().then(() => {
      served = true;
    });
    expect(semaphore.waiting).toBe(2);
    semaphore.release();
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await until(() => served, 'served');
  });

  it('other semaphores of the thread work as ever', () => {
    const arena = new Arena();
    interruptedAcquire(new Semaphore(0, { arena }));
    const other = new Semaphore(1, { arena });
    for (let i = 0; i < 3; i++) {
      other.acquire();
      expect(other.tryAcquire()).toBe(false);
      other.release();
    }
    expect(other.available).toBe(1);
    interruptedAcquire(new Semaphore(0, { arena }));
  });

  it('a release by the thread still wakes the waiters whose turn has come', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const log: string[] = [];
    semaphore.acquireAsync().then(() => log.push('first'));
    interruptedAcquire(semaphore);
    semaphore.acquireAsync().then(() => log.push('last'));
    semaphore.release(3);
    await until(() => log.length === 2, 'both are in');
    expect(log).toEqual(['first', 'last']);
  });
});

describe('after an interrupted release', () => {
  it('the next release that wakes a waiter finishes it, promises of the thread included', async () => {
    const arena = new Arena();
    const first = new Semaphore(0, { arena });
    const second = new Semaphore(0, { arena });
    const log: string[] = [];
    first.acquireAsync().then(() => log.push('first'));
    second.acquireAsync().then(() => log.push('second'));
    // An exhausted stack would leave the second half undone: it is never called.
    expect(attachmentOf(arena as never).core.release(first.handle.address, 1)).not.toBe(0);
    second.release();
    await until(() => log.length === 2, 'both are in');
    expect(first.available + second.available).toBe(0);
  });
});

describe('after an interrupted wait for a mutex', () => {
  const worker = team(1, { core: true });

  it('the next wait ends', async () => {
    const [held, other] = [new Mutex(), new Mutex()];
    other.lock();
    worker[0]?.run('mutex-die', { handle: held.handle, other: other.handle });
    await until(() => held.locked, 'the worker has the lock');
    Object.assign(globalThis, { interrupted: held });
    expect(() => runInThisContext('interrupted.lock()', { timeout: 50 })).toThrow(/execution timed out/);
    // If the core still took the thread for asleep, it would never wake up again.
    expect(() => runInThisContext('interrupted.lock({ timeout: 20 })', { timeout: 10_000 })).toThrow(TimeoutError);
    expect(held.waiting).toBe(0);
    other.unlock();
  });

  it.each(['this thread', 'another thread'])(
    'the memory of the mutex is used again, if %s disposes of it',
    async (who) => {
      const arena = new Arena({ objects: 2 });
      const mutex = new Mutex({ arena });
      const { handle } = mutex;
      const stranger = new Semaphore(0, { arena });
      await worker[0]?.run('mutex-take-or-dispose', { handle, disposes: false });
      Object.assign(globalThis, { interrupted: mutex });
      expect(() => runInThisContext('interrupted.lock()', { timeout: 50 })).toThrow(/timed out/);
      if (who === 'this thread') Mutex.from(handle).dispose();
      await worker[0]?.run('mutex-take-or-dispose', { handle, disposes: true });
      // The library object has not noticed, but the thread lets go of the memory for the next mutex.
      const next = new Mutex({ arena });
      expect(next.handle.address).toBe(handle.address);
      const before = new Memory(arena).long(handle.address + at('GRANT'));
      expect(next.tryLock()).toBe(true);
      expect(new Memory(arena).long(handle.address + at('GRANT'))).toBe(before);
      expect(next.waiting).toBe(0);
      expect(stranger.available).toBe(0);
    },
  );
});

describe('after an interrupted call, a promise that is the head of a mutex', () => {
  const crowd = team(1, { core: true });

  /** Makes a mutex that a worker holds, and a promise of this thread that is its head. */
  async function head(patience?: { timeout: number }) {
    const mutex = new Mutex();
    await crowd[0]?.run('mutex-hold', { handle: mutex.handle });
    return { mutex, promise: patience ? mutex.lockAsync(patience) : mutex.lockAsync() };
  }

  /** Checks that a semaphore admits no request for the sake of an acquire that was cut short. */
  function expectNoPermit(): void {
    const semaphore = new Semaphore(0);
    expect(() => semaphore.acquire(1, { timeout: 5 })).toThrow(TimeoutError);
    expect(semaphore.available).toBe(0);
  }

  it('gets the lock: the next acquire does not take the grant of the interrupted one', async () => {
    const { mutex, promise } = await head();
    interruptedAcquire(new Semaphore(0));
    await crowd[0]?.run('mutex-unlock', { handle: mutex.handle });
    await promise;
    expectNoPermit();
    mutex.unlock();
  });

  it('cancels: the next acquire is not admitted either', async () => {
    const { mutex, promise } = await head({ timeout: 80 });
    interruptedAcquire(new Semaphore(0));
    await expect(promise).rejects.toThrow(TimeoutError);
    expectNoPermit();
    await crowd[0]?.run('mutex-unlock', { handle: mutex.handle });
  });

  it('gets the lock: the interrupted call waits for the other mutex no more', async () => {
    const { mutex, promise } = await head();
    const other = new Mutex({ bypass: 0 });
    await crowd[0]?.run('mutex-hold', { handle: other.handle });
    Object.assign(globalThis, { interrupted: other });
    expect(() => runInThisContext('interrupted.lock()', { timeout: 50 })).toThrow(/timed out/);
    await crowd[0]?.run('mutex-unlock', { handle: mutex.handle });
    await promise;
    expect(other.waiting).toBe(0);
    await crowd[0]?.run('mutex-unlock', { handle: other.handle });
    other.lock();
    other.unlock();
    mutex.unlock();
  });
});
