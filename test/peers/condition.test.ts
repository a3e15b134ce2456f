/**
 * What others check of a condition, as far as `Condition` promises the same: the cases of conditions in
 * ReentrantLockTest of JSR-166's TCK, cond_test.go of Go (sync), tst-cond1 to 25 of glibc (nptl), ConditionTests of
 * CPython (Lib/test/lock_tests.py), and src/condvar.rs of parking_lot. Each test names the case that it follows.
 *
 * Others refuse a notification by a thread that does not own the mutex, which is allowed here. A blocked thread cannot
 * be interrupted: where the others do that, it dies, or a promise is aborted.
 */
import { Arena, Mutex } from 'taketurns';
import { Condition } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { callers } from '../support/callers.js';
import { isSettled, watch } from '../support/settled.js';
import { Member } from '../support/team.js';
import { turn, until } from '../support/until.js';

const THREADS = 5;
const { members, run } = callers(THREADS);
/** For what never happens. */
const timeout = 60_000;

const numbers = (count: number) => new Int32Array(new SharedArrayBuffer(4 * count));

function make(): { mutex: Mutex; condition: Condition } {
  const mutex = new Mutex();
  return { mutex, condition: new Condition(mutex) };
}

/** Waits once, and answers what the wait did. */
const WAITS = 'object.mutex.lock(); const told = object.wait(); object.mutex.unlock(); return told;';

/** Has threads run the same, one after the other, so that they wait in their order. */
async function inOrder<T>(condition: Condition, count: number, code = WAITS, words?: Int32Array) {
  const all: Promise<T>[] = [];
  for (let thread = 0; thread < count; thread++) {
    all.push(run<T>(thread, condition, code, words));
    await until(() => condition.waiting === thread + 1, 'it waits');
  }
  return all;
}

describe('ReentrantLockTest', () => {
  it('testAwait_IMSE, test_unacquired_wait: who does not own the mutex may not wait', async () => {
    const { mutex, condition } = make();
    const message = /^Condition\.\w+: this thread is not the owner of the Mutex, so lock it first$/;
    expect(() => condition.wait()).toThrow(message);
    expect(() => condition.waitFor(() => true)).toThrow(message);
    await expect(condition.waitAsync()).rejects.toThrow(message);
    await expect(condition.waitForAsync(() => true)).rejects.toThrow(message);
    const owner = run(0, condition, 'await object.mutex.lockAsync()');
    await owner;
    expect(() => condition.wait({ timeout: 0 }), 'while another owns it').toThrow(message);
    await run(0, condition, 'object.mutex.unlock()');
    expect([mutex.locked, condition.waiting, condition.inspect().timeouts]).toEqual([false, 0, 0]);
  });

  it('testSignal_IMSE, testSignalAll_IMSE: to notify without the mutex is allowed, with nobody and with others there', async () => {
    const { mutex, condition } = make();
    expect([condition.notify(), condition.notifyAll()]).toEqual([0, 0]);
    const waits = await inOrder(condition, 2);
    expect([mutex.held, condition.notify(), condition.notifyAll()]).toEqual([false, 1, 1]);
    expect(await Promise.all(waits)).toEqual([true, true]);
  });

  it('testAwaitNanos_Timeout, testAwait_Timeout, tst-cond5: without a notification the answer is false, as the owner', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    for (const limit of [0, 5]) expect([condition.wait({ timeout: limit }), mutex.held]).toEqual([false, true]);
    for (const limit of [0, 5])
      expect([await condition.waitAsync({ timeout: limit }), mutex.held]).toEqual([false, true]);
    mutex.unlock();
  });

  it('testSignalWakesFifo: the one that waits first is notified first', async () => {
    const { condition } = make();
    const [first, second] = (await inOrder(condition, 2)) as [Promise<unknown>, Promise<unknown>];
    const late = watch(second, 'second');
    condition.notify();
    expect(await first).toBe(true);
    expect([late.state, condition.waiting]).toEqual(['pending', 1]);
    condition.notify();
    expect(await second).toBe(true);
  });

  it('testHasWaiters, testGetWaitQueueLength, testGetWaitingThreads: who waits is told, in order', async () => {
    const { mutex, condition } = make();
    expect(condition.inspect()).toEqual({ waiting: 0, longestWait: 0, timeouts: 0, waiters: [] });
    const waits = await inOrder(condition, 2);
    await mutex.lockAsync();
    const mine = condition.waitAsync();
    const { waiting, waiters } = condition.inspect();
    const threads = members.slice(0, 2).map(({ worker }) => worker.threadId);
    expect([waiting, condition.waiting]).toEqual([3, 3]);
    expect(waiters.map(({ threadId }) => threadId).slice(0, 2)).toEqual(threads);
    expect(waiters.map(({ blocked }) => blocked)).toEqual([true, true, false]);
    expect(condition.notifyAll()).toBe(3);
    await mine;
    mutex.unlock();
    await Promise.all(waits);
    expect([condition.waiting, condition.inspect().waiters]).toEqual([0, []]);
  });

  it('testInterruptible: one that is aborted is the owner when it hears of that, and the next is notified', async () => {
    const { mutex, condition } = make();
    const abort = new AbortController();
    await mutex.lockAsync();
    const aborted = condition.waitAsync({ signal: abort.signal }).catch((error: Error) => {
      const told = [error.message, mutex.held];
      mutex.unlock();
      return told;
    });
    const next = run(0, condition, WAITS);
    await until(() => condition.waiting === 2, 'both wait');
    abort.abort(new Error('interrupted'));
    expect(await aborted).toEqual(['interrupted', true]);
    expect([condition.waiting, condition.notify()]).toEqual([1, 1]);
    expect(await next).toBe(true);
  });

  it('testAwaitUninterruptibly, and an interrupt after the signal: who has been notified is not aborted', async () => {
    const { mutex, condition } = make();
    const abort = new AbortController();
    await mutex.lockAsync();
    const wait = condition.waitAsync({ signal: abort.signal });
    expect(condition.notify()).toBe(1);
    abort.abort();
    expect([await wait, mutex.held]).toEqual([true, true]);
    mutex.unlock();
  });
});

describe('cond_test.go', () => {
  it('TestCondSignal: each signal has one go on, and one too many none', async () => {
    const { condition } = make();
    const waits = (await inOrder(condition, THREADS)).map((wait, i) => watch(wait, i));
    for (let awake = 1; awake <= THREADS; awake++) {
      expect(condition.notify()).toBe(1);
      await until(() => waits.filter(({ state }) => state === 'fulfilled').length === awake, 'one goes on');
      expect(condition.waiting).toBe(THREADS - awake);
    }
    expect(condition.notify()).toBe(0);
  });

  it('TestCondSignalGenerations: of those that wait and those that come later the eldest goes on', async () => {
    const { condition, mutex } = make();
    const log: number[] = [];
    const waits = [];
    for (let i = 0; i < 50; i++) {
      await mutex.lockAsync();
      waits.push(
        watch(
          condition.waitAsync().then(() => mutex.unlock()),
          i,
          log,
        ),
      );
      if (i > 0) {
        await until(() => log.length === i, 'the one before has gone on');
        expect(log.at(-1)).toBe(i - 1);
      }
      await mutex.lockAsync();
      expect(condition.notify()).toBe(1);
      mutex.unlock();
    }
    await until(() => log.length === 50, 'all have gone on');
  });

  it('TestCondBroadcast: all go on, round after round', async () => {
    const { mutex, condition } = make();
    const words = numbers(1);
    const code = `object.mutex.lock(); while (words[0] === 0) object.wait(); object.mutex.unlock();`;
    const again = `let waits = 0; object.mutex.lock(); while (words[0] === 0) { object.wait(); waits++; }
      object.mutex.unlock(); return waits;`;
    const all = [
      run<number>(0, condition, again, words),
      run<number>(1, condition, again, words),
      run(2, condition, code, words),
    ];
    for (let round = 0; round < 20; round++) {
      await until(() => condition.waiting === 3, 'all wait');
      expect(condition.notifyAll()).toBe(3);
    }
    await until(() => condition.waiting === 3, 'all wait again');
    await mutex.lockAsync();
    words[0] = 1;
    condition.notifyAll();
    mutex.unlock();
    expect(await Promise.all(all)).toEqual([21, 21, undefined]);
  });

  it('TestRace: three threads hand a number on', async () => {
    const { condition } = make();
    const words = numbers(1);
    const first = `object.mutex.lock(); words[0] = 1; object.wait(); const x = words[0]; words[0] = 3; object.notify();
      object.mutex.unlock(); return x;`;
    const second = `object.mutex.lock(); while (words[0] !== 1) { object.mutex.unlock(); object.mutex.lock(); }
      words[0] = 2; object.notify(); object.mutex.unlock();`;
    const third = `object.mutex.lock(); for (;;) { if (words[0] === 2) object.wait(); if (words[0] === 3) break;
      object.mutex.unlock(); object.mutex.lock(); } object.mutex.unlock(); return words[0];`;
    const all = [run(0, condition, first, words)];
    await until(() => condition.waiting === 1, 'the first waits');
    // The third may wait when the second notifies. The first has waited for longer.
    all.push(run(2, condition, third, words), run(1, condition, second, words));
    expect(await Promise.all(all)).toEqual([2, 3, undefined]);
  });

  it('TestCondSignalStealing: one that comes later does not take the notification of one that waits', async () => {
    const { mutex, condition } = make();
    const words = numbers(1);
    for (let i = 0; i < 100; i++) {
      const first = run(0, condition, WAITS);
      await until(() => condition.waiting === 1, 'the first waits');
      words[0] = 0;
      const broadcast = run(1, condition, 'object.notifyAll()');
      const later = run(
        2,
        condition,
        'object.mutex.lock(); while (words[0] === 0) object.wait(); object.mutex.unlock();',
        words,
      );
      expect(await first).toBe(true);
      await broadcast;
      await mutex.lockAsync();
      words[0] = 1;
      mutex.unlock();
      condition.notifyAll();
      await later;
    }
  });
});

describe('tst-cond of glibc', () => {
  it('tst-cond1, tst-cond2: the mutex is free while all wait, and who is notified waits for it', async () => {
    const { mutex, condition } = make();
    const waits = await inOrder(condition, THREADS);
    expect(mutex.tryLock(), 'it is free').toBe(true);
    expect(condition.notifyAll()).toBe(THREADS);
    await turn();
    expect(mutex.held).toBe(true);
    mutex.unlock();
    expect(await Promise.all(waits)).toEqual([true, true, true, true, true]);
  });

  it('tst-cond7, tst-cond8, tst-cond21: those that die as they wait leave nothing, and the mutex is free', async () => {
    const { mutex, condition } = make();
    for (const time of ['', '{ timeout: 60000 }']) {
      const doomed = new Member();
      Arena.default.watch(doomed.worker);
      const wait = doomed.run('script', {
        handle: condition.handle,
        code: `object.mutex.lock(); object.wait(${time})`,
      });
      wait.catch(() => {});
      await until(() => condition.waiting === 1, 'it waits');
      await doomed.kill();
      await until(() => condition.waiting === 0, 'it has left');
      expect([condition.notifyAll(), mutex.tryLock()]).toEqual([0, true]);
      mutex.unlock();
    }
  });

  it('tst-cond9: a mutex that another owns is not unlocked by a wait', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    const error = await run(0, condition, 'try { object.wait() } catch (error) { return error.message }');
    expect(error).toMatch(/not the owner/);
    expect(mutex.held).toBe(true);
    mutex.unlock();
  });

  it('tst-cond10: rounds in which all wait and one notifies all', async () => {
    const { mutex, condition } = make();
    for (let round = 0; round < 10; round++) {
      const waits = await inOrder(condition, THREADS);
      mutex.lock();
      condition.notifyAll();
      mutex.unlock();
      expect(await Promise.all(waits)).toEqual([true, true, true, true, true]);
    }
  });

  it('tst-cond11, tst-cond19: a bad time is refused, and the mutex stays locked', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    for (const bad of [-1, Number.NaN, '5']) {
      expect(() => condition.wait({ timeout: bad as number })).toThrow(/timeout/);
      await expect(condition.waitAsync({ timeout: bad as number })).rejects.toThrow(/timeout/);
    }
    expect([mutex.held, condition.waiting]).toEqual([true, 0]);
    mutex.unlock();
  });

  it('tst-cond16, tst-cond18: threads that wait with and without a time, and others that notify one and all', async () => {
    const { condition } = make();
    const words = numbers(2);
    const waits = `let told = 0; for (let i = 0; i < 200; i++) { object.mutex.lock();
      if (object.wait(i % 3 ? { timeout: 0.05 * (i % 7) } : { timeout: 60000 })) told++; object.mutex.unlock(); }
      Atomics.add(words, 0, 1); return told;`;
    const notifies =
      'let n = 0; while (Atomics.load(words, 0) < 3) n += Math.random() < 0.5 ? object.notify() : object.notifyAll(); return n;';
    const all = [0, 1, 2].map((thread) => run<number>(thread, condition, waits, words));
    const told = run<number>(3, condition, notifies, words);
    const answered = (await Promise.all(all)).reduce((sum, each) => sum + each, 0);
    // One that gives up as it is notified may count.
    expect(await told).toBeGreaterThanOrEqual(answered);
    expect([condition.waiting, condition.mutex.locked]).toEqual([0, false]);
  });

  it('tst-cond20: one may be disposed of as soon as all have been notified', async () => {
    const mutex = new Mutex();
    for (let round = 0; round < 10; round++) {
      const condition = new Condition(mutex);
      const waits = await inOrder(condition, THREADS);
      mutex.lock();
      condition.notifyAll();
      condition.dispose();
      mutex.unlock();
      expect(await Promise.all(waits)).toEqual([true, true, true, true, true]);
    }
  });

  it('tst-cond22: one that is cancelled after it was notified takes no notification of another', async () => {
    const { mutex, condition } = make();
    const doomed = new Member();
    Arena.default.watch(doomed.worker);
    doomed.run('script', { handle: condition.handle, code: WAITS }).catch(() => {});
    await until(() => condition.waiting === 1, 'it waits');
    const next = run(0, condition, WAITS);
    await until(() => condition.waiting === 2, 'both wait');
    mutex.lock();
    expect(condition.notify()).toBe(1);
    await doomed.kill();
    mutex.unlock();
    // The dead one was notified, and had the lock at most: then its death is told. The next is notified at the latest by this.
    condition.notify();
    expect(await next).toBe(true);
    expect([condition.waiting, condition.notify()]).toEqual([0, 0]);
  });

  it('tst-robust: the death of an owner is told to one that waits on the condition', async () => {
    const { condition } = make();
    const code = `let deaths = 0; object.mutex.onOwnerDied = (died) => { deaths += died; };
      object.mutex.lock(); const told = object.wait(); object.mutex.unlock(); return [told, deaths];`;
    const wait = run(0, condition, code);
    await until(() => condition.waiting === 1, 'it waits');
    const owner = new Member();
    Arena.default.watch(owner.worker);
    await owner.run('script', { handle: condition.handle, code: 'object.mutex.lock(); object.notify();' });
    await owner.kill();
    expect(await wait).toEqual([true, 1]);
  });
});

describe('ConditionTests', () => {
  it('test_notify: as many go on as are notified, and those that wait again are behind the others', async () => {
    const { mutex, condition } = make();
    const words = numbers(2);
    const code = `object.mutex.lock(); object.wait(); words[0]++; object.wait(); words[1]++; object.mutex.unlock();`;
    const waits = await inOrder(condition, THREADS, code, words);
    const notified = async (count: number, expected: number, first: number, second: number) => {
      mutex.lock();
      expect(condition.notify(count)).toBe(expected);
      mutex.unlock();
      await until(() => words[0] === first && words[1] === second, 'they have gone on');
    };
    await notified(3, 3, 3, 0);
    await until(() => condition.waiting === 5, 'they wait again');
    await notified(5, 5, 5, 3);
    await until(() => condition.waiting === 2, 'they wait again');
    await notified(5, 2, 5, 5);
    await Promise.all(waits);
  });

  it('test_notify_all, test_timeout: the answers of many', async () => {
    const { condition } = make();
    const waits = await inOrder(condition, THREADS);
    expect(condition.notifyAll()).toBe(THREADS);
    expect(await Promise.all(waits)).toEqual([true, true, true, true, true]);
    const code = 'object.mutex.lock(); const told = object.wait({ timeout: 5 }); object.mutex.unlock(); return told;';
    const late = await Promise.all([0, 1, 2, 3, 4].map((thread) => run(thread, condition, code)));
    expect(late).toEqual([false, false, false, false, false]);
  });

  it('test_waitfor, test_waitfor_timeout: until the state is 4, or the time has passed', async () => {
    const { mutex, condition } = make();
    const words = numbers(1);
    const waits = (limit: number) =>
      `object.mutex.lock(); const told = object.waitFor(() => words[0] === 4, { timeout: ${limit} });
      const state = words[0]; object.mutex.unlock(); return [told, state];`;
    const done = run(0, condition, waits(timeout), words);
    for (let state = 1; state <= 4; state++) {
      await until(() => condition.waiting === 1, 'it waits');
      await mutex.lockAsync();
      words[0] = state;
      condition.notify();
      mutex.unlock();
    }
    expect(await done).toEqual([true, 4]);
    words[0] = 1;
    expect(await run(0, condition, waits(10), words)).toEqual([false, 1]);
  });
});

describe('condvar.rs of parking_lot', () => {
  it('notify_one_return_true, notify_one_return_false, notify_all_return: how many were notified', async () => {
    const { condition } = make();
    expect([condition.notify(), condition.notifyAll()]).toEqual([0, 0]);
    const waits = await inOrder(condition, THREADS);
    expect([condition.notify(), condition.notifyAll(), condition.notifyAll(), condition.notify()]).toEqual([
      1, 4, 0, 0,
    ]);
    await Promise.all(waits);
  });

  it('wait_while_until_internal_does_not_wait_if_initially_false: what holds already is not waited for', async () => {
    const { mutex, condition } = make();
    let asked = 0;
    mutex.lock();
    expect(condition.waitFor(() => ++asked > 0, { timeout: 0 })).toBe(true);
    expect(await condition.waitForAsync(() => ++asked > 0, { timeout: 0 })).toBe(true);
    expect([asked, mutex.held, condition.inspect().timeouts]).toEqual([2, true, 0]);
    mutex.unlock();
  });

  it('two_mutexes: one is of one mutex only', () => {
    const { condition } = make();
    const named = Condition.open('two_mutexes', condition.mutex);
    expect(() => Condition.open('two_mutexes', new Mutex())).toThrow(/is one of another mutex/);
    expect(() => Condition.from({ ...condition.handle, mutex: new Mutex().handle })).toThrow(/its mutex is not that/);
    named.dispose();
  });

  it('test_condvar_requeue: of those that are notified at once one has the mutex at a time', async () => {
    const { mutex, condition } = make();
    const words = numbers(2);
    const code = `object.mutex.lock(); object.wait(); if (Atomics.add(words, 0, 1) !== 0) words[1]++;
      Atomics.wait(words, 0, 0, 1); Atomics.sub(words, 0, 1); object.mutex.unlock();`;
    const waits = await inOrder(condition, THREADS, code, words);
    mutex.lock();
    condition.notifyAll();
    expect(await isSettled(Promise.race(waits)), 'nobody goes on before the mutex is unlocked').toBe(false);
    mutex.unlock();
    await Promise.all(waits);
    expect([...words]).toEqual([0, 0]);
  });

  it.each([
    [1, 1, 1],
    [1, 4, 1],
    [4, 1, 1],
    [2, 3, 4],
  ])(
    'webkit_queue_test: %i producers and %i consumers of a queue of %i places',
    async (producers, consumers, places) => {
      const mutex = new Mutex();
      const [notEmpty, notFull] = [new Condition(mutex), new Condition(mutex)];
      const items = 600;
      // The words: how many are in the queue, how many have been taken, how many more than fit were ever seen.
      const words = numbers(3);
      const put = `for (let i = 0; i < ${items / producers}; i++) { object.mutex.lock();
      kept.full.waitFor(() => words[0] < ${places}); words[0]++; if (words[0] > ${places}) words[2]++;
      object.mutex.unlock(); object.notify(); }`;
      const take = `for (;;) { object.mutex.lock(); object.waitFor(() => words[0] > 0 || words[1] === ${items});
      const over = words[1] === ${items}; if (!over) { words[0]--; if (words[0] < 0) words[2]++; words[1]++; }
      const last = words[1] === ${items}; object.mutex.unlock();
      if (last) object.notifyAll(); if (over) return; kept.full.notify(); }`;
      const all = [];
      for (let thread = 0; thread < producers + consumers; thread++) {
        await run(thread, notFull, 'kept.full = object');
        all.push(run(thread, notEmpty, thread < producers ? put : take, words));
      }
      await Promise.all(all);
      expect([...words]).toEqual([0, items, 0]);
      expect([notEmpty.waiting, notFull.waiting, mutex.locked]).toEqual([0, 0, false]);
    },
  );
});
