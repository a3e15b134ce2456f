/**
 * cancelAll: whoever waits when it is called leaves, in every thread, and the object goes on. check/ has every
 * interleaving of it with grants, time-outs, deaths and dispose.
 */
import { Arena, CancelledError, Mutex, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { upTo } from '../support/cancelling.js';
import { end, recruit } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(3, { core: true });
const names = (settled: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  settled.map((one) => (one.status === 'rejected' ? one.reason.name : one.status));

describe('cancelAll of a semaphore', () => {
  it('rejects the promises of this thread at once, and keeps those that are due', async () => {
    const semaphore = new Semaphore(2, { max: 3 });
    await semaphore.acquireAsync(2);
    const log: number[] = [];
    const signal = new AbortController().signal;
    const all = [
      watch(semaphore.acquireAsync(), 0, log),
      watch(semaphore.acquireAsync(3), 1, log),
      watch(semaphore.acquireAsync(1, { signal }), 2, log),
      watch(semaphore.acquireAsync(1, { timeout: 600_000 }), 3, log),
    ];
    await turn();
    semaphore.release();
    const why = new RangeError('too late');
    semaphore.cancelAll(why);
    await reactions();
    expect(log).toEqual([0]);
    for (const { state, error } of all.slice(1)) {
      expect(state).toBe('rejected');
      expect(error).toBeInstanceOf(CancelledError);
      expect(error).toMatchObject({
        name: 'CancelledError',
        cause: why,
        message: 'the request was cancelled by cancelAll',
      });
    }
    expect([semaphore.waiting, semaphore.available]).toEqual([0, 0]);
    semaphore.release(2);
    expect(semaphore.available).toBe(2);
    expect(semaphore.tryAcquire(2)).toBe(true);
    expect(semaphore.inspect().timeouts).toBe(3);
    semaphore.dispose();
  });

  it('has no cause without a reason', async () => {
    const semaphore = new Semaphore(0);
    const waits = semaphore.acquireAsync();
    semaphore.cancelAll();
    expect('cause' in (await failure(() => waits))).toBe(false);
  });

  it('touches no later request, of this thread or another', async () => {
    const semaphore = new Semaphore(0);
    const [member] = crowd as [Member];
    const first = semaphore.acquireAsync();
    first.catch(() => {});
    semaphore.cancelAll();
    const second = semaphore.acquireAsync();
    const other = member.run('call', { handle: semaphore.handle, method: 'acquire' });
    await until(() => semaphore.waiting === 2, 'both wait');
    semaphore.release(2);
    expect(names(await Promise.allSettled([first, second, other]))).toEqual([
      'CancelledError',
      'fulfilled',
      'fulfilled',
    ]);
  });

  it('lets blocked threads leave, with and without a time-out, and promises of others, and those of others alone', async () => {
    const semaphore = new Semaphore(0);
    const { handle } = semaphore;
    for (const asker of [undefined, crowd[2] as Member]) {
      const calls = [
        (crowd[0] as Member).run('call', { handle, method: 'acquire' }),
        (crowd[1] as Member).run('call', { handle, method: 'acquireAsync', args: [2] }),
        (crowd[1] as Member).run('call', { handle, method: 'acquireAsync', args: [{ timeout: 600_000 }] }),
        semaphore.acquireAsync(),
      ];
      const settled = Promise.allSettled(calls);
      await until(() => semaphore.waiting === 4, 'all wait');
      if (asker === undefined) semaphore.cancelAll('for this thread alone');
      else await asker.run('call', { handle, method: 'cancelAll' });
      expect(names(await settled)).toEqual(calls.map(() => 'CancelledError'));
      expect(semaphore.waiting).toBe(0);
    }
    const timed = (crowd[0] as Member).run('call', { handle, method: 'acquire', args: [{ timeout: 600_000 }] });
    await until(() => semaphore.waiting === 1, 'it waits');
    semaphore.cancelAll();
    expect((await failure(() => timed)).name).toBe('CancelledError');
    semaphore.release();
    expect(semaphore.available).toBe(1);
  });

  // Its thread has not looked since: the promise that begins then must stay.
  it('of another thread: a promise that begins before this thread hears of it waits on', async () => {
    const semaphore = new Semaphore(0);
    const words = new Int32Array(new SharedArrayBuffer(4));
    const first = semaphore.acquireAsync();
    await turn();
    (crowd[0] as Member).run('cancel-all-and-tell', { handle: semaphore.handle, told: words });
    Atomics.wait(words, 0, 0);
    const second = watch(semaphore.acquireAsync(), 2);
    const third = watch(semaphore.acquireAsync(1, { timeout: 600_000 }), 3);
    expect((await failure(() => first)).name).toBe('CancelledError');
    await turn();
    expect([second.state, third.state, semaphore.waiting]).toEqual(['pending', 'pending', 2]);
    semaphore.release(2);
    await turn();
    expect([second.state, third.state]).toEqual(['fulfilled', 'fulfilled']);
  });

  it('leaves the order of those who come later, among thousands that leave', async () => {
    const semaphore = new Semaphore(0);
    const left = upTo(3000).map((i) => semaphore.acquireAsync(1 + (i % 3)));
    semaphore.cancelAll();
    const log: number[] = [];
    const settled = Promise.allSettled(left);
    const later = upTo(10).map((i) => watch(semaphore.acquireAsync(), i, log));
    expect(new Set(names(await settled))).toEqual(new Set(['CancelledError']));
    semaphore.release(10);
    await reactions();
    expect(log).toEqual(later.map(({ label }) => label));
    expect([semaphore.available, semaphore.waiting]).toEqual([0, 0]);
  });

  it('does nothing once it is disposed of', () => {
    const semaphore = new Semaphore(0);
    semaphore.dispose();
    expect(() => semaphore.cancelAll()).not.toThrow();
  });
});

describe('cancelAll of a mutex', () => {
  it('lets the head and those behind it leave, and the owner stays the owner', async () => {
    const mutex = new Mutex();
    const { handle } = mutex;
    for (const order of [0, 1, 2]) {
      mutex.lock();
      const calls: Promise<unknown>[] = [];
      const begin = [
        () => (crowd[0] as Member).run('call', { handle, method: 'lock' }),
        () => (crowd[1] as Member).run('call', { handle, method: 'lockAsync' }),
        () => mutex.lockAsync(),
      ];
      for (let i = 0; i < 3; i++) {
        const call = (begin[(order + i) % 3] as () => Promise<unknown>)();
        call.catch(() => {});
        calls.push(call);
        await until(() => mutex.waiting === i + 1, 'it waits');
      }
      if (order === 1) await (crowd[2] as Member).run('call', { handle, method: 'cancelAll' });
      else mutex.cancelAll(new Error('enough'));
      expect(names(await Promise.allSettled(calls))).toEqual(['CancelledError', 'CancelledError', 'CancelledError']);
      expect([mutex.held, mutex.waiting]).toEqual([true, 0]);
      mutex.unlock();
      expect(mutex.tryLock()).toBe(true);
      mutex.unlock();
    }
  });

  it('gives the reason to the promises of this thread', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const waits = [mutex.lockAsync(), mutex.lockAsync(), mutex.lockAsync({ timeout: 600_000 })];
    const causes = Promise.all(waits.map((promise) => failure(() => promise)));
    mutex.cancelAll('enough');
    expect((await causes).map(({ cause }) => cause)).toEqual(['enough', 'enough', 'enough']);
    const later = watch(mutex.lockAsync(), 0);
    mutex.unlock();
    await reactions();
    expect([later.state, mutex.held]).toEqual(['fulfilled', true]);
    mutex.unlock();
  });

  it('lets a thread with a time-out leave, and its next request is not touched', async () => {
    const mutex = new Mutex();
    const { handle } = mutex;
    mutex.lock();
    for (const args of [[], [{ timeout: 600_000 }]]) {
      const call = (crowd[0] as Member).run('call', { handle, method: 'lock', args });
      await until(() => mutex.waiting === 1, 'it waits');
      mutex.cancelAll();
      expect((await failure(() => call)).name).toBe('CancelledError');
    }
    const next = (crowd[0] as Member).run('mutex-lock-once', { handle });
    await until(() => mutex.waiting === 1, 'it waits');
    mutex.unlock();
    expect(await next).toBe(true);
  });
});

describe('waitForUnlock', () => {
  it('returns at once if the lock is free, and does not keep it', async () => {
    const mutex = new Mutex();
    mutex.waitForUnlock();
    mutex.waitForUnlock({ timeout: 0 });
    const promise = mutex.waitForUnlockAsync();
    expect(mutex.held).toBe(false);
    await promise;
    expect(mutex.inspect()).toMatchObject({ locked: false, waiting: 0, ownerDeaths: 0 });
  });

  it('waits for the owner, in turn, and lets those behind it go on', async () => {
    const mutex = new Mutex();
    const { handle } = mutex;
    mutex.lock();
    const log: number[] = [];
    const first = watch((crowd[0] as Member).run('call', { handle, method: 'waitForUnlock' }), 0, log);
    await until(() => mutex.waiting === 1, 'it waits');
    const mine = watch(mutex.waitForUnlockAsync(), 1, log);
    const locks = watch(mutex.lockAsync(), 2, log);
    expect([first.state, mine.state, locks.state, mutex.waiting]).toEqual(['pending', 'pending', 'pending', 3]);
    mutex.unlock();
    await until(() => locks.state === 'fulfilled', 'the last has the lock');
    expect([mine.state, mutex.held, log.indexOf(1) < log.indexOf(2)]).toEqual(['fulfilled', true, true]);
    await until(() => first.state === 'fulfilled', 'the first goes on');
    mutex.unlock();
  });

  it('is an error for the owner itself, and for a thread with a waiting promise', async () => {
    const mutex = new Mutex();
    mutex.lock();
    expect(() => mutex.waitForUnlock()).toThrow(
      'Mutex.waitForUnlock: this thread has the Mutex, and would wait for itself: code that has it must unlock first',
    );
    expect(() => mutex.waitForUnlock({ timeout: -1 })).toThrow(/Mutex.waitForUnlock: timeout/);
    const call = (crowd[0] as Member).run('mutex-hold', { handle: mutex.handle, told: undefined });
    await until(() => mutex.waiting === 1, 'it waits');
    mutex.unlock();
    await call;
    const waits = mutex.waitForUnlockAsync({ timeout: 600_000 });
    expect(() => mutex.waitForUnlock()).toThrow(
      /waits for the Mutex, so this thread would wait for itself: await waitForUnlockAsync\(\)$/,
    );
    mutex.cancelAll();
    expect(await failure(() => waits)).toBeInstanceOf(CancelledError);
    expect((await failure(() => mutex.waitForUnlockAsync({ timeout: 1 }))).name).toBe('TimeoutError');
    expect((await failure(() => mutex.waitForUnlockAsync({ timeout: -1 }))).message).toMatch(
      /^Mutex.waitForUnlockAsync: /,
    );
    mutex.dispose();
  });

  it('neither reports nor swallows the death of an owner', async () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    const told: number[] = [];
    mutex.onOwnerDied = (deaths) => told.push(deaths);
    const owner = recruit(arena);
    await owner.run('mutex-hold', { handle: mutex.handle });
    const waits = mutex.waitForUnlockAsync();
    await end(owner, 'terminate');
    await waits;
    mutex.waitForUnlock();
    await mutex.waitForUnlockAsync({ timeout: 0 });
    expect([told, mutex.inspect().ownerDeaths]).toEqual([[], 1]);
    mutex.lock();
    expect(told).toEqual([1]);
    mutex.unlock();
  });

  it('of many promises goes on one by one', async () => {
    const mutex = new Mutex();
    mutex.lock();
    const log: number[] = [];
    const all = upTo(5000).map((i) => mutex.waitForUnlockAsync().then(() => log.push(i)));
    mutex.unlock();
    await Promise.all(all);
    expect(log).toEqual(upTo(5000));
    expect(mutex.inspect()).toMatchObject({ locked: false, waiting: 0 });
  });
});
