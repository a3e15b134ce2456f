/** Fake timers: the library waits in real time, though a test makes the clocks of its globals stand still. */
import { getEventListeners } from 'node:events';
import { Arena, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { AtomicSemaphore, atomicTryWaitFor, atomicTryWaitForAsync, BinarySemaphore } from 'taketurns/p0514';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Member } from '../support/team.js';

const words = new Int32Array(new SharedArrayBuffer(4));
const arena = new Arena();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] });
  vi.setSystemTime(0);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('under fake timers, a time-out passes', () => {
  it('of a thread that blocks in acquire', () => {
    const semaphore = new Semaphore(0, { arena });
    expect(() => semaphore.acquire(1, { timeout: 20 })).toThrow(TimeoutError);
    expect(semaphore.waiting).toBe(0);
  });

  it('of promises', async () => {
    const semaphore = new Semaphore(0, { arena });
    const mutex = new Mutex({ arena });
    mutex.lock();
    await expect(semaphore.acquireAsync(1, { timeout: 20 })).rejects.toThrow(TimeoutError);
    await expect(mutex.lockAsync({ timeout: 20 })).rejects.toThrow(TimeoutError);
    expect([semaphore.waiting, mutex.waiting]).toEqual([0, 0]);
  });

  it('of waiting for a word', async () => {
    expect(atomicTryWaitFor(words, 0, 0, 20, { arena })).toBe(false);
    expect(await atomicTryWaitForAsync(words, 0, 0, 20, { arena })).toBe(false);
    expect(new BinarySemaphore(0, { arena }).tryWaitFor(20)).toBe(false);
    expect(await new AtomicSemaphore({ arena }).tryWaitForAsync(words, 0, 0, 20)).toBe(false);
  });
});

describe('under fake timers', () => {
  it('a signal has no listener when its promises are settled', async () => {
    const queued = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {});
    try {
      const { signal } = new AbortController();
      const semaphore = new Semaphore(0, { arena });
      const acquired = semaphore.acquireAsync(1, { signal });
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      semaphore.release();
      await acquired;
      await new Promise((resolve) => setImmediate(resolve));
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    } finally {
      queued.mockRestore();
    }
  });

  it('a waiter says for how long it has waited', async () => {
    const semaphore = new Semaphore(0, { arena });
    const waiter = new Member();
    const acquired = waiter.run('enter', { handle: semaphore.handle });
    while (semaphore.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    const stats = arena.stats().threads.find(({ waiting }) => waiting > 0);
    expect(stats?.longestWait).toBeLessThan(60_000);
    semaphore.release();
    await acquired;
    await waiter.leave();
  });

  it('a deadline is a point of the clock that the caller sees', () => {
    const semaphore = new BinarySemaphore(0, { arena });
    expect(semaphore.tryWaitUntil(Date.now() + 20)).toBe(false);
    vi.setSystemTime(1e15);
    expect(semaphore.tryWaitUntil(Date.now() + 20)).toBe(false);
  });
});
