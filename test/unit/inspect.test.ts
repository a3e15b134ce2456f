/** What an arena, a semaphore and a mutex report about themselves in `stats` and `inspect`. */
import { threadId } from 'node:worker_threads';
import fc from 'fast-check';
import { Arena, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import {
  ChainSemaphore,
  ChannelSemaphore,
  LocationSemaphore,
  TicketSemaphore,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { KeyedMutex, KeyedSemaphore } from 'taketurns/keyed';
import { report } from 'taketurns/report';
import { Condition, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { roundsInCi } from '../support/rounds.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { until } from '../support/until.js';

const crowd = team(2);
const [member, other] = [() => crowd[0] as Member, () => crowd[1] as Member];
const block = (thread: Member, { handle }: Semaphore, permits: number) =>
  thread.run('enter', { handle, permits: [permits] });

describe('inspect', () => {
  it('is a plain object, which describes a fresh semaphore', () => {
    const semaphore = new Semaphore(3, { max: 5, arena: new Arena() });
    expect(semaphore.inspect()).toStrictEqual({
      permits: 3,
      added: 0,
      max: 5,
      available: 3,
      out: 0,
      waiting: 0,
      widest: 0,
      longestWait: 0,
      cancelled: 0,
      timeouts: 0,
      robust: false,
      ownerDeaths: 0,
      waiters: [],
      holders: [],
    });
  });

  it('counts the permits that are out, and goes below 0 when permits were made', () => {
    const semaphore = new Semaphore(3, { arena: new Arena(), max: 4 });
    semaphore.acquire(2);
    expect(semaphore.inspect()).toMatchObject({ out: 2, available: 1 });
    semaphore.release(3);
    expect(semaphore.inspect()).toMatchObject({ out: -1, available: 4 });
  });

  it('counts blocked threads and promises, and reports the longest wait', async () => {
    const semaphore = new Semaphore(1, { arena: new Arena(), max: 4 });
    semaphore.acquire();
    const blocked = block(member(), semaphore, 2);
    await until(
      () => semaphore.inspect().waiting === 1 && semaphore.inspect().longestWait >= 20,
      'the diagnostics say so',
    );
    const promises = [semaphore.acquireAsync(), semaphore.acquireAsync()];
    expect(semaphore.inspect()).toMatchObject({ waiting: 3, out: 1, available: 0 });
    semaphore.release(4);
    await Promise.all([blocked, ...promises]);
    expect(semaphore.inspect()).toMatchObject({ waiting: 0, longestWait: 0, out: 1 });
  });

  it('counts time-outs and aborts, and tickets cancelled in the middle of the queue', async () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    expect(() => semaphore.acquire(1, { timeout: 1 })).toThrow(TimeoutError);
    expect(semaphore.inspect()).toMatchObject({ timeouts: 1, cancelled: 0 });
    const first = semaphore.acquireAsync();
    const controller = new AbortController();
    const given = semaphore.acquireAsync(4, { signal: controller.signal });
    const last = semaphore.acquireAsync();
    controller.abort();
    await expect(given).rejects.toThrow();
    expect(semaphore.inspect()).toMatchObject({ timeouts: 2, cancelled: 4, waiting: 2, out: 0 });
    semaphore.release(2);
    await Promise.all([first, last]);
    expect(semaphore.inspect()).toMatchObject({ cancelled: 0, waiting: 0, out: 0 });
  });

  it('names the threads that hold permits of a robust semaphore', () => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { robust: true, arena });
    semaphore.acquire(2);
    const { thread } = arena.thread;
    expect(semaphore.inspect()).toMatchObject({ robust: true, out: 2, holders: [{ thread, threadId, permits: 2 }] });
    semaphore.release(2);
    expect(semaphore.inspect().holders).toEqual([]);
  });

  it('shows the widest of the waiting requests', async () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    const promises = [semaphore.acquireAsync(2), semaphore.acquireAsync(5), semaphore.acquireAsync(3)];
    expect(semaphore.inspect()).toMatchObject({ waiting: 3, widest: 5 });
    semaphore.release(7);
    expect(semaphore.inspect()).toMatchObject({ waiting: 1, widest: 3 });
    semaphore.release(3);
    expect(semaphore.inspect()).toMatchObject({ waiting: 0, widest: 0 });
    await Promise.all(promises);
  });

  it('counts who waits as `waiting` does, which the core counts, whatever promises come and go', async () => {
    const arena = new Arena({ waiters: 200 });
    const step = fc.oneof(
      fc.record({ permits: fc.integer({ min: 1, max: 3 }), given: fc.boolean() }),
      fc.record({ release: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ abort: fc.nat(30) }),
      fc.constant({ clear: true }),
    );
    const run = async (steps: readonly object[]) => {
      using semaphore = new Semaphore(1, { arena, max: 2 ** 31 - 1 });
      const beside = new Semaphore(0, { arena });
      const promises = [beside.acquireAsync(), beside.acquireAsync(3)];
      const controllers: AbortController[] = [];
      for (const step of steps) {
        if ('permits' in step) {
          const controller = new AbortController();
          const options = 'given' in step && step.given ? { signal: controller.signal } : {};
          promises.push(semaphore.acquireAsync(step.permits as number, options));
          controllers.push(controller);
        } else if ('release' in step) semaphore.release(step.release as number);
        else if ('abort' in step) controllers.splice(step.abort as number, 1)[0]?.abort();
        else semaphore.cancelAll();
        expect([semaphore.waiting, beside.waiting]).toEqual([semaphore.inspect().waiting, 2]);
      }
      beside.dispose();
      semaphore.dispose();
      expect(semaphore.waiting).toBe(0);
      await Promise.allSettled(promises);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), run), { numRuns: roundsInCi(200, 60) });
  });

  it('counts who waits as `waiting` does, also those that are due and asleep, granted in part or notified', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const counts = () => [semaphore.waiting, semaphore.inspect().waiting];
    const entries = [block(member(), semaphore, 3)];
    await until(() => semaphore.inspect().waiters[0]?.blocked === true, 'a thread sleeps');
    entries.push(semaphore.acquireAsync(), semaphore.acquireAsync(), semaphore.acquireAsync(2));
    expect(counts()).toEqual([4, 4]);
    semaphore.release(2);
    expect(counts()).toEqual([4, 4]);
    // So far has another thread come that has released, and not yet woken anybody.
    const { memory } = arena.handle as unknown as { memory: WebAssembly.Memory };
    const grant = (semaphore.handle.address + at('GRANT')) >> 3;
    for (const waiting of [3, 2, 1, 1, 0]) {
      Atomics.add(new BigInt64Array(memory.buffer), grant, 1n);
      expect(counts()).toEqual([waiting, waiting]);
    }
    Atomics.sub(new BigInt64Array(memory.buffer), grant, 5n);
    semaphore.release(5);
    expect(counts()).toEqual([0, 0]);
    await Promise.all(entries);

    const mutex = new Mutex({ arena });
    const condition = new Condition(mutex);
    mutex.lock();
    const wait = condition.waitAsync();
    expect([condition.waiting, condition.inspect().waiting]).toEqual([1, 1]);
    condition.notify();
    expect([condition.waiting, condition.inspect().waiting]).toEqual([0, 0]);
    await wait;
    mutex.unlock();
  });

  it('and the stats of the arena count more waiters than a call can have arguments', async () => {
    const arena = new Arena({ waiters: 1 << 18 });
    const semaphore = new Semaphore(0, { arena });
    const { signal } = new AbortController();
    // Each of these may be cancelled, and so has an element of its own.
    const promises = Array.from({ length: 1 << 17 }, () => semaphore.acquireAsync(2, { signal }));
    expect(semaphore.inspect()).toMatchObject({ waiting: 1 << 17, widest: 2, out: 0 });
    expect(arena.stats()).toMatchObject({ waiting: 1 << 17, threads: [{ waiting: 1 << 17, blocked: false }] });
    semaphore.dispose();
    const ends = await Promise.allSettled(promises);
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('lists those who wait in the order of the queue, runs of promises as one', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const { thread } = arena.thread;
    const own = { thread, threadId, blocked: false };
    const waits: Promise<unknown>[] = [semaphore.acquireAsync(), semaphore.acquireAsync()];
    waits.push(block(member(), semaphore, 2));
    await until(() => (semaphore.inspect().waiters[1]?.waited ?? 0) >= 5, 'the diagnostics say so');
    // These take elements that lie before those in use.
    semaphore.release();
    waits.push(semaphore.acquireAsync(3), semaphore.acquireAsync(2));
    const theirs = { thread: expect.any(Number), threadId: member().worker.threadId, blocked: true };
    expect(semaphore.inspect().waiters).toStrictEqual([
      { ...own, requests: 1, permits: 1, waited: expect.any(Number) },
      { ...theirs, requests: 1, permits: 2, waited: expect.any(Number) },
      { ...own, requests: 1, permits: 3, waited: expect.any(Number) },
      { ...own, requests: 1, permits: 2, waited: expect.any(Number) },
    ]);
    waits.push(semaphore.acquireAsync(2));
    expect(semaphore.inspect().waiters[3]).toMatchObject({ requests: 2, permits: 2 });
    semaphore.release(10);
    await Promise.all(waits);
    expect(semaphore.inspect().waiters).toEqual([]);
  });

  it('tells how long each promise has waited, wherever it stands in the queue', async () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    const { signal } = new AbortController();
    const widths = [1, 1, 2, 1, 3, 1];
    const early = widths.map((permits, i) => semaphore.acquireAsync(permits, i % 2 ? { signal } : undefined));
    const since = performance.now();
    await until(() => performance.now() - since >= 30, 'they have waited');
    const late = semaphore.acquireAsync(4);
    const { waiters, longestWait } = semaphore.inspect();
    const waits = waiters.map(({ waited }) => waited);
    expect(Math.min(...waits.slice(0, -1))).toBeGreaterThanOrEqual(29);
    expect(longestWait).toBe(Math.max(...waits));
    expect(waits.at(-1)).toBeLessThan(waits[0] as number);
    semaphore.dispose();
    await Promise.allSettled([...early, late]);
  });

  it('tells how long the rest of a run has waited whose first promises are settled', async () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    const first = semaphore.acquireAsync();
    const since = performance.now();
    await until(() => performance.now() - since >= 30, 'it has waited');
    const second = semaphore.acquireAsync();
    expect(semaphore.inspect()).toMatchObject({ waiters: [{ requests: 2 }] });
    expect(semaphore.inspect().longestWait).toBeGreaterThanOrEqual(29);
    const before = semaphore.inspect().longestWait;
    semaphore.release();
    await first;
    expect(semaphore.inspect()).toMatchObject({ waiters: [{ requests: 1 }] });
    expect(semaphore.inspect().longestWait).toBeLessThan(before);
    semaphore.release();
    await second;
  });

  it('tells how long the head of a mutex has waited, when the thread has given the lock to its own promise', async () => {
    const mutex = new Mutex({ arena: new Arena() });
    mutex.lock();
    const first = mutex.lockAsync();
    const since = performance.now();
    await until(() => performance.now() - since >= 30, 'it has waited');
    const second = mutex.lockAsync();
    const third = mutex.lockAsync();
    const before = mutex.inspect().longestWait;
    expect(before).toBeGreaterThanOrEqual(29);
    mutex.unlock();
    await first;
    expect(mutex.inspect().waiters).toHaveLength(2);
    expect(mutex.inspect().longestWait).toBeLessThan(before);
    mutex.unlock();
    await second;
    mutex.unlock();
    await third;
  });

  it('lists the first 100 of many, whatever elements they have', async () => {
    const semaphore = new Semaphore(0, { arena: new Arena() });
    const { signal } = new AbortController();
    const width = (i: number) => (i % 7) + 1;
    const request = (i: number) => semaphore.acquireAsync(width(i), { signal });
    const first = Array.from({ length: 300 }, (_, i) => request(i));
    semaphore.release(first.slice(0, 150).reduce((sum, _, i) => sum + width(i), 0));
    await Promise.all(first.slice(0, 150));
    // These take the elements that are free now, which lie before those of the rest.
    const later = Array.from({ length: 150 }, (_, i) => request(300 + i));
    const { waiters, waiting } = semaphore.inspect();
    expect(waiting).toBe(300);
    expect(waiters.map(({ permits }) => permits)).toEqual(Array.from({ length: 100 }, (_, i) => width(150 + i)));
    semaphore.dispose();
    await Promise.allSettled([...first, ...later]);
  });

  it('counts only waiters of its own semaphore', async () => {
    const arena = new Arena();
    const [one, two] = [new Semaphore(0, { arena }), new Semaphore(0, { arena })];
    const promise = one.acquireAsync();
    expect(two.inspect()).toMatchObject({ waiting: 0 });
    one.release();
    await promise;
  });

  it('throws after dispose', () => {
    const semaphore = new Semaphore(1, { arena: new Arena() });
    semaphore.dispose();
    expect(() => semaphore.inspect()).toThrow(DisposedError);
  });
});

describe('inspect of a mutex', () => {
  const fresh = {
    locked: false,
    owner: undefined,
    ownerThreadId: undefined,
    bypass: 100,
    waiting: 0,
    longestWait: 0,
    timeouts: 0,
    ownerDeaths: 0,
    waiters: [],
  };

  it('is a plain object, which names the owner', () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena, bypass: 100 });
    expect(mutex.inspect()).toStrictEqual(fresh);
    mutex.lock();
    const { thread } = arena.thread;
    expect(mutex.inspect()).toStrictEqual({ ...fresh, locked: true, owner: thread, ownerThreadId: threadId });
    expect(arena.stats().holders).toBe(1);
    mutex.unlock();
    expect(mutex.inspect()).toStrictEqual(fresh);
    expect(arena.stats().holders).toBe(0);
  });

  it('counts the waiters, with the head, threads and promises, and reports the longest wait', async () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    mutex.lock();
    const waits: Promise<unknown>[] = [];
    for (const [i, thread] of crowd.entries()) {
      waits.push(thread.run('mutex-lock-once', { handle: mutex.handle }));
      await until(
        () => mutex.inspect().waiting === i + 1 && mutex.inspect().longestWait >= 20 * (i + 1),
        'the diagnostics say so',
      );
    }
    const { threads, waiting, longestWait, holders } = arena.stats();
    expect([waiting, holders]).toEqual([2, 1]);
    expect(threads.map((thread) => thread.waiting).sort()).toEqual([0, 1, 1]);
    expect(longestWait).toBeGreaterThanOrEqual(40);
    const promise = mutex.lockAsync();
    expect(mutex.inspect().waiting).toBe(3);
    const { waiters } = mutex.inspect();
    const ids = [...crowd.map(({ worker }) => worker.threadId), threadId];
    expect(waiters.map((waiter) => waiter.threadId)).toEqual(ids);
    expect(waiters.map((waiter) => [waiter.requests, waiter.permits])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
    expect(waiters[0]).toMatchObject({ blocked: true, waited: expect.any(Number) });
    expect(waiters[0]?.waited).toBeGreaterThanOrEqual(20);
    expect(waiters[2]?.blocked).toBe(false);
    mutex.unlock();
    await Promise.all([...waits, promise]);
    mutex.unlock();
    expect(mutex.inspect()).toMatchObject({ waiting: 0, longestWait: 0, locked: false });
    expect(arena.stats()).toMatchObject({ waiting: 0, longestWait: 0, holders: 0 });
  });

  it('reports how long the head has waited, if it is a promise', async () => {
    const arena = new Arena();
    const mutex = new Mutex({ arena });
    mutex.lock();
    const promises = [mutex.lockAsync(), mutex.lockAsync()];
    await until(() => mutex.inspect().longestWait >= 15, 'the diagnostics say so');
    expect(arena.stats()).toMatchObject({ waiting: 2, threads: [{ waiting: 2, blocked: false }] });
    for (const promise of promises) {
      mutex.unlock();
      await promise;
    }
    mutex.unlock();
  });

  it('counts requests that were cancelled, as the head and in line', async () => {
    const mutex = new Mutex({ arena: new Arena() });
    mutex.lock();
    const late = [mutex.lockAsync({ timeout: 1 }), mutex.lockAsync({ timeout: 1 })];
    const controller = new AbortController();
    late.push(mutex.lockAsync({ signal: controller.signal }));
    await Promise.allSettled(late.slice(0, 2));
    expect(mutex.inspect().timeouts).toBe(2);
    controller.abort();
    await Promise.allSettled(late);
    expect(mutex.inspect()).toMatchObject({ timeouts: 3, waiting: 0 });
  });

  it('throws after dispose', () => {
    const mutex = new Mutex({ arena: new Arena() });
    mutex.dispose();
    expect(() => mutex.inspect()).toThrow(DisposedError);
  });
});

describe('stats', () => {
  it('names the threads, and says which are blocked and for how long', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const { thread } = arena.thread;
    expect(arena.stats().threads).toEqual([{ thread, threadId, blocked: false, waiting: 0, longestWait: 0 }]);
    const waits = [block(member(), semaphore, 1), block(other(), semaphore, 1)];
    await until(
      () => arena.stats().threads.filter(({ longestWait }) => longestWait >= 10).length === 2,
      'the diagnostics say so',
    );
    const { threads, waiting, longestWait } = arena.stats();
    const workers = threads.filter(({ blocked }) => blocked);
    expect(workers.map((worker) => worker.threadId).sort()).toEqual(crowd.map(({ worker }) => worker.threadId).sort());
    expect(waiting).toBe(2);
    expect(longestWait).toBe(Math.max(...threads.map((each) => each.longestWait)));
    const promise = semaphore.acquireAsync();
    expect(arena.stats().threads.find((each) => each.thread === thread)).toMatchObject({
      blocked: false,
      waiting: 1,
    });
    semaphore.release(3);
    await Promise.all([...waits, promise]);
    expect(arena.stats()).toMatchObject({ waiting: 0, longestWait: 0 });
  });

  it('counts elements and objects in use', () => {
    const arena = new Arena({ objects: 7, threads: 3, waiters: 11 });
    const before = arena.stats();
    expect(before.objects).toEqual({ used: 0, capacity: 7 });
    expect(before.elements.capacity).toBe(11 + 2 * 3 + 2 * 7);
    const semaphore = new Semaphore(0, { arena });
    // The attachment takes one element.
    expect(arena.stats()).toMatchObject({
      objects: { used: 1 },
      elements: { used: before.elements.used + 1 },
    });
    semaphore.dispose();
    expect(arena.stats()).toMatchObject({ objects: { used: 0 }, elements: { used: before.elements.used } });
  });

  it('counts waiters that came to a bucket where another stood', async () => {
    const arena = new Arena({ slots: 1, chains: 1 });
    const semaphore = new Semaphore(0, { arena });
    const blocked = (): number => arena.stats().threads.filter((thread) => thread.blocked).length;
    const first = block(member(), semaphore, 1);
    // Two threads that come at the same moment may each find the bucket empty.
    await until(() => blocked() === 1, 'the diagnostics say so');
    const waits = [first, block(other(), semaphore, 1)];
    await until(() => blocked() === 2, 'the diagnostics say so');
    await until(() => arena.stats().collisions === 1, 'the diagnostics say so');
    semaphore.release(2);
    await Promise.all(waits);
    expect(arena.stats().futileWakes).toBe(0);
  });

  it('counts waiters that were woken and are not due, for a Semaphore and where all sleep on one word', async () => {
    for (const make of [Semaphore, TicketSemaphore]) {
      const arena = new Arena();
      const semaphore = tuned(new make(0, { arena }), { spin: 0 });
      const memory = new Memory(arena);
      const words = new Int32Array(arena.handle.memory.buffer);
      const wait = member().run('enter', { handle: semaphore.handle });
      // The notify stands for a late one. It may come before the thread sleeps, so it is repeated.
      await until(() => {
        const sleepsOn =
          make === Semaphore ? memory.elementsIn(at('WAITING')) : [semaphore.handle.address + at('GRANT')];
        for (const address of sleepsOn) Atomics.notify(words, address >> 2);
        return arena.stats().futileWakes > 0;
      }, 'it has been woken in vain');
      semaphore.release();
      await wait;
    }
  });

  it.each([
    ['TwaSemaphore', TwaSemaphore, { threshold: 0 }, 1],
    ['ChainSemaphore, all', ChainSemaphore, { wake: 'all' }, 1],
    ['ChainSemaphore, pass', ChainSemaphore, { wake: 'pass' }, 1],
    ['ChainSemaphore, due', ChainSemaphore, { wake: 'due' }, 0],
    ['ChannelSemaphore', ChannelSemaphore, {}, 1],
    ['ChannelSemaphore, lazy', ChannelSemaphore, { lazy: true }, 1],
    ['LocationSemaphore', LocationSemaphore, {}, 1],
  ] as const)('counts the other of two at one slot: %s', async (_, Kind, options, futile) => {
    const arena = new Arena({ slots: 1, chains: 1 });
    const semaphore = new Kind(0, { ...options, arena, spin: 0 });
    const { handle } = semaphore;
    const waits = [member().run('enter', { handle }), other().run('enter', { handle })];
    await until(() => arena.stats().collisions === 1, 'the diagnostics say so');
    semaphore.release();
    await Promise.race(waits);
    await until(() => arena.stats().futileWakes === futile, 'the diagnostics say so');
    semaphore.release();
    await Promise.all(waits);
    expect(arena.stats().futileWakes).toBe(futile);
  });
});

it('stats count the holders of objects of all classes, as a report lists them', () => {
  const arena = new Arena();
  const lock = new RwLock({ arena });
  const group = new WaitGroup({ arena });
  const holds: Record<string, () => Disposable> = {
    'Mutex.hold': () => new Mutex({ arena }).hold(),
    'Semaphore.hold': () => new Semaphore(2, { arena, robust: true }).hold(2),
    'KeyedMutex.hold': () => new KeyedMutex({ arena }).hold('a'),
    'KeyedSemaphore.hold': () => new KeyedSemaphore(2, { arena }).hold('a', 2),
    'RwLock.read': () => lock.read(),
    'RwLock.write': () => lock.write(),
    'RwLock.update': () => lock.update(),
    'WaitGroup.hold': () => group.hold(),
  };
  const counts = () => {
    const listed = report(arena).objects.flatMap(({ holders = [] }) => holders);
    return [arena.stats().holders, listed.length];
  };
  for (const [call, hold] of Object.entries(holds)) {
    expect([call, ...counts()]).toEqual([call, 0, 0]);
    const held = hold();
    expect([call, ...counts()]).toEqual([call, 1, 1]);
    held[Symbol.dispose]();
  }
  let running: unknown;
  new Once({ arena }).run(() => {
    running = counts();
  });
  expect(running).toEqual([1, 1]);
  expect(counts()).toEqual([0, 0]);
});
